"""The report's section on what the reward taught: an audit of the run's stored rollouts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reasonenv.errors import DataError, ReasonEnvError, RewardError
from reasonenv.extras import need
from reasonenv.rewards import Reward, from_config
from reasonenv.rewards.audit import Observed, TermFacts, observe
from reasonenv.rewards.audit.text import facts_row, shown
from reasonenv.trainers.report import markdown as md
from reasonenv.trainers.report.plots import picture
from reasonenv.trainers.report.summary import parts_of, read_part
from reasonenv.trainers.run import Run
from reasonenv.trainers.storage import Row

__all__ = ["reward_section", "stored_rollouts"]

_GENERATIONS = 200  # read, evenly spaced over the run
_COLUMNS = ("step", "group_id", "problem_id", "prefill", "completion", "solved", "terms", "parts")
_BARS = 12
_PICTURE = "reward_parts.png"


def stored_rollouts(run: str | Path) -> list[Row]:
    """Return a run's stored training rollouts, of at most 200 generations evenly spaced over it.

    Raises:
        RunDirectoryError: there is no run.
        DataError: it has no training rollouts that can be read.
    """
    parts = parts_of(Run.open(run), "train")
    stride = max(1, -(-len(parts) // _GENERATIONS))
    rows: list[Row] = []
    for part in parts[::-stride][::-1]:  # the last one among them
        rows += _read(part) or []
    if not rows:
        raise DataError(f"{run}: no training rollouts are stored there")
    return rows


def _read(part: Path) -> list[Row] | None:
    pq = need("pyarrow.parquet", extra="data", by="reasonenv.trainers")
    try:
        names = set(pq.read_schema(part).names)
    except (OSError, ValueError):
        return None
    return read_part(part, [name for name in (*_COLUMNS, "learned") if name in names])


def reward_section(run: Run) -> tuple[list[str], dict[str, bytes]]:
    """Return the report's section and its pictures by file name; nothing where there is no data."""
    try:
        rows = stored_rollouts(run.path)
        found = observe(_reward(run), rows)
    except (DataError, RewardError):
        return [], {}
    kind = "learned" if rows[0].get("learned") else "parts"
    pictures = {_PICTURE: _draw(found.parts)} if len(found.parts) > 1 else {}
    return _text(found, kind, bool(pictures)), pictures


def _reward(run: Run) -> Reward | None:
    """Return the run's reward, None where it cannot be made here (a term of another package)."""
    formula = run.facts.get("reward")
    try:
        return None if formula is None else from_config(formula)
    except ReasonEnvError:
        return None


def _text(found: Observed, kind: str, has_picture: bool) -> list[str]:
    of = "normalised in its group, as `advantage: gdpo` has it" if kind == "learned" else "weighted"
    heads = ["part", "mean", "deviation", "with the outcome", "of the variance", ""]
    sections = [
        "## What the reward taught",
        f"From {found.rollouts:,} stored rollouts in {found.groups:,} groups, each part {of}. "
        "*Deviation* is within groups. *Of the variance*: the share that a part has in how the "
        "total differs within groups, and so in the advantages. *With the outcome*: its "
        "correlation with being right. A part without deviation within groups teaches nothing: "
        "*saturated* if all earn nearly all of it, else *dead*.",
        md.table(heads, [_row(facts) for facts in found.parts]),
    ]
    if has_picture:
        sections.append(f"![Share of each part in the advantages](plots/{_PICTURE})")
    if [t.name for t in found.terms] != [p.name for p in found.parts] or kind == "learned":
        rows = [_row(facts)[:4] + _row(facts)[5:] for facts in found.terms]
        raw = md.table(["term, raw", *heads[1:4], ""], rows)
        sections += ["<details>\n<summary>Each term by itself</summary>", raw, "</details>"]
    sections.append(
        f"Groups whose order the shaping turns round (a wrong answer earns as much as a right "
        f"one): {len(found.flips):,} of {found.mixed:,} mixed ones. Groups of one outcome in which "
        f"totals differ all the same, so that shaping is their whole advantage: "
        f"{found.shaped_alone:.0%} of {found.groups - found.mixed:,}."
    )
    if found.suspects:
        sections.append("Wrong answers that earned most above their group's mean:")
        sections.append(
            md.table(
                ["step", "earned", "above the mean", "completion"],
                [
                    [
                        f"{s.step + 1:,}",
                        f"{s.total:.3f}",
                        f"{s.above:+.3f}",
                        md.code(shown(s.completion)),
                    ]
                    for s in found.suspects
                ],
                "rrrl",
            )
        )
    return sections


def _row(facts: TermFacts) -> list[str]:
    name, *numbers = facts_row(facts)
    return [md.code(name), *numbers]


def _draw(facts: Sequence[TermFacts]) -> bytes:
    """Return a picture: beside each other, each part's share and its correlation, as bars."""

    def panel(figure: Any) -> bool:
        kept = list(facts[:_BARS])
        left, right = figure.subplots(1, 2, sharey=True)
        names = [one.name if len(one.name) <= 24 else f"{one.name[:23]}…" for one in kept]
        for axes, title, values in (
            (left, "Share of the variance within groups", [one.share for one in kept]),
            (right, "Correlation with being right", [one.outcome_correlation for one in kept]),
        ):
            known = [0.0 if value is None else value for value in values]
            colours = ["#0072B2" if value >= 0 else "#D55E00" for value in known]
            axes.barh(range(len(known)), known, height=0.6, color=colours)
            axes.set_yticks(range(len(known)), names)
            axes.axvline(0, color="#222222", lw=1)
            axes.set_title(title, loc="left", fontsize=11.5)
            axes.margins(x=0.22)
            axes.grid(visible=False)
            for i, value in enumerate(values):
                shown_as = (
                    f"{known[i]:.0%}".replace("%", " %") if axes is left else f"{known[i]:+.2f}"
                )
                says = "constant" if value is None else shown_as
                side = "right" if (value or 0) < 0 else "left"
                pad = -4 if side == "right" else 4
                axes.annotate(
                    says, (known[i], i), (pad, 0), textcoords="offset points", va="center", ha=side
                )
        left.invert_yaxis()
        return True

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # in the names of terms
        return picture(panel)
