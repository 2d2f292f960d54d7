"""`Statement`: one place at which a reply may commit itself to an option."""

from __future__ import annotations

from dataclasses import dataclass

from reasonenv.checkers.choice.reading import Slot

__all__ = ["Statement"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One place at which a reply may commit itself to an option.

    Args:
        anchor: the kind of place: "box", "tag", "open tag", "field", "####", "cue" ("answer:"),
            "heading", "chosen" ("I pick"), "is right", "mark" (a tick), "correction", and those
            of `closing`.
        start: where it begins in the completion.
        end: where it ends.
        slot: what it says.
        said: the words of the slot, as they stand there.
        conditional: it hangs on an "if", so any other statement outranks it.
    """

    anchor: str
    start: int
    end: int
    slot: Slot
    said: str = ""
    conditional: bool = False
