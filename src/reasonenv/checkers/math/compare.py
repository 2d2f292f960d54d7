r"""The ladder: static limits, equal normal forms, exact rationals, then lists and tuples of those.

Each rung either decides or hands on. What no rung can prove equal is not equal: this stage does no
algebra, so it misses right answers in unusual forms and pays hardly any wrong one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reasonenv.checkers.math.limits import (
    MAX_ANSWER_CHARS,
    MAX_GOLD_CHARS,
    MAX_MEMBERS,
    MAX_SHOWN_CHARS,
)
from reasonenv.checkers.math.normal import normalise, plain, words_only
from reasonenv.checkers.math.numbers import Number, equal_numbers, read_number
from reasonenv.types import Status, Verdict

__all__ = ["Side", "compare", "gold_text", "judge_answer", "verify"]

_ASSIGNMENT = re.compile(
    r"([A-Za-z](?:_\{[A-Za-z0-9]{1,8}\})?(?:\([A-Za-z](?:,[A-Za-z]){0,3}\))?"
    r"|\([A-Za-z](?:,[A-Za-z]){1,3}\))=([^=<>]+)\Z"
)
_CHOICE = re.compile(r"\(?([A-Z])\)?[.:]?\Z")
_CHOICE_WITH_TEXT = re.compile(r"\(([A-Z])\)\s*(\S.*)\Z|([A-Z])[:)]\s*(\S.*)\Z", re.DOTALL)
_OTHER_CHOICE = re.compile(r"\([A-Z]\)|(?:\b(?:or|and)|[,/&])\s*\(?[A-Z]\b|^(?:or|and)\b")
_JOINER = re.compile(
    r",?\s*\\text\{\s*,?\s*(?:and|or)\s*\}\s*|,?(?<![A-Za-z])(?:and|or)(?![A-Za-z])|[,;]"
)
_PLUS_MINUS = "\\pm"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its normal form, with and without marks, and its number if any."""

    normal: str
    plain: str
    number: Number | None

    @classmethod
    def of(cls, text: str) -> Side:
        """Read one side from raw text."""
        return cls.of_normal(normalise(text))

    @classmethod
    def of_normal(cls, normal: str) -> Side:
        """Read one side from a normal form, or a part of one."""
        normal = normal.strip()
        return cls(normal, plain(normal), read_number(normal))

    @property
    def shown(self) -> str:
        """The normal form for `Verdict.detail`, cut to a sane length."""
        form = self.plain if self.number is None else str(self.number)
        return form if len(form) <= MAX_SHOWN_CHARS else form[: MAX_SHOWN_CHARS - 3] + "..."


@dataclass(frozen=True, slots=True)
class Members:
    """What a list, set or tuple holds; `kind` is "set", "list", or the two brackets."""

    kind: str
    items: tuple[Side, ...]


def verify(gold: str, answer: str) -> bool:
    r"""Whether a bare answer denotes the same object as the gold; False where that is in doubt.

    >>> verify("1/2", "0.5"), verify("\\frac{3}{4}", "6/8"), verify("1/3", "0.33")
    (True, True, False)
    """
    return judge_answer(gold, answer).status is Status.CORRECT


def judge_answer(gold: object, answer: str) -> Verdict:
    """Return the verdict on a bare answer; never raises.

    Args:
        gold: a str, an int, or a finite float.
        answer: the final answer alone, as extracted.

    Returns:
        CORRECT or INCORRECT with the deciding rung and both normal forms in `detail`; NO_ANSWER for
        an empty answer, MALFORMED for one over the size limits, CHECKER_ERROR for an unusable gold.
    """
    text = gold_text(gold)
    if isinstance(text, Verdict):
        return text
    if len(answer) > MAX_ANSWER_CHARS:
        detail = {
            "rung": "limits",
            "reason": f"an answer of more than {MAX_ANSWER_CHARS} characters",
        }
        return Verdict(Status.MALFORMED, 0.0, answer[:MAX_SHOWN_CHARS], detail)
    ours, theirs = Side.of(text), Side.of(answer)
    if not ours.plain:
        return _unusable_gold(f"nothing is left of the gold {text[:MAX_SHOWN_CHARS]!r}")
    if not theirs.plain:
        return Verdict(Status.NO_ANSWER, 0.0, None, {"rung": "limits", "reason": "an empty answer"})
    equal, rung = compare(ours, theirs)
    detail = {"rung": rung, "gold": ours.shown, "answer": theirs.shown}
    status = Status.CORRECT if equal else Status.INCORRECT
    return Verdict(status, float(equal), answer, detail)


def gold_text(gold: object) -> str | Verdict:
    """Return the gold as text, or the CHECKER_ERROR that says why it is none."""
    if isinstance(gold, bool) or not isinstance(gold, str | int | float):
        return _unusable_gold(f"a gold is a str, int or float, got {type(gold).__name__}")
    if isinstance(gold, float) and gold - gold != 0.0:  # inf and nan
        return _unusable_gold(f"a float gold is finite, got {gold}")
    if isinstance(gold, int) and gold.bit_length() > 4 * MAX_GOLD_CHARS // 3:
        return _unusable_gold("an int gold has at most 4,000 digits")
    text = gold if isinstance(gold, str) else repr(gold)
    if not text.strip():
        return _unusable_gold("the gold is empty")
    if len(text) > MAX_GOLD_CHARS:
        return _unusable_gold(f"a gold has at most {MAX_GOLD_CHARS} characters, got {len(text)}")
    return text


