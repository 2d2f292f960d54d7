"""Groups of rollouts on a terminal: a heading, and a row a member."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group as Together
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reasonenv.evaluation.browse.groups import RolloutGroup, is_flipped, suspicions
from reasonenv.evaluation.parts import Row
from reasonenv.types import Status

__all__ = ["panels"]

_PROMPT = 300  # characters shown of a prompt
_COMPLETION = 90  # ... of a completion, unless it is shown whole
_STYLES = {
    Status.CORRECT: "green",
    Status.INCORRECT: "red",
    Status.NO_ANSWER: "yellow",
    Status.MALFORMED: "yellow",
}


def panels(groups: Iterator[RolloutGroup], *, whole: bool = False) -> Iterator[RenderableType]:
    """Yield one renderable a group; completions are cut to a line unless `whole`."""
    for group in groups:
        heading = Text(group.collection, style="bold")
        if group.step is not None:
            heading.append(f" step {group.step}")
        heading.append(f"  {group.key}  problem {group.problem_id}", style="dim")
        heading.append(f"  {group.right} of {len(group.members)} right", style="bold")
        if group.unscored:
            heading.append(f"  {group.unscored} unscored", style="magenta")
        if is_flipped(group):
            heading.append("  flipped by shaping", style="bold red")
        parts: list[RenderableType] = [heading]
        if group.prompt:
            prompt = group.prompt if whole else _cut(group.prompt, _PROMPT)
            parts.append(Padding(Text(_visible(prompt), style="dim"), (0, 0, 0, 2)))
        parts.append(_table(group, whole))
        for number, row in enumerate(group.members, 1):
            for why in suspicions(row, group):
                parts.append(Text(f"  suspect {number}: {why}", style="bold yellow"))
            if whole:
                text = str(row.get("prefill") or "") + row["completion"]
                parts.append(Text(f"  completion {number}", style="bold"))
                parts.append(Padding(Text(_visible(text)), (0, 0, 0, 4)))
        yield Padding(Together(*parts), (0, 0, 1, 0))


def _table(group: RolloutGroup, whole: bool) -> Table:
    names = list(dict.fromkeys(name for row in group.members for name in row.get("parts") or {}))
    trained = any(row.get("reward") is not None for row in group.members)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 2))
    for head in ("#", "verdict", "answer"):
        table.add_column(head, no_wrap=True)
    for head in [*(["advantage", "reward"] if trained else []), *names, "tokens"]:
        table.add_column(Text(head), justify="right", no_wrap=True)
    if not whole:
        table.add_column("completion", overflow="ellipsis", no_wrap=True)
    for number, row in enumerate(group.members, 1):
        status = Status(row["status"])
        text = str(row.get("prefill") or "") + row["completion"]
        shown = _cut(" ".join(_visible(text).split()), _COMPLETION)
        verdict = Text(str(status), style=_STYLES.get(status, "magenta"))
        answer = Text(_cut(_visible(str(row.get("answer") or "–")), 24))
        cells: list[str | Text] = [str(number), verdict, answer]
        if trained:
            cells += [_number(row.get("advantage"), "+.2f"), _number(row.get("reward"), ".2f")]
        own: Mapping[str, Any] = row.get("parts") or {}
        cells += [_number(own.get(name), ".2f") for name in names]
        table.add_row(*cells, _tokens(row), *([] if whole else [Text(shown)]))
    return table


def _tokens(row: Row) -> str:
    count = row.get("n_tokens")
    return "–" if count is None else f"{count}{'+' if row.get('truncated') else ''}"


def _number(value: Any, how: str) -> str:
    return "–" if value is None else format(float(value), how)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _visible(text: str) -> str:
    """Return `text` with control characters spelled out: a completion moves no cursor."""
    return "".join(
        c
        if c in "\n\t" or (c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF)
        else c.encode("unicode_escape", "backslashreplace").decode()
        for c in text
    )
