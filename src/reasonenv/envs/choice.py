"""`ChoiceEnv`: multiple choice, with options that change places from draw to draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from reasonenv.checkers import ChoiceJudge, Judge
from reasonenv.envs.kinds import CatalogueEnv
from reasonenv.problems.base import ProblemList, Problems
from reasonenv.problems.choice_rendering import Rendering, as_asked
from reasonenv.problems.choices import check_choice, golds_of, labels_of
from reasonenv.types import Problem

__all__ = ["ABSTENTION", "ChoiceEnv"]

ABSTENTION = "I don't know"
"""What a policy is told to answer where abstaining is allowed."""

_ANSWER_IS = {
    "letters": ("letter of the right option", "letters of all right options, with commas between,"),
    "numbers": ("number of the right option", "numbers of all right options, with commas between,"),
    "roman": (
        "roman numeral of the right option",
        "roman numerals of all right options, with commas between,",
    ),
}


class ChoiceEnv(CatalogueEnv):
    """Multiple choice: the options stand below the question, each with its label.

    Each draw of a question asks it anew: by default the options are shuffled, the right one with
    them, so that a place cannot be learnt. `problems` holds the questions as their source has
    them; `variants` gives what a draw asks, which has the same id.

    Args:
        problems: as for `CatalogueEnv`; each with `metadata["options"]` and the right label as
            answer, or several where `metadata["multiple"]` is true.
        shuffle: whether the options are shuffled at each draw.
        labels: "letters", "numbers", "roman", or "random".
        keep: (fewest, most) options to ask, drawn at each draw; wrong ones are dropped.
        none_of_the_above: None, or the share of draws in which an added "None of the above" is
            right; see `reasonenv.problems.choice_rendering.Rendering` for all four.
        option_line: how one option is written, with {label} and {text}.
        abstain: whether the prompt offers "I don't know", for the reward term `Abstention`.
        views: under how many shuffles the members of one training group see their question, for
            the term `PermutationConsistency`; a divisor of the group's size.
        eval_views: the same for the completions of one question in evaluation.
        kwargs: as for `CatalogueEnv`.

    Raises:
        DataError: a question whose options or gold cannot be used; the message has its id.
        ValueError: an option that is none of those named here.

    >>> env = ChoiceEnv([Problem("Which is a star?", "B", {"options": ["Mars", "Sirius"]})])
    >>> env.gold_completion(env.problems[0])[-18:]
    '<answer>B</answer>'
    """

    kind: ClassVar[str] = "choice"
    answer_is = "letter of the right option"

    def __init__(
        self,
        problems: str | Problems | Iterable[Problem] | None = None,
        *,
        shuffle: bool = True,
        labels: str = "letters",
        keep: tuple[int, int] | None = None,
        none_of_the_above: float | None = None,
        option_line: str = "{label}. {text}",
        abstain: bool = False,
        views: int = 1,
        eval_views: int = 1,
        answer_is: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.rendering = Rendering(shuffle, labels, keep, none_of_the_above)
        for name, number in (("views", views), ("eval_views", eval_views)):
            if type(number) is not int or number < 1:
                raise ValueError(f"{name}={number!r}: a whole number, at least 1, is needed")
            if number > 1 and not shuffle:
                raise ValueError(f"{name}={number} asks under several orders: leave shuffle=True")
        self.views, self.eval_views = views, eval_views
        self.option_line, self.abstain = _checked_line(option_line), abstain
        self._answer_is_given = answer_is is not None
        super().__init__(problems, answer_is=answer_is, **kwargs)
        if isinstance(self.problems, ProblemList):  # those made on demand are looked at as asked
            for problem in self.problems:
                check_choice(problem)

    def make_judge(self) -> Judge:
        """Return the multiple-choice judge."""
        return ChoiceJudge(format=self.layout)

    def variants(
        self, problem: Problem, rng: np.random.Generator, count: int = 1
    ) -> tuple[Problem, ...]:
        """Return `count` renderings of a question: its options in different orders."""
        return self.rendering.views(problem, rng, count)

    def as_asked(self, problem: Problem, rendering: Mapping[str, Any] | None) -> Problem:
        """Return a question with the options, order and labels of a stored rendering."""
        return problem if rendering is None else as_asked(problem, rendering)

    def below_question(self, problem: Problem) -> str:
        """Return the options, one a line: `A. text`."""
        pairs = zip(labels_of(problem), problem.metadata["options"], strict=True)
        lines = [self.option_line.format(label=label, text=text) for label, text in pairs]
        return "\n".join(["", "", *lines])

    def instruction(self, problem: Problem) -> str:
        """Return what the prompt demands: the layout, and what labels this draw has."""
        answer_is = self.answer_is
        if not self._answer_is_given:
            style = problem.metadata.get("rendering", {}).get("labels", "letters")
            single, several = _ANSWER_IS[style]
            answer_is = several if problem.metadata.get("multiple") else single
        text = self.layout.prompt_instruction(answer_is)
        if not (self.abstain and text):
            return text
        return f'{text} If you do not know, put "{ABSTENTION}" there instead.'

    def gold_completion(self, problem: Problem) -> str | None:
        """Return a right completion; with several right options all their labels."""
        if problem.answer is None:
            return None
        names = [labels_of(problem)[place] for place in golds_of(problem)]
        reasoning = str(problem.metadata.get("solution") or "Worked out step by step.")
        return self.layout.render(", ".join(names), reasoning)


def _checked_line(line: str) -> str:
    try:
        shown = line.format(label="<1>", text="<2>")
    except (KeyError, IndexError, ValueError, AttributeError):
        shown = ""
    if "<1>" not in shown or "<2>" not in shown:
        raise ValueError(
            f"option_line={line!r}: a text with {{label}} and {{text}} in it and no other field, "
            "such as '({label}) {text}'"
        )
    return line