def compare(gold: Side, answer: Side) -> tuple[bool, str]:
    """Return (whether the two are equal, the rung that decided)."""
    if gold.plain == answer.plain:
        return True, "string"
    if gold.number is not None and answer.number is not None:
        return equal_numbers(gold.number, answer.number), "rational"
    ours, theirs = members(gold), members(answer)
    if ours is not None and theirs is not None:
        return _equal_members(ours, theirs), "members"
    if ours is not None or theirs is not None:  # one value against several (P9, P12)
        return _equal_assignments(gold, answer), "members"
    if "=" in gold.plain or "=" in answer.plain:
        return _equal_assignments(gold, answer), "equation"
    if _equal_words(gold.plain, answer.plain):
        return True, "words"
    return False, "none"


def members(side: Side) -> Members | None:
    r"""Return the members of a list, set, tuple or `a \pm b`; None where the side is one value.

    >>> [item.plain for item in members(Side.of("\\{1, 2\\}")).items]
    ['1', '2']
    """
    if side.number is not None:
        return None
    text = side.normal
    kind, inner = "list", text
    for opener, closer in (
        ("\\{", "\\}"),
        ("{", "}"),
        ("(", ")"),
        ("[", "]"),
        ("(", "]"),
        ("[", ")"),
    ):
        if text.startswith(opener) and text.endswith(closer) and _is_one_group(text):
            inner = text[len(opener) : len(text) - len(closer)]
            kind = "set" if "{" in opener else opener + closer
            break
    parts = _split(inner)
    if kind == "list" and len(parts) == 1:
        if text.count(_PLUS_MINUS) != 1 or "=" in text.partition(_PLUS_MINUS)[2]:
            return None
        parts = [text.replace(_PLUS_MINUS, sign, 1).removeprefix("+") for sign in "+-"]
        parts = [part.replace("=+", "=") for part in parts]
    if len(parts) > MAX_MEMBERS or not all(part.strip() for part in parts):
        return None
    if kind not in ("list", "set") and len(parts) == 1:
        return None  # brackets around one value are just brackets
    items = tuple(Side.of_normal(part) for part in parts)
    return Members(kind, _bare(items))


def _bare(items: tuple[Side, ...]) -> tuple[Side, ...]:
    """Take `x=` off every member of `x=1, x=2`; members with different names keep them."""
    found = [_ASSIGNMENT.match(item.normal) for item in items]
    names = {match[1] for match in found if match}
    if len(names) != 1 or not found[0]:
        return items
    return tuple(
        Side.of_normal(match[2]) if match else item
        for match, item in zip(found, items, strict=True)
    )


def _split(text: str) -> list[str]:
    """Split at top-level commas, semicolons, "and" and "or"."""
    parts: list[str] = []
    depth = start = position = 0
    while position < len(text):
        char = text[position]
        if depth == 0:
            joiner = _JOINER.match(text, position)
            if joiner:
                part = text[start:position].strip()
                if part or not parts:  # ", and" is one joiner
                    parts.append(part)
                start = position = joiner.end()
                continue
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        position += 1
    parts.append(text[start:].strip())
    return parts


def _is_one_group(text: str) -> bool:
    """Whether the first bracket closes with the last character: not so in `(1,2),(3,4)`."""
    depth = 0
    for position, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return position == len(text) - 1
    return False


def _equal_members(gold: Members, answer: Members) -> bool:
    unordered = {"set", "list"}
    if (gold.kind in unordered) != (answer.kind in unordered):
        return False
    if gold.kind not in unordered:
        return (
            gold.kind == answer.kind
            and len(gold.items) == len(answer.items)
            and all(compare(a, b)[0] for a, b in zip(gold.items, answer.items, strict=True))
        )
    ours, theirs = list(gold.items), list(answer.items)
    if "set" in (gold.kind, answer.kind):  # repeats are free in a set
        ours, theirs = _distinct(ours), _distinct(theirs)
    if len(ours) != len(theirs):
        return False
    for item in ours:
        match = next((i for i, other in enumerate(theirs) if compare(item, other)[0]), None)
        if match is None:
            return False
        del theirs[match]
    return True


def _distinct(items: list[Side]) -> list[Side]:
    seen: dict[object, Side] = {}
    for item in items:
        seen.setdefault(item.plain if item.number is None else item.number.value, item)
    return list(seen.values())


def _equal_assignments(gold: Side, answer: Side) -> bool:
    """`x = v` against `v` or `x = v`, and a true chain `2 + 3 = 5` against its value (P7)."""
    (name, ours), (other_name, theirs) = _assigned(gold), _assigned(answer)
    if name and other_name and name != other_name:
        return False
    if ours is gold and theirs is answer:
        return False
    return compare(ours, theirs)[0]


def _assigned(side: Side) -> tuple[str | None, Side]:
    found = _ASSIGNMENT.match(side.normal)
    if found:
        return found[1], Side.of_normal(found[2])
    left, equals, right = side.normal.partition("=")
    if equals and "=" not in right:
        one, other = Side.of_normal(left), Side.of_normal(right)
        if one.number and other.number and one.number.value == other.number.value:
            return None, other
    return None, side


def _equal_words(gold: str, answer: str) -> bool:
    """Words agree without case and articles; a choice letter with brackets or its option (P6)."""
    ours, theirs = words_only(gold), words_only(answer)
    if ours is not None and ours == theirs:
        return True
    letter = _CHOICE.match(gold)
    return letter is not None and letter[1] == _choice_letter(answer)


def _choice_letter(answer: str) -> str | None:
    found = _CHOICE.match(answer)
    if found:
        return found[1]
    found = _CHOICE_WITH_TEXT.match(answer)
    if found is None:
        return None
    rest = found[2] or found[4]
    return None if _OTHER_CHOICE.search(rest) else found[1] or found[3]


def _unusable_gold(why: str) -> Verdict:
    detail = {"rung": "limits", "error": f"{why}; give the reference answer as text"}
    return Verdict(Status.CHECKER_ERROR, 0.0, None, detail)
