"""Judging programs: extracting one from a completion, and running the problem's tests on it.

* `CodeJudge`: a problem and a completion in, a verdict out.
* `judge_program`: a program and its tests in, a verdict out.
* `extract_program`, `Extracted`: the program in a completion.
"""

from reasonenv.checkers.code.extract import Extracted, extract_program
from reasonenv.checkers.code.judge import CodeJudge
from reasonenv.checkers.code.outputs import OutputChecker
from reasonenv.checkers.code.run import judge_program

__all__ = ["CodeJudge", "Extracted", "OutputChecker", "extract_program", "judge_program"]
