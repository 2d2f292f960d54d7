"""Terms for multiple choice: what the answer is, what it is worth against chance, how it is given.

All read the verdict of a judge of choices: `verdict.answer` is the label that the completion
commits itself to (several with commas between them where several options are right), and
`verdict.detail["span"]` where that statement stands. The options and their labels are those of the
problem *as it was asked*: `metadata["options"]` and `metadata["labels"]` (A, B, C ... where there
are none).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import ascii_uppercase
from typing import ClassVar

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.types import Group, Judged, Problem, Status

__all__ = [
    "CHOICE_TERMS",
    "Abstention",
    "ChanceCorrected",
    "ExplanationPresent",
    "LetterTextAgree",
    "PermutationConsistency",
    "ValidOption",
]

MAX_OPTIONS = 26


def options_of(problem: Problem) -> tuple[str, ...]:
    """Return the texts of the options, as they were asked.

    Raises:
        RewardError: the problem has none.
    """
    options = problem.metadata.get("options")
    if not isinstance(options, tuple) or len(options) < 2:
        raise RewardError(
            f"problem {problem.id} has no options in its metadata, and this term is for multiple "
            "choice: use it with ChoiceEnv"
        )
    return options


def chosen(judged: Judged) -> tuple[int, ...]:
    """Return the places of the options that a completion commits itself to; () for none."""
    problem = judged.rollout.problem
    options = options_of(problem)
    labels = problem.metadata.get("labels") or tuple(ascii_uppercase[: len(options)])
    answer = judged.verdict.answer
    if answer is None:
        return ()
    folded = [str(label).casefold() for label in labels]
    names = [answer] if answer.strip().casefold() in folded else re.split(r"[\s,;]+", answer)
    places = [folded.index(n.strip().casefold()) for n in names if n.strip().casefold() in folded]
    if len(places) != len([name for name in names if name.strip()]):
        return ()
    return tuple(sorted(set(places)))


@dataclass(frozen=True, repr=False)
class ValidOption(Term):
    """1 if the completion commits itself to options that were asked, right or wrong.

    Formula: r = 1[the extracted answer is the label of an option that was asked]. Range: {1} if
    right, {0, 1} if wrong. Contradictions, several answers and labels out of range earn nothing.
    Does not see whether the option is right: a guess earns it. Source: the study's "valid option
    0.5".

    >>> ValidOption().range(correct=True)
    Range(low=1.0, high=1.0)
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where an option that exists was chosen."""
        return [
            float(judged.verdict.status is Status.CORRECT or bool(chosen(judged)))
            for judged in group
        ]

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, 1] if wrong."""
        return Range(1.0 if correct else 0.0, 1.0)


@dataclass(frozen=True, repr=False)
class ChanceCorrected(Term):
    """Correctness such that a guess earns nothing on average, however many options were asked.

    Formula: r = (1[correct] - 1/m) / (1 - 1/m), m the number of options as asked; where several
    options may be right, m is the number of non-empty subsets, 2^n - 1 of n options. An answer that
    is missing or malformed counts as wrong. Range: {1} if right; -1/(m - 1) if wrong, so from -1
    (two options) to nearly 0 (many).

    Under group scaling it equals `Correct()` within a group, whose members are asked the same
    options: it changes groups that the number of options changes between, totals that other terms
    add to, and batch-scaled advantages. Does not see how an answer came about: a lucky guess earns
    1. Source: the correction for guessing of test scoring (wrong answers cost 1/(m - 1)).

    >>> ChanceCorrected().range(correct=False).low
    -1.0
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where right, -1/(m - 1) elsewhere."""
        return [self._value(judged) for judged in group]

    def _value(self, judged: Judged) -> float:
        problem = judged.rollout.problem
        outcomes = len(options_of(problem))
        if problem.metadata.get("multiple"):
            outcomes = 2**outcomes - 1
        return 1.0 if judged.verdict.status is Status.CORRECT else -1.0 / (outcomes - 1)

    def range(self, correct: bool) -> Range:
        """Return {1} if right; if wrong, from -1 (two options) to nearly 0 (many)."""
        if correct:
            return Range(1.0, 1.0)
        return Range(-1.0, -1.0 / (2**MAX_OPTIONS - 2))


