"""An audit in words and small tables: what `print(audit)` shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reasonenv.rewards.audit.witness import Side, Witness

if TYPE_CHECKING:
    from reasonenv.rewards.audit.core import Assumption, Audit
    from reasonenv.rewards.audit.observed import Observed, TermFacts

__all__ = [
    "HEADS",
    "audit_text",
    "conclusion",
    "facts_row",
    "observed_lines",
    "observed_notes",
    "shown",
]

_SHOWN = 160  # characters of a completion


def audit_text(audit: Audit, observed: bool = True) -> str:
    """Return an audit as text, with what rollouts showed or without."""
    lines = [audit.reward, "", conclusion(audit)]
    lines += [f"  {_assumption(one)}" for one in audit.assumptions]
    if audit.faults:
        leaks = ", ".join(f"{fault.part} (by {fault.leak:g})" for fault in audit.faults)
        lines.append(f"at fault: a wrong answer can earn more than a right one of {leaks}")
    if audit.changes:
        first, *others = audit.changes
        lines.append(f"smallest change of a weight that restores dominance: {first}")
        lines += [f"  or {change}" for change in others]
    elif audit.verdict != "proved":
        lines.append("no change of a single weight restores dominance by the ranges")
    if audit.witness is not None:
        lines += ["", *_witness(audit.witness)]
    lines += ["", scaling_note(audit)]
    if audit.observed is not None and observed:
        lines += ["", *observed_lines(audit.observed)]
    if audit.observed is not None and not observed:
        lines += ["", _measured(audit.observed)]
    return "\n".join(lines)


def conclusion(audit: Audit) -> str:
    """Return the verdict in a sentence, with the two ends that decide."""
    when = [f"at step {audit.step}"] if audit.step is not None else []
    when += [f"in stage {stage + 1} of {name}" for name, stage in audit.stages.items()]
    case = f" ({', '.join(when)}, where right answers lead by least)" if when else ""
    if not math.isfinite(audit.wrong_high - audit.right_low):
        ends = "values have no bound (give each GroupNormalized its group_size=)"
    else:
        ends = _ends(audit, case)
    if audit.verdict == "proved":
        return f"PROVED: correctness dominates: {ends}"
    if audit.verdict == "refuted":
        return f"REFUTED: correctness does not dominate: {ends}"
    return (
        f"NOT PROVED: by the ranges {ends}; no completion was found in which these values occur "
        "together"
    )


def _ends(audit: Audit, case: str) -> str:
    return (
        f"a right answer earns {audit.right_low:g} or more, a wrong one {audit.wrong_high:g} or "
        f"less{case}"
    )


def _assumption(one: Assumption) -> str:
    said = (
        f"this rests on {one.term} being {one.right} for every right answer ({one.wrong} for wrong "
        f"ones); without that a right answer may earn {one.right_low:g}, a wrong one "
        f"{one.wrong_high:g}"
    )
    return f"{said}, and nothing is proved" if one.needed else said


def scaling_note(audit: Audit) -> str:
    """Return what group scaling makes of the shaping."""
    if not audit.shaping:
        return "groups of one outcome: all members earn the same, so no advantage arises there"
    parts = ", ".join(audit.shaping)
    return (
        "groups of one outcome: under group scaling their whole advantage is shaping, at any "
        f"weight, since only {parts} can differ there and the deviation divides the weight away "
        "(a lexicographic tie-breaker likewise); scale by the batch or not at all, gate the "
        "shaping, or leave such groups out, where that is not wanted"
    )


def _witness(witness: Witness) -> Iterator[str]:
    where = "among probes made from the terms" if witness.source == "probes" else "in one group"
    yield f"witness ({where}):"
    for name, side in (("wrong", witness.wrong), ("right", witness.right)):
        yield f"  {name} answer, earns {side.total:g}: {_parts(side)}"
        yield f"    {shown(side.completion)}"


def _parts(side: Side) -> str:
    return " + ".join(f"{name} {value:g}" for name, value in side.parts.items())


def shown(text: str, width: int = _SHOWN) -> str:
    """Return a completion on one line, cut at its end."""
    line = repr(text)
    return line if len(line) <= width else f"{line[:width]} ..."


def observed_lines(seen: Observed) -> Iterator[str]:
    """Yield what rollouts showed, line by line."""
    yield _measured(seen)
    yield from _table(seen.parts, "part")
    yield from _table(seen.terms, "term")
    yield from observed_notes(seen)


def _measured(seen: Observed) -> str:
    return (
        f"measured on {seen.rollouts:,} rollouts in {seen.groups:,} groups, {seen.mixed:,} of them "
        f"mixed ({seen.unscored:,} rollouts not scored)"
    )


def observed_notes(seen: Observed) -> Iterator[str]:
    """Yield what the tables do not hold: turned groups, and wrong answers that earned much."""
    yield (
        f"groups whose order the shaping turns round: {len(seen.flips):,} of {seen.mixed:,} mixed "
        f"ones; groups of one outcome with an advantage from shaping alone: "
        f"{seen.shaped_alone:.0%} of {seen.groups - seen.mixed:,}"
    )
    if seen.suspects:
        yield "wrong answers that earned most above their group's mean:"
        for one in seen.suspects:
            parts = ", ".join(f"{name} {value:g}" for name, value in one.parts.items() if value)
            yield (
                f"  step {one.step}, problem {one.problem}: {one.total:g} "
                f"({one.above:+.3f}; {parts})"
            )
            yield f"    {shown(one.completion)}"


HEADS = ("mean", "within groups", "with outcome", "of the variance", "")


def facts_row(facts: TermFacts) -> list[str]:
    """Return the cells of a row: name, mean, deviation, correlation, share, state."""
    return [
        facts.name,
        f"{facts.mean:.3f}",
        f"{facts.deviation:.3f}",
        "-" if facts.outcome_correlation is None else f"{facts.outcome_correlation:+.2f}",
        "-" if facts.share is None else f"{facts.share:.0%}",
        facts.state,
    ]


def _table(facts: Sequence[TermFacts], what: str) -> Iterator[str]:
    rows = [[what, *HEADS], *map(facts_row, facts)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()
