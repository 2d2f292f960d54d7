"""Checkers: a problem and a completion in, a `Verdict` out. They know no env, reward or torch.

* `Judge`, `judge_safely`: what a judge is, and the boundary that turns its failure into a status.
* `MathJudge`, `verify`, `judge_answer`: final answers in mathematics.
* `ChoiceJudge`, `extract_choice`: the option that a reply commits itself to.
* `CountdownJudge`: an expression that reaches a target with given numbers.
* `on_ray.RayJudge`: any of them, on the machines of a Ray cluster.
* `judge_file`, `judge_lines`, `JudgeReport`: stored answers, as `reasonenv judge` reads them.

A judge never raises on any text, never executes it, and fails closed: what it cannot prove right
is not paid.
"""

from reasonenv.checkers.base import Judge, judge_safely
from reasonenv.checkers.choice import ChoiceAnswer, ChoiceJudge, extract_choice
from reasonenv.checkers.countdown import CountdownJudge
from reasonenv.checkers.math import MathJudge, judge_answer, verify
from reasonenv.checkers.stored import JudgeReport, judge_file, judge_lines

__all__ = [
    "ChoiceAnswer",
    "ChoiceJudge",
    "CountdownJudge",
    "Judge",
    "JudgeReport",
    "MathJudge",
    "extract_choice",
    "judge_answer",
    "judge_file",
    "judge_lines",
    "judge_safely",
    "verify",
]