@dataclass(frozen=True, repr=False)
class LetterTextAgree(Term):
    """1 if the text of the chosen option is named where it is chosen, and after any other's.

    Formula: r = 1[an option was chosen, and of the option texts that stand in the last `window`
    characters up to the end of the answering statement (and the rest of its line) the last is the
    chosen one's]. Texts are compared as whole words, without case; one that stands inside a longer
    option's text does not count. Range: {0, 1}, right or wrong.

    A reply that reasons towards one option and answers with the label of another earns nothing; nor
    does a bare label. Does not see whether the reasoning supports the text, nor paraphrases of it.
    Pay little for it: repeating the option is enough to earn it. Source: the rule "letter and text
    agree" of this project's policy for multiple choice; the form is the library's own.

    Args:
        window: how many characters before the answer are read, at least 1.

    >>> LetterTextAgree(window=200)
    LetterTextAgree(window=200)
    """

    window: int = 400
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        if not isinstance(self.window, int) or isinstance(self.window, bool) or self.window < 1:
            raise RewardError(f"LetterTextAgree reads a number of characters, got {self.window!r}")

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where the last option text named is the chosen option's."""
        return [float(self._agrees(judged)) for judged in group]

    def _agrees(self, judged: Judged) -> bool:
        places = chosen(judged)
        if len(places) != 1:
            return False
        text = judged.rollout.text
        start, end = _answer_span(judged)
        stop = text.find("\n", end)
        stop = min(len(text) if stop < 0 else stop, end + self.window)
        seen = _words(text[max(0, min(start, stop) - self.window) : stop])
        options = [_words(option) for option in options_of(judged.rollout.problem)]
        named = [(*_last_place(seen, option), i) for i, option in enumerate(options)]
        # By where it ends, then by length: the longest of those that end together is meant.
        last = max(named)
        return last[0] > 0 and last[2] == places[0]

    def range(self, correct: bool) -> Range:
        """Return [0, 1]: text alone decides, right or wrong."""
        return Range(0.0, 1.0)


