"""Comparing two trees by their structure; the scalars inside go down the ladder."""

from __future__ import annotations

from collections.abc import Sequence

from reasonenv.checkers.math.limits import MAX_MEMBERS
from reasonenv.checkers.math.realsets import RealSet, is_set_like, real_set
from reasonenv.checkers.math.relations import equal_chains, named_value, reduced
from reasonenv.checkers.math.scalars import Comparison, equal_scalars
from reasonenv.checkers.math.shapes import is_scalar, shaped
from reasonenv.checkers.math.tree import (
    Bracketed,
    Call,
    Chain,
    List,
    Matrix,
    Mul,
    Neg,
    Node,
    Piecewise,
    Quantity,
    Ratio,
    Set,
    SetBuilder,
    SetOp,
    Symbol,
    Text,
    Unreadable,
)
from reasonenv.checkers.math.units import same_unit

__all__ = ["equal_trees"]

_PLAIN = (Mul, Symbol, Neg, Call)
_NAME_MARKS = str.maketrans({"\\": None, "{": " ", "}": None})
_ARTICLES = ("the ", "a ", "an ")
MAX_WORD_PRODUCT = 4
"""Letters of a lower-case word that may be a product of letters instead."""
MIN_WORD = 3
"""Letters of a word that loses its case."""


def equal_trees(gold: Node, answer: Node, how: Comparison) -> bool:
    """Whether two answers denote the same object under the policy."""
    if gold == answer:
        return not isinstance(gold, Unreadable) or bool(gold.spelling)
    if isinstance(gold, Unreadable) or isinstance(answer, Unreadable):
        return False
    return _Comparer(how).whole(shaped(gold), shaped(answer))


