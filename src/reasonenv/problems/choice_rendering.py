"""How one draw asks a multiple-choice question: order, labels and number of its options.

`Rendering` is the plan; `Rendering.views(problem, rng, count)` draws from it. What a draw asks is
again a `Problem` with the id of the one behind it, so that statistics, overlap and look-ups see one
item; its `metadata` hold `options` and `labels` as asked, its answer is the label asked for, and
`metadata["rendering"]` says how it came about. `as_asked` makes it again from that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from reasonenv.errors import DataError
from reasonenv.problems.choice_references import Freedom, freedom_of
from reasonenv.problems.choices import check_choice, collisions, golds_of, labels_of
from reasonenv.types import Problem

__all__ = ["LABEL_STYLES", "NONE_OF_THE_ABOVE", "Rendering", "as_asked", "roman"]

LABEL_STYLES = ("letters", "numbers", "roman")
NONE_OF_THE_ABOVE = "None of the above"
ADDED = -1
"""What stands in `metadata["rendering"]["order"]` for the added "None of the above"."""


def roman(number: int) -> str:
    """Return a number from 1 to 39 as a roman numeral.

    >>> roman(14)
    'XIV'
    """
    ones = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
    return "X" * (number // 10) + ones[number % 10]


@dataclass(frozen=True)
class Rendering:
    """How draws ask a question.

    Args:
        shuffle: whether the options are shuffled, the right one with them.
        labels: "letters", "numbers", "roman", or "random" for one of the three at each draw. A
            question that brings labels of its own keeps them under "letters".
        keep: how many options are asked, (lowest, highest), drawn evenly: wrong ones are dropped,
            right ones never. None asks them all.
        none_of_the_above: None never adds that option; a share p in [0, 1] adds it last at each
            draw, and in a share p of the draws the right option is dropped, which makes it right.
            With p = 1 / (number of options) it is right as often as any other option.

    Some questions are spared part of this (`choice_references`): options that name others by label
    or place hold the whole question still, with its letters; beside "all of these" and its kin the
    others are shuffled, none is dropped and none added. A question with several right options gets
    no "None of the above". Labels that are also the text of another option are not used: another
    style takes their place, or, where there is none, the question's own order and labels.

    Raises:
        ValueError: a style that does not exist, or numbers out of range.
    """

    shuffle: bool = True
    labels: str = "letters"
    keep: tuple[int, int] | None = None
    none_of_the_above: float | None = None

    def __post_init__(self) -> None:
        if self.labels not in (*LABEL_STYLES, "random"):
            valid = ", ".join((*LABEL_STYLES, "random"))
            raise ValueError(f"labels={self.labels!r} is not one of {valid}")
        if self.keep is not None:
            ends = tuple(self.keep) if isinstance(self.keep, list | tuple) else ()
            whole = len(ends) == 2 and all(type(end) is int for end in ends)
            if not whole or not 2 <= ends[0] <= ends[1]:
                raise ValueError(
                    f"keep={self.keep!r}: give the fewest and the most options to ask, such as "
                    "(2, 4); the fewest is at least 2"
                )
            object.__setattr__(self, "keep", ends)
        share = self.none_of_the_above
        number = isinstance(share, int | float) and not isinstance(share, bool)
        if share is not None and not (number and 0 <= share <= 1):
            raise ValueError(
                f"none_of_the_above={share!r}: None, or the share of draws in [0, 1] in which it "
                "is the right answer"
            )

    def views(
        self, problem: Problem, rng: np.random.Generator, count: int = 1
    ) -> tuple[Problem, ...]:
        """Return `count` renderings of one question: the same options in different orders.

        The first is the one that `count` = 1 gives. While there are no more views than options,
        no option stands at the same place in two of them, so the right one's place tells nothing.

        Args:
            problem: the question, as its source has it.
            rng: decides; views depend on it and on the problem alone.
            count: how many.

        Raises:
            UnusableChoiceError: the question cannot be asked.
        """
        check_choice(problem)
        options: tuple[str, ...] = problem.metadata["options"]
        freedom = freedom_of(options, _stem(problem))
        style = self.labels
        if style == "random":
            style = LABEL_STYLES[int(rng.integers(len(LABEL_STYLES)))]
        kept = self._kept(problem, freedom, rng)
        orders = self._orders(kept, freedom, rng, count)
        return tuple(
            _asked(problem, order, style if freedom.relabel else "letters", number)
            for number, order in enumerate(orders)
        )

    def _kept(
        self, problem: Problem, freedom: Freedom, rng: np.random.Generator
    ) -> tuple[int, ...]:
        """Return the places of the options that are asked, `ADDED` at the end where it is added."""
        total = len(problem.metadata["options"])
        golds = golds_of(problem)
        wrong = [place for place in range(total) if place not in golds]
        asked = total
        if self.keep is not None:
            low, high = (min(end, total) for end in self.keep)
            asked = max(int(rng.integers(low, high + 1)), len(golds))
        dropped: set[int] = set()
        if freedom.droppable and asked < total:
            dropped = {int(p) for p in rng.choice(wrong, size=total - asked, replace=False)}
        kept = tuple(place for place in range(total) if place not in dropped)
        if self.none_of_the_above is None:
            return kept
        right = bool(rng.random() < self.none_of_the_above)
        if not freedom.droppable or len(golds) != 1 or problem.metadata.get("multiple"):
            return kept
        if right:
            kept = tuple(place for place in kept if place not in golds)
        return (*kept, ADDED) if len(kept) < len(ascii_uppercase) else kept

    def _orders(
        self, kept: tuple[int, ...], freedom: Freedom, rng: np.random.Generator, count: int
    ) -> list[tuple[int, ...]]:
        """Return `count` orders of the kept options; those that do not move keep their slot."""
        slots = [slot for slot, place in enumerate(kept) if place in freedom.movable]
        if not self.shuffle or len(slots) < 2:
            return [kept] * count
        orders: list[tuple[int, ...]] = []
        while len(orders) < count:
            base = [kept[slots[int(i)]] for i in rng.permutation(len(slots))]
            # Turning one order around puts each option at each place once.
            turns = [0, *(int(t) for t in 1 + rng.permutation(len(slots) - 1))]
            for turn in turns[: count - len(orders)]:
                order = list(kept)
                for slot, place in zip(slots, base[turn:] + base[:turn], strict=True):
                    order[slot] = place
                orders.append(tuple(order))
        return orders


def as_asked(problem: Problem, rendering: Mapping[str, Any]) -> Problem:
    """Return a question as a draw asked it.

    Args:
        problem: the question, as its source has it.
        rendering: `metadata["rendering"]` of what was asked, or the same read back from JSON.

    Raises:
        DataError: it is no rendering of this question.
    """
    count = len(problem.metadata["options"])
    order, style = rendering.get("order"), rendering.get("labels")
    places = [*order] if isinstance(order, list | tuple) else []
    inside = all(type(place) is int and ADDED <= place < count for place in places)
    if len(places) < 2 or not inside or len(set(places)) < len(places) or style not in LABEL_STYLES:
        raise DataError(
            f"problem {problem.id}: {dict(rendering)!r:.200} is no rendering of its {count} "
            'options; one is {"labels": "letters", "order": [1, 0], "view": 0}'
        )
    return _asked(problem, tuple(places), style, int(rendering.get("view", 0)))


def _asked(problem: Problem, order: tuple[int, ...], style: str, view: int) -> Problem:
    """Return the problem with its options in `order`, under labels that none of them reads."""
    options: Sequence[str] = problem.metadata["options"]
    own = problem.metadata.get("labels")
    styles = [style, *(other for other in LABEL_STYLES if other != style)]
    texts = [NONE_OF_THE_ABOVE if place == ADDED else options[place] for place in order]
    for used in styles:
        labels = _labels(used, len(texts), own)
        if not collisions(texts, labels):
            break
    else:  # each style has a label that some option reads: only the question's own way is clear
        order, texts = tuple(range(len(options))), list(options)
        used, labels = "letters", labels_of(problem)
    golds = [labels[order.index(place)] for place in golds_of(problem) if place in order]
    answer: Any = problem.answer
    if isinstance(answer, tuple):
        answer = tuple(sorted(golds, key=labels.index))
    elif answer is not None:
        answer = golds[0] if golds else labels[order.index(ADDED)]
    metadata = {
        **problem.metadata,
        "options": tuple(texts),
        "labels": labels,
        "rendering": {"labels": used, "order": order, "view": view},
    }
    return Problem(problem.prompt, answer, metadata, id=problem.id)


def _labels(style: str, count: int, own: Sequence[str] | None) -> tuple[str, ...]:
    if style == "numbers":
        return tuple(str(number) for number in range(1, count + 1))
    if style == "roman":
        return tuple(roman(number) for number in range(1, count + 1))
    if own is not None and len(own) >= count:
        return tuple(own[:count])
    return tuple(ascii_uppercase[:count])


def _stem(problem: Problem) -> str:
    prompt = problem.prompt
    return prompt if isinstance(prompt, str) else "\n".join(m["content"] for m in prompt)
