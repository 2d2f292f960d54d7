"""`Quiz`: multiple-choice questions made on demand, with wrong options that a slip would give.

Four kinds of question, each at three levels:

* "sum": `17 + 25`, beside results of a forgotten carry, a swapped digit, a step too far;
* "order": the largest, smallest or middle one of some numbers;
* "odd": the word that does not belong with the others;
* "letter": the letter at some place of a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from reasonenv.types import Problem, content_hash

__all__ = ["QUIZ_KINDS", "Quiz"]

QUIZ_KINDS = ("sum", "order", "odd", "letter")
LEVELS = (1, 2, 3)
MOST_OPTIONS = 8

_LISTS = {
    "fruit": "apple pear plum cherry banana grape lemon peach mango fig",
    "animal": "horse tiger rabbit otter camel badger goat wolf mouse zebra",
    "metal": "iron copper zinc silver gold tin lead nickel cobalt titanium",
    "tool": "hammer saw chisel wrench drill pliers file spade rake axe",
    "garment": "shirt glove scarf coat sock jacket skirt hat belt trousers",
    "instrument": "violin flute drum harp trumpet piano oboe cello guitar tuba",
    "vehicle": "bus tram lorry bicycle train ferry scooter tractor sledge van",
    "vegetable": "carrot onion turnip leek spinach cabbage beet radish celery kale",
}
_GROUPS = {name: words.split() for name, words in _LISTS.items()}
_WORDS = tuple(word for group in _GROUPS.values() for word in group if len(word) >= 4)
_LONG_LIST = (
    "mountain umbrella notebook elephant calendar triangle hospital sandwich kangaroo "
    "alphabet dinosaur keyboard computer magazine butterfly crocodile adventure dictionary "
    "strawberry laboratory"
)
_LONG = _LONG_LIST.split()
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")

Drawn = tuple[str, str, list[str]]  # question, right option, wrong options


@dataclass(frozen=True)
class Quiz:
    """Questions with `options` options, one of them right, by one of four makers.

    The id is that of the question alone, and the wrong options and their order follow from it: the
    same question always has the same options, so train and test share none.

    Args:
        kinds: drawn from with equal probability; any of "sum", "order", "odd", "letter".
        level: 1, 2 or 3: more digits, longer lists, closer wrong options.
        options: how many options, 2 to 8.
        brief: whether the question is put in as few characters as possible (`17+25=`), for models
            that read no prose; kinds other than "sum" have no brief form.

    Raises:
        ValueError: a kind, level or number that is not valid.

    >>> problem = Quiz(kinds=("sum",))(np.random.default_rng(0))
    >>> problem.prompt, problem.metadata["options"], problem.answer
    ('Which number is 17 + 13?', ('3', '41', '30', '31'), 'C')
    """

    kinds: tuple[str, ...] = QUIZ_KINDS
    level: int = 1
    options: int = 4
    brief: bool = False

    def __post_init__(self) -> None:
        kinds = (self.kinds,) if isinstance(self.kinds, str) else tuple(self.kinds)
        object.__setattr__(self, "kinds", kinds)
        if not kinds or set(kinds) - set(QUIZ_KINDS):
            raise ValueError(f"kinds are any of {', '.join(QUIZ_KINDS)}, got {self.kinds!r}")
        if self.level not in LEVELS:
            raise ValueError(f"level is 1, 2 or 3, got {self.level!r}")
        if type(self.options) is not int or not 2 <= self.options <= MOST_OPTIONS:
            raise ValueError(f"options is from 2 to {MOST_OPTIONS}, got {self.options!r}")
        if self.brief and kinds != ("sum",):
            raise ValueError(f"only sums have a brief form: give kinds=('sum',), got {kinds!r}")

    def __call__(self, rng: np.random.Generator) -> Problem:
        """Return the question that `rng` draws."""
        kind = self.kinds[int(rng.integers(len(self.kinds)))]
        if kind == "sum":
            question, right, near = self._sum(rng)
        elif kind == "order":
            question, right, near = self._order(rng)
        elif kind == "odd":
            question, right, near = self._odd(rng)
        else:
            question, right, near = self._letter(rng)
        name = content_hash(["quiz", question])
        texts, letter = _arranged(right, near[: self.options - 1], name)
        metadata = {"options": texts, "kind": kind, "level": self.level, "source": "quiz"}
        return Problem(question, letter, metadata, id=name)

    def _sum(self, rng: np.random.Generator) -> Drawn:
        low, high = ((1, 20), (11, 100), (101, 1000))[self.level - 1]
        a, b = (int(n) for n in rng.integers(low, high, size=2))
        question = f"{a}+{b}=" if self.brief else f"Which number is {a} + {b}?"
        own = _of(question)
        total = a + b
        uncarried = int("".join(str((int(x) + int(y)) % 10) for x, y in _digit_pairs(a, b)))
        slips = [total + 10, total - 10, total + 1, total - 1, uncarried, total + 2, abs(a - b)]
        slips += [total + 100 * (self.level == 3), int(str(total)[::-1]), total + 9, total + 11]
        return question, str(total), _distinct(own.permutation(slips), total)

    def _order(self, rng: np.random.Generator) -> Drawn:
        high = (100, 1000, 100)[self.level - 1]
        count = max(self.options, 3)
        numbers = [int(n) for n in rng.choice(np.arange(2, high), size=count, replace=False)]
        shown = [str(n) for n in numbers]
        if self.level == 3:  # decimals: "0.5" is more than "0.45"
            shown = [f"0.{n}".rstrip("0") if n % 10 else f"0.{n // 10}" for n in numbers]
            shown = list(dict.fromkeys(shown))
        ranked = sorted(shown, key=float)
        names = {"largest": ranked[-1], "smallest": ranked[0]}
        if len(ranked) % 2:
            names["middle one by size"] = ranked[len(ranked) // 2]
        wanted = list(names)[int(rng.integers(len(names)))]
        question = f"Which is the {wanted} of the numbers {', '.join(shown)}?"
        right = names[wanted]
        return question, right, [text for text in shown if text != right] + ["0.01", "0.999"]

    def _odd(self, rng: np.random.Generator) -> Drawn:
        one, other = (list(_GROUPS)[int(i)] for i in rng.permutation(len(_GROUPS))[:2])
        right = str(rng.choice(_GROUPS[other]))
        rest = [str(w) for w in rng.choice(_GROUPS[one], size=self.options - 1, replace=False)]
        listed = ", ".join(sorted([right, *rest]))
        article = "an" if one[0] in "aeiou" else "a"
        ask = (
            f"Which of these is not {article} {one}?",
            "Which of these does not belong with the others?",
            "Three of a kind and one stranger: which is it?",
        )[self.level - 1 if self.options == 4 else min(self.level, 2) - 1]
        return f"{ask} ({listed})", right, sorted(rest)

    def _letter(self, rng: np.random.Generator) -> Drawn:
        word = str(rng.choice(_WORDS if self.level == 1 else _LONG))
        place = int(rng.integers(1, min(len(word), len(_PLACES)) + 1))
        from_end = self.level == 3
        index = len(word) - place if from_end else place - 1
        side = " from the end" if from_end else ""
        question = f"Which letter is the {_PLACES[place - 1]}{side} in the word {word!r}?"
        own = _of(question)
        right = word[index]
        others = [c for c in dict.fromkeys(word) if c != right]
        extra = [c for c in "etaoinshrdlu" if c not in word]
        near = [*(str(c) for c in own.permutation(others)), *extra]
        # A bare letter would read like another option's label.
        return question, f"the letter {right}", [f"the letter {c}" for c in near]


def _of(question: str) -> np.random.Generator:
    """Return a generator that depends on the question alone."""
    return np.random.default_rng(int(content_hash(question), 16))


def _arranged(right: str, wrong: Sequence[str], name: str) -> tuple[list[str], str]:
    texts = [right, *wrong]
    order = np.random.default_rng(int(name, 16)).permutation(len(texts))
    return [texts[int(i)] for i in order], ascii_uppercase[int(np.flatnonzero(order == 0)[0])]


def _digit_pairs(a: int, b: int) -> list[tuple[str, str]]:
    width = max(len(str(a)), len(str(b)))
    return list(zip(str(a).zfill(width), str(b).zfill(width), strict=True))


def _distinct(numbers: Iterable[int], right: int) -> list[str]:
    """Return the numbers that could pass for a sum, each once."""
    seen = dict.fromkeys(int(n) for n in numbers if int(n) != right and int(n) >= 0)
    seen |= dict.fromkeys(n for n in range(right + 3, right + 3 + MOST_OPTIONS))
    return [str(n) for n in seen]