class _Comparer:
    def __init__(self, how: Comparison) -> None:
        self.how = how

    def whole(self, gold: Node, answer: Node) -> bool:
        """Compare two whole answers, where names may stand before values."""
        gold, answer = self._reduced(gold), self._reduced(answer)
        ours, theirs = _assignments(gold), _assignments(answer)
        if ours is not None or theirs is not None:
            decided = self._assigned(gold, answer, ours, theirs)
            if decided is not None:
                return decided
        (our_name, our_value), (their_name, their_value) = _named(gold), _named(answer)
        if our_name is not None and their_name is not None:
            if our_name == their_name and self.equal(our_value, their_value):
                return True
            if isinstance(gold, Chain) and isinstance(answer, Chain):
                return equal_chains(gold, answer, self.how, self.equal)
            return our_name == their_name and self.equal(our_value, their_value)
        if our_name is not None and not isinstance(answer, Chain):
            return self.equal(our_value, answer)
        if their_name is not None and not isinstance(gold, Chain):
            return self.equal(gold, their_value)
        return self.equal(gold, answer)

    def _reduced(self, node: Node) -> Node:
        if isinstance(node, Chain):
            return reduced(node, self.how)
        if isinstance(node, List):
            return List(tuple(self._reduced(item) for item in node.items), node.joiner)
        return node

    def _assigned(
        self,
        gold: Node,
        answer: Node,
        ours: dict[Node, Node] | None,
        theirs: dict[Node, Node] | None,
    ) -> bool | None:
        """Compare named solutions with each other or with a tuple; None where that is no case."""
        if ours is not None and theirs is not None:
            return ours.keys() == theirs.keys() and all(
                self.equal(value, theirs[name]) for name, value in ours.items()
            )
        named, other = (ours, answer) if ours is not None else (theirs, gold)
        assert named is not None
        if not isinstance(other, Bracketed) or other.brackets != "()":
            return None
        if len(other.items) != len(named):
            return None
        values = [named[name] for name in sorted(named, key=str)]
        pairs = zip(values, other.items, strict=True)
        return all(
            self.equal(value, item) if ours is not None else self.equal(item, value)
            for value, item in pairs
        )

    def equal(self, gold: Node, answer: Node) -> bool:
        """Compare two values."""
        if gold == answer:
            return True
        if isinstance(gold, Quantity) or isinstance(answer, Quantity):
            return self._quantities(gold, answer)
        if isinstance(gold, Text) or isinstance(answer, Text):
            return self._texts(gold, answer)
        if is_scalar(gold) and is_scalar(answer):
            if isinstance(gold, Ratio | Piecewise) or isinstance(answer, Ratio | Piecewise):
                return self._rows(gold, answer)
            return equal_scalars(gold, answer, self.how)
        if is_set_like(gold) or is_set_like(answer):
            decided = self._real_sets(gold, answer)
            if decided is not None:
                return decided
        if isinstance(gold, Chain) and isinstance(answer, Chain):
            return equal_chains(gold, answer, self.how, self.equal)
        if isinstance(gold, List | Set) and isinstance(answer, List | Set):
            return self._members(gold, answer)
        if isinstance(gold, Bracketed) and isinstance(answer, Bracketed):
            return gold.brackets == answer.brackets and self._each(gold.items, answer.items)
        if isinstance(gold, Matrix) and isinstance(answer, Matrix):
            return len(gold.rows) == len(answer.rows) and all(
                self._each(one, other) for one, other in zip(gold.rows, answer.rows, strict=True)
            )
        if isinstance(gold, SetOp) and isinstance(answer, SetOp):
            return self._set_operations(gold, answer)
        if isinstance(gold, SetBuilder) and isinstance(answer, SetBuilder):
            return self.equal(gold.member, answer.member) and self.equal(
                gold.condition, answer.condition
            )
        if type(gold) is type(answer):
            return self._rows(gold, answer)
        return False

    def _quantities(self, gold: Node, answer: Node) -> bool:
        ours, our_unit = _split(gold)
        theirs, their_unit = _split(answer)
        if not same_unit(our_unit, their_unit):
            return False
        if not self.how.options.units and (our_unit is None) != (their_unit is None):
            return False
        return self.equal(ours, theirs)

    def _texts(self, gold: Node, answer: Node) -> bool:
        if isinstance(gold, Text) and isinstance(answer, Text):
            return _folded(gold.words) == _folded(answer.words)
        text, other = (gold, answer) if isinstance(gold, Text) else (answer, gold)
        assert isinstance(text, Text)
        if isinstance(other, Symbol):
            name = other.name.translate(_NAME_MARKS)  # \triangle{ABC} is "triangle ABC"
            return _folded(text.words) == _folded(name)
        word = text.words
        if not isinstance(other, _PLAIN) or not word.isalpha() or len(word) > MAX_WORD_PRODUCT:
            return False
        return equal_scalars(Mul(tuple(Symbol(letter) for letter in word)), other, self.how)

    def _real_sets(self, gold: Node, answer: Node) -> bool | None:
        ours, theirs = real_set(gold), real_set(answer)
        if ours is None or theirs is None:
            return None
        if ours.name is not None and theirs.name is not None and ours.name != theirs.name:
            return False
        return self._same_pieces(ours, theirs)

    def _same_pieces(self, ours: RealSet, theirs: RealSet) -> bool:
        return len(ours.pieces) == len(theirs.pieces) and all(
            (one.low_in, one.high_in) == (other.low_in, other.high_in)
            and self.equal(one.low_tree, other.low_tree)
            and self.equal(one.high_tree, other.high_tree)
            for one, other in zip(ours.pieces, theirs.pieces, strict=True)
        )

    def _members(self, gold: List | Set, answer: List | Set) -> bool:
        ours, theirs = list(gold.items), list(answer.items)
        if max(len(ours), len(theirs)) > MAX_MEMBERS:
            return False
        if isinstance(gold, Set) or isinstance(answer, Set):  # repeats are free in a set
            ours, theirs = self._distinct(ours), self._distinct(theirs)
        if len(ours) != len(theirs):
            return False
        our_name, theirs_name = _common_name(ours), _common_name(theirs)
        if our_name and theirs_name and our_name[0] != theirs_name[0]:
            return False
        ours = our_name[1] if our_name else ours
        theirs = theirs_name[1] if theirs_name else theirs
        for item in ours:
            match = next((k for k, other in enumerate(theirs) if self.equal(item, other)), None)
            if match is None:
                return False
            del theirs[match]
        return True

    def _distinct(self, items: list[Node]) -> list[Node]:
        kept: list[Node] = []
        for item in items:
            if not any(self.equal(item, other) for other in kept):
                kept.append(item)
        return kept

    def _each(self, ours: Sequence[Node], theirs: Sequence[Node]) -> bool:
        return len(ours) == len(theirs) and all(
            self.equal(one, other) for one, other in zip(ours, theirs, strict=True)
        )

    def _set_operations(self, gold: SetOp, answer: SetOp) -> bool:
        if gold.operator != answer.operator:
            return False
        if gold.operator == "setminus":
            return self._each(gold.items, answer.items)
        return self._members(List(gold.items), List(answer.items))

    def _rows(self, gold: Node, answer: Node) -> bool:
        """Compare ratios and clock times part by part, pieces in any order."""
        if isinstance(gold, Ratio) and isinstance(answer, Ratio):
            return self._each(gold.items, answer.items)
        if not isinstance(gold, Piecewise) or not isinstance(answer, Piecewise):
            return False
        theirs = list(answer.rows)
        for value, condition in gold.rows:
            match = next(
                (
                    k
                    for k, (other, when) in enumerate(theirs)
                    if self.equal(value, other) and self.equal(condition, when)
                ),
                None,
            )
            if match is None:
                return False
            del theirs[match]
        return not theirs