def _words(text: str) -> str:
    """Return the words of a text, in lower case, with one space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _last_place(text: str, part: str) -> tuple[int, int]:
    """Return where the last `part` in `text` ends, and its length; (0, 0) where there is none."""
    place = text.rfind(part) if part.strip() else -1
    return (place + len(part), len(part)) if place >= 0 else (0, 0)


def _answer_span(judged: Judged) -> tuple[int, int]:
    """Return start and end of the answering statement in the completion, its end without one."""
    size = len(judged.rollout.text)
    span = judged.verdict.detail.get("span")
    if isinstance(span, tuple) and len(span) == 2 and all(isinstance(n, int) for n in span):
        start, end = span
        if 0 <= start <= end <= size and end - start < size:
            return start, end
    return size, size


@dataclass(frozen=True, repr=False)
class PermutationConsistency(Term):
    """How many of the members that saw the options in another order chose the same content.

    Formula, for member i with the chosen content c_i (the option's text, not its label) and the
    members V_i of its group that were asked under another order or other labels:
    r_i = |{k in V_i : c_k = c_i}| / |V_i|; 0 where i chose nothing or V_i is empty. With `strict`
    r_i = 1[all of V_i chose c_i]. Range: [0, 1], right or wrong.

    It needs `views` of at least 2 in the environment, which asks the members of a group under
    several orders; without them it is 0 for all. It does not see whether the content is right:
    a group that agrees on a wrong option earns as much. Pay it on success,
    `gate(0.3 * PermutationConsistency(), when=solved)`, or keep its weight small. An answer that
    follows the place ("always A") agrees with no other view. Source: this project's own
    (study-facts 4.5 found no paper with this reward); the idea of testing answers under permuted
    options is that of Zheng et al., arXiv 2309.03882.

    >>> PermutationConsistency().group_relative
    True
    """

    strict: bool = False
    group_relative: ClassVar[bool] = True
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise RewardError(f"PermutationConsistency: strict is true or false, not {self.strict}")

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each member's agreement with those of other views."""
        asked = [_as_asked(judged.rollout.problem) for judged in group]
        contents = [self._content(judged) for judged in group]
        values = []
        for mine, content in zip(asked, contents, strict=True):
            others = [c for other, c in zip(asked, contents, strict=True) if other != mine]
            same = sum(c == content for c in others) if content else 0
            share = same / len(others) if others else 0.0
            values.append(float(share == 1.0) if self.strict else share)
        return values

    def _content(self, judged: Judged) -> frozenset[str]:
        options = options_of(judged.rollout.problem)
        return frozenset(options[place] for place in chosen(judged))

    def range(self, correct: bool) -> Range:
        """Return [0, 1]: agreement decides, right or wrong."""
        return Range(0.0, 1.0)


def _as_asked(problem: Problem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return options_of(problem), tuple(problem.metadata.get("labels") or ())


@dataclass(frozen=True, repr=False)
class ExplanationPresent(Term):
    """1 if there is an explanation beside the answer: enough different words of the reply's own.

    Formula: r = 1[at least `words` different words stand outside tags, outside the answering
    statement and outside the option texts]. Range: {0, 1}, right or wrong. Words are counted
    once each, so repeating one earns nothing, and so does copying the options.

    Does not see whether the words explain anything: any text earns it. Source: the study's
    "reasoning non-empty 0.1", with a length and copies refused.

    Args:
        words: how many different words, at least 1.

    >>> ExplanationPresent(words=12)
    ExplanationPresent(words=12)
    """

    words: int = 8
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        if not isinstance(self.words, int) or isinstance(self.words, bool) or self.words < 1:
            raise RewardError(f"ExplanationPresent needs a number of words, got {self.words!r}")

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where enough words explain."""
        return [float(self._explains(judged)) for judged in group]

    def _explains(self, judged: Judged) -> bool:
        text = judged.rollout.text
        start, end = _answer_span(judged)
        outside = re.sub(r"</?[A-Za-z][\w-]{0,31}>", " ", f"{text[:start]} {text[end:]}")
        copied = set(_words(" ".join(options_of(judged.rollout.problem))).split())
        return len(set(_words(outside).split()) - copied) >= self.words

    def range(self, correct: bool) -> Range:
        """Return [0, 1]: text alone decides, right or wrong."""
        return Range(0.0, 1.0)


@dataclass(frozen=True, repr=False)
class Abstention(Term):
    """`credit` for saying openly that one does not know, instead of answering.

    Formula: r = credit * 1[status = NO_ANSWER, and the reply abstains]; 0 for any answer. Range:
    {0} if right, {0, credit} if wrong, with 0 < credit < 1. Beside `Correct()` a policy that is
    right with probability p gains by abstaining where p < credit: at credit = 1/m a pure guess is
    worth as much.

    A reply abstains where the judge found no answer in it, and where what stands in the last
    answer tag, box or "Answer:" line, or else the last line that is not blank, is one of "I don't
    know", "I do not know", "I am not sure", "not sure", "unsure", "unknown", "I abstain",
    "abstain", "no answer", "I cannot answer" or "skip", apart from case, punctuation and wrapping.
    An answer with a doubt ("probably B") is an answer, a contradiction is malformed, an empty reply
    is neither. Does not see whether the policy could have known. The prompt should offer it
    (`ChoiceEnv(abstain=True)`). Source: the scoring of tests that credits questions left out; the
    recognition is this library's own.

    Args:
        credit: between a wrong answer's 0 and a right one's 1.

    >>> Abstention(0.2).range(correct=False)
    Range(low=0.0, high=0.2)
    """

    credit: float = 0.25
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        number = isinstance(self.credit, int | float) and not isinstance(self.credit, bool)
        if not (number and 0 < self.credit < 1):
            raise RewardError(
                f"Abstention pays between a wrong answer and a right one, 0 < credit < 1, "
                f"got {self.credit!r}"
            )

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return `credit` where the reply abstains."""
        return [self.credit * float(self._abstains(judged)) for judged in group]

    def _abstains(self, judged: Judged) -> bool:
        if judged.verdict.status is not Status.NO_ANSWER:
            return False
        text = judged.rollout.text.rstrip()
        found = [*_PLACES.finditer(text[-_TAIL:])]
        said = next((g for g in found[-1].groups() if g is not None), "") if found else ""
        return bool(_ABSTAINS.fullmatch(_words(said or text[-_TAIL:].rpartition("\n")[2])))

    def range(self, correct: bool) -> Range:
        """Return {0} if right, [0, credit] if wrong."""
        return Range(0.0, 0.0) if correct else Range(0.0, self.credit)


_WORD = re.compile(r"[^\W_]+(?:[.,][0-9]+)*|[-+−](?=[0-9])")
_TAIL = 2_000  # characters of a reply's end in which an abstention may stand
_PLACES = re.compile(
    r"<(?:final_?)?answer>([^<]{0,200})(?:</(?:final_?)?answer>|\Z)|\\boxed\{(?:\\text\{)?([^{}]{0,200})\}"
    r"|^[ \t#*>]{0,8}(?:final )?answer[ \t*]{0,4}[:=]([^\n]{0,200})$",
    re.IGNORECASE | re.MULTILINE,
)
_ABSTAINS = re.compile(
    r" (?:(?:sorry )?i (?:do not|don t) know(?: the answer| which| this)?"
    r"|(?:i am |i m )?(?:not sure|unsure)|unknown|(?:i )?abstain|no answer"
    r"|i (?:cannot|can not|can t) answer(?: this| that| it)?|skip(?:ped)?) "
)


CHOICE_TERMS: tuple[type[Term], ...] = (
    Abstention,
    ChanceCorrected,
    ExplanationPresent,
    LetterTextAgree,
    PermutationConsistency,
    ValidOption,
)
"""The terms of this module, for the catalogue."""
