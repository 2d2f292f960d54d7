"""What one slot holds: `Slot`, and the `Reading` that says why it holds no single option."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["NOTHING", "Reading", "Slot", "several"]


class Reading(StrEnum):
    """What a slot holds."""

    OPTION = "an option"
    NOTHING = "nothing readable"
    SEVERAL = "several labels"
    CONTRADICTION = "label and text disagree"
    OUT_OF_RANGE = "label out of range"
    AMBIGUOUS = "fits more than one option"
    NEGATED = "negated"
    CUT_OFF = "cut off before it was whole"
    EMPTY = "empty answer tag"
    RETRACTED = "retracted"


@dataclass(frozen=True, slots=True)
class Slot:
    """What a slot holds.

    Args:
        reading: OPTION, or why there is none.
        positions: the options named, counted from 0: one for OPTION, and for SEVERAL all that
            stand there where they could be told (a problem that allows several reads them).
        by: "label", "text", "number" or "position": what named the option.
    """

    reading: Reading
    positions: tuple[int, ...] = ()
    by: str = "label"

    @property
    def position(self) -> int | None:
        """The one option, None where it is not exactly one."""
        return self.positions[0] if self.reading is Reading.OPTION else None


NOTHING = Slot(Reading.NOTHING)


def several(*positions: int) -> Slot:
    """Return the reading of several options; several times the same is that one."""
    if -1 in positions:
        return Slot(Reading.OUT_OF_RANGE)
    distinct = tuple(sorted(set(positions)))
    if len(distinct) == 1 and len(positions) > 1:
        return Slot(Reading.OPTION, distinct)
    return Slot(Reading.SEVERAL, distinct)