def _split(node: Node) -> tuple[Node, str | None]:
    return (node.value, node.unit) if isinstance(node, Quantity) else (node, None)


def _folded(words: str) -> str:
    """Return words without case, hyphens, article; `AB` may name a segment and keeps its case."""
    spaced = words.replace("-", " ").split()
    is_words = any(len(word) >= MIN_WORD or word.lower() == "no" for word in spaced)
    folded = " ".join(spaced).casefold() if is_words else " ".join(spaced)
    for article in _ARTICLES:
        if folded.startswith(article) and len(folded) > len(article):
            return folded.removeprefix(article)
    return folded


def _named(node: Node) -> tuple[Node | None, Node]:
    """Return the name before a value, or before every member of a list, and what is named."""
    pair = named_value(node)
    if pair is not None:
        return pair
    if isinstance(node, List):
        common = _common_name(list(node.items))
        if common:
            return common[0], List(tuple(common[1]), node.joiner)
    return None, node


def _common_name(items: list[Node]) -> tuple[Node, list[Node]] | None:
    """Return (name, values) of `x = 1, x = 2` or `x = 1, 2`; None where names differ."""
    if not items:
        return None
    first = named_value(items[0])
    if first is None:
        return None
    name, values = first[0], [first[1]]
    for item in items[1:]:
        pair = named_value(item)
        if pair is None and isinstance(item, Chain):
            return None
        if pair is not None and pair[0] != name:
            return None
        values.append(pair[1] if pair is not None else item)
    return name, values


def _assignments(node: Node) -> dict[Node, Node] | None:
    """Return the named solution `x = 1, y = 2`, also `(x, y) = (1, 2)`; None where it is none."""
    if isinstance(node, Bracketed | Set) and all(isinstance(item, Chain) for item in node.items):
        node = List(node.items)
    if isinstance(node, Chain):
        pair = named_value(node)
        if pair is None or not isinstance(pair[0], Bracketed) or not isinstance(pair[1], Bracketed):
            return None
        names, values = pair[0].items, pair[1].items
        return dict(zip(names, values, strict=True)) if len(names) == len(values) else None
    if not isinstance(node, List):
        return None
    found: dict[Node, Node] = {}
    for item in node.items:
        pair = named_value(item)
        if pair is None or pair[0] in found:
            return None
        found[pair[0]] = pair[1]
    return found if len(found) > 1 else None
