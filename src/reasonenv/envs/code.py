"""`CodeEnv`: tasks whose answer is a program, judged by running its tests in a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import islice
from typing import Any, ClassVar

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.base import Judge
from reasonenv.envs.code_feedback import FEEDBACK_LEVELS, failures
from reasonenv.envs.code_format import CodeFormat
from reasonenv.envs.kinds import CatalogueEnv
from reasonenv.errors import DataError, did_you_mean
from reasonenv.problems import load
from reasonenv.problems.base import ProblemList, Problems, ProceduralProblems, iterate
from reasonenv.problems.code_sets import PROGRAM
from reasonenv.problems.code_tests import parsed, signature
from reasonenv.rewards import Reward, from_config
from reasonenv.types import Judged, Problem, Status

__all__ = ["CodeEnv"]

TESTS_PARSED_AT_CHECK = 20_000
"""Of how many problems `unreadable_golds` parses the tests: some seconds."""


class CodeEnv(CatalogueEnv):
    """Programming tasks: the completion holds a program, the reward comes from its tests.

    With several turns a wrong program is answered by the tests that it failed. What each test
    expects stays hidden unless `feedback="full"`: a policy that is shown expected values can write
    them down instead of a solution.

    Args:
        problems: a name of the catalogue ("opencoder", "mbpp", "one_liners" ...), or problems.
        feedback: what a wrong program is told: "score" (how many tests passed), "tests" (also which
            failed, on which input, and how), "full" (also what was expected).
        only: which problems to take by their metadata, such as `{"difficulty": "introductory"}` or
            `{"difficulty": ["easy", "medium"]}`; problems that do not say are kept.
        judge_options: fields of `reasonenv.checkers.code.judge.CodeJudge`, such as `backend` or
            `stop_at_first`; its `config` may be a mapping of `SandboxConfig`'s fields.
        kwargs: as for `CatalogueEnv`.

    Raises:
        ValueError: a feedback that is none of those, a layout that programs are not read from, an
            option that the judge does not have, or `only` for problems that are made on demand.
        DataError: `only` leaves no problem.
    """

    kind: ClassVar[str] = "code"
    answer_is = PROGRAM
    default_layout: ClassVar[AnswerFormat] = CodeFormat()

    def __init__(
        self,
        problems: str | Problems | Iterable[Problem] | None = None,
        *,
        feedback: str = "tests",
        only: Mapping[str, Any] | None = None,
        judge_options: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if feedback not in FEEDBACK_LEVELS:
            valid = ", ".join(map(repr, FEEDBACK_LEVELS))
            raise ValueError(f"feedback={feedback!r} is not one of {valid}")
        self.feedback_level = feedback
        self.judge_options = dict(judge_options or {})
        if self.judge_options and kwargs.get("judge") is not None:
            raise ValueError(
                "judge_options are the judge's of programs: give them to your own judge="
            )
        if kwargs.get("layout") is not None:
            kwargs["layout"] = CodeFormat.of(kwargs["layout"])
        super().__init__(problems, **kwargs)
        if only:
            self.problems = _selected(self.problems, only)

    def load_problems(self, split: str, data: Any) -> Problems | Iterable[Problem]:
        """Return the named problem set's problems, or those of a file of programming tasks."""
        if self._set is None and data is not None:
            return load("code", split=split, data=data)
        return super().load_problems(split, data)

    def make_judge(self) -> Judge:
        """Return the judge that runs the tests in a sandbox; none is started before a program is.

        Raises:
            ValueError: an option that it does not have.
        """
        from reasonenv.checkers.code.judge import CodeJudge
        from reasonenv.sandbox import SandboxConfig

        options = self.judge_options
        _refuse_unknown("judge_options", options, CodeJudge)
        if isinstance(config := options.get("config"), Mapping):
            _refuse_unknown("judge_options['config']", config, SandboxConfig)
            options = {**options, "config": SandboxConfig(**config)}
        return CodeJudge(**options)

    def default_reward(self) -> Reward:
        """Return correctness, and a little for the layout where the program stands in a tag."""
        if self.layout.answer is None:
            return from_config("Correct()")
        return super().default_reward()

    def question(self, problem: Problem) -> str:
        """Return the statement; a bare function header is introduced and fenced."""
        header = problem.metadata.get("prompt")
        if header and header == problem.prompt:
            return (
                "Complete this Python function; give all of it, with its imports.\n\n"
                f"```python\n{header.strip()}\n```"
            )
        return super().question(problem)

    def below_question(self, problem: Problem) -> str:
        """Return how the program is called, unless the statement says it."""
        metadata = problem.metadata
        if metadata.get("kind") == "stdio":
            how = "Write a Python program that reads from standard input and prints the result."
            return f"\n\n{how}"
        entry_point = str(metadata.get("entry_point") or "")
        owner, _, name = entry_point.rpartition(".")
        prompt = problem.prompt
        text = prompt if isinstance(prompt, str) else " ".join(m["content"] for m in prompt)
        if not name or name in text:
            return ""
        known = (metadata.get("prompt") or "", metadata.get("solution") or "")
        found = [signature(program, name) for program in known]
        shown = next((one for one in found if one), name)
        where = f"a class `{owner}` with a method" if owner else "a Python function"
        return f"\n\nWrite {where} `{shown}`."

    def gold_completion(self, problem: Problem) -> str | None:
        """Return the reference solution in the demanded layout, None where none is known."""
        solution = problem.metadata.get("solution")
        if not isinstance(solution, str) or not solution.strip():
            return None
        return self.layout.render(solution, "Worked out step by step.")

    def feedback(self, judged: Judged) -> str:
        """Return what failed, at this environment's level of detail."""
        if judged.verdict.status is Status.NO_ANSWER:
            return f"No program was found. {self.layout.prompt_instruction(self.answer_is)}"
        return f"That is not right. {failures(judged, self.feedback_level)}\nTry again."

    def unreadable_golds(self, limit: int | None = None) -> Iterator[tuple[str, str]]:
        """Yield the id of each problem with tests that do not parse, and which one it is.

        Args:
            limit: how many problems to look at, at most `TESTS_PARSED_AT_CHECK`. Those that are
                made on demand are not looked at.
        """
        if isinstance(self.problems, ProceduralProblems):
            return
        least = min(limit or TESTS_PARSED_AT_CHECK, TESTS_PARSED_AT_CHECK)
        for problem in islice(iterate(self.problems), least):
            for number, test in enumerate(problem.answer or (), 1):
                if isinstance(test, str) and parsed(test) is None:
                    yield problem.id, f"test {number} does not parse: {test!r:.80}"
                    break


def _refuse_unknown(where: str, options: Mapping[str, Any], cls: type) -> None:
    valid = [field.name for field in fields(cls)]
    for option in options:
        if option not in valid:
            hint = did_you_mean(option, valid)
            raise ValueError(f"{where}: {cls.__name__} has no {option!r}; {hint}")


def _selected(problems: Problems, only: Mapping[str, Any]) -> ProblemList:
    if isinstance(problems, ProceduralProblems):
        raise ValueError("only= selects from data sets; these problems are made on demand")
    wanted = {key: _several(value) for key, value in only.items()}
    name = getattr(problems, "name", "problems")
    kept = [
        problem
        for problem in iterate(problems)
        if all(
            problem.metadata[key] in values
            for key, values in wanted.items()
            if key in problem.metadata
        )
    ]
    if not kept:
        raise DataError(f"{name}: none of {len(problems)} problems has {dict(only)!r}")
    return ProblemList(kept, name)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
