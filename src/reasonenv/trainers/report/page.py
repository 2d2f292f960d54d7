"""`write_report`: `report.md` and `plots/*.png`, made from the run's files alone.

It can be repeated at any time, also while a run is going on. A run that was stopped, halted or has
only just begun gets a report, too: it shows what is there and says what is missing. The same files
give the same report.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reasonenv.errors import StorageError
from reasonenv.files import write_atomic
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.report import markdown as md
from reasonenv.trainers.report.plots import Curves, draw
from reasonenv.trainers.report.rewards import reward_section
from reasonenv.trainers.report.summary import (
    UNSCORED,
    number,
    parts_of,
    read_lines,
    read_part,
    read_recipe,
    summary,
)
from reasonenv.trainers.run import Run
from reasonenv.trainers.storage import Row
from reasonenv.types import Status

__all__ = ["write_report"]

_LOOK_BACK = 10  # generations searched, from the last one back, for each kind of example
_BRACKETS = " (in brackets: 95 % intervals)"
_SHORT = 200  # characters shown of a detail or an answer

_MEANING: dict[str, str] = {
    Status.CORRECT: "right answer",
    Status.INCORRECT: "wrong answer",
    Status.NO_ANSWER: "no answer where one was asked for",
    Status.MALFORMED: "an answer that cannot be read",
    Status.CHECKER_ERROR: "the checker failed: no reward, not in the loss",
    Status.CHECKER_TIMEOUT: "the checker ran out of time: no reward, not in the loss",
    Status.SANDBOX_UNAVAILABLE: "no sandbox could be reached: no reward, not in the loss",
}
_FIGURES = (  # of the key figures: name in the metrics, title, how it is shown
    ("accuracy", "accuracy", "share"),
    ("reward", "reward", "number"),
    ("completions/mean_length", "completion length (tokens)", "length"),
    ("completions/clipped_ratio", "cut off at the length limit", "share"),
    ("entropy", "entropy (nats a token)", "number"),
    ("mixed_groups", "mixed groups", "share"),
    ("unscored", "unscored", "share"),
)
_PICTURES = {
    "reward.png": "Reward by step, in total and by part",
    "accuracy.png": "Accuracy by step on held-out problems, with 95 % intervals",
    "length.png": "Completion length by step, and the share cut off at the limit",
    "groups.png": "Share of groups with a signal by step",
}


def write_report(run: str | Path) -> Path:
    """Write `report.md` and `plots/*.png` of a run, from its files alone.

    Args:
        run: the run directory; it may be unfinished.

    Returns:
        The path of the report.

    Raises:
        RunDirectoryError: there is no run.
        DataError: a metrics line before the last is broken.
        StorageError: the report cannot be written; an older one is untouched.
        MissingExtraError: matplotlib or pyarrow is not installed.
    """
    opened = Run.open(run)
    figures = summary(run)
    train, evaluations = read_lines(opened, "train"), read_lines(opened, "eval")
    recipe, _ = read_recipe(opened)
    limit = recipe.grpo.get("max_completion_length") if recipe else None
    pictures = draw(Curves(train, evaluations, limit if isinstance(limit, int) else None))
    plots = opened.path / "plots"
    try:
        plots.mkdir(exist_ok=True)
    except OSError as error:
        raise StorageError(f"{plots}: cannot be made ({error.strerror})") from error
    for name, (png, _) in pictures.items():
        write_atomic(plots / name, png)
    taught, drawn = reward_section(opened)
    for name, png in drawn.items():
        write_atomic(plots / name, png)
    shown = [name for name, (_, has_data) in pictures.items() if has_data]
    sections = [
        *_opening(opened, recipe, figures),
        *_key_figures(figures),
        *_curves(shown),
        *_time(figures),
        *_reward(opened.facts, recipe),
        *taught,
        *_rollouts(figures),
        *_examples(_telling(opened)),
        *_set_up(opened.facts, recipe),
        *_go_on(opened, figures),
    ]
    path = opened.path / "report.md"
    text = "\n\n".join(sections) + "\n"
    write_atomic(path, text.encode("utf-8", "replace"))
    return path


def _opening(run: Run, recipe: Recipe | None, figures: Mapping[str, Any]) -> list[str]:
    env = run.facts.get("env") or (recipe.env if recipe else "an unknown environment")
    model = f" with {md.code(recipe.model)}" if recipe else ""
    sections = [f"# Training on {md.code(env)}{model}", f"**{_outcome(figures)}**"]
    if recipe and recipe.description.strip():
        sections.append(md.text(recipe.description))
    if figures["missing"]:
        sections.append("\n".join(["> [!NOTE]", *(f"> - {s}" for s in figures["missing"])]))
    return sections


def _outcome(figures: Mapping[str, Any]) -> str:
    """Return what the run came to, in a sentence or two."""
    before, after = figures["before"], figures["after"]
    steps = _plural(figures["steps"], "step") + _pace(figures)
    if figures["points"] is not None:
        return _change(figures)
    if number(after, "accuracy") is not None:
        done = _plural(after["step"], "step") + _pace(figures)
        return f"Held-out accuracy {_accuracy(after)} after {done}{_BRACKETS}."
    if number(before, "accuracy") is not None:
        return f"Held-out accuracy {_accuracy(before)} before training{_BRACKETS}; {steps} since."
    start, end = (number(figures[when], "accuracy") for when in ("first", "last"))
    if end is None:
        return f"{steps[0].upper()}{steps[1:]} recorded; no accuracy is known."
    span = figures["averaged_steps"]
    first = (
        "" if start is None or figures["steps"] < 2 else f"{_share(start)} in the {_first(span)}, "
    )
    return (
        f"Accuracy on training problems: {first}{_share(end)} in the {_first(span, 'last')}; "
        f"{steps} recorded, nothing held out."
    )


def _pace(figures: Mapping[str, Any]) -> str:
    pace = figures["seconds_per_step"]
    return "" if pace is None else f" of {_seconds(pace)}"


def _change(figures: Mapping[str, Any]) -> str:
    """Return what the held-out accuracy did up to its last evaluation."""
    before, after, points = figures["before"], figures["after"], figures["points"]
    verb = "rose" if points > 0 else "fell" if points < 0 else "went"
    gained, unsure = f"{points:+.1f} points", ""
    low, high = figures["points_low"], figures["points_high"]
    if low is not None:
        gained += f" [{low:+.1f} to {high:+.1f}]"
        if low <= 0 <= high:
            unsure = " The interval holds 0: so few problems cannot tell whether anything changed."
    done = _plural(after["step"], "step") + _pace(figures)
    return (
        f"Held-out accuracy {verb} from {_accuracy(before)} to {_accuracy(after)}: {gained} after "
        f"{done}{_BRACKETS}.{unsure}"
    )


def _accuracy(row: Mapping[str, Any] | None) -> str:
    shown = _share(number(row, "accuracy"))
    low, high = number(row, "accuracy_low"), number(row, "accuracy_high")
    return shown if low is None or high is None else f"{shown} [{_interval(low, high)}]"


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def _key_figures(figures: Mapping[str, Any]) -> list[str]:
    span = figures["averaged_steps"]
    heads = {
        "before": "held out, before",
        "after": f"held out, after step {(figures['after'] or {}).get('step')}",
        "first": f"training, {_first(span)}",
        "last": f"training, {_first(span, 'last')}",
    }
    if figures["steps"] < 2:
        heads.pop("first")  # it would be the last step, too
    columns = {heads[key]: figures[key] for key in heads if figures[key]}
    if not columns:
        return []
    rows = []
    for name, title, how in _with_parts(columns.values()):
        values = [number(row, name) for row in columns.values()]
        if name == "mixed_groups":  # a held-out problem may be sampled once: no group to be mixed
            values = [
                None if head.startswith("held") else value
                for head, value in zip(columns, values, strict=True)
            ]
        if any(values) or (name != "unscored" and any(value is not None for value in values)):
            rows.append([title, *(_shown(value, how) for value in values)])
        if name == "accuracy" and any("accuracy_low" in row for row in columns.values()):
            rows.append(["95 % interval", *map(_own_interval, columns.values())])
    note = "Mixed groups hold right and wrong answers: only they carry a signal about the task."
    problems = number(figures["after"] or figures["before"], "problems")
    if problems:
        note = f"Held out: {_plural(int(problems), 'problem')}, sampled as in training. {note}"
    return ["## Key figures", md.table(["", *columns], rows), note]


def _own_interval(row: Mapping[str, Any]) -> str:
    low, high = number(row, "accuracy_low"), number(row, "accuracy_high")
    return "" if low is None or high is None else _interval(low, high)


def _with_parts(columns: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return the rows of the key figures, each part of the reward after the reward."""
    names = dict.fromkeys(n for row in columns for n in row if n.startswith("parts/"))
    rows = list(_FIGURES)
    rows[2:2] = [(n, f"part {md.code(n.removeprefix('parts/'))}", "number") for n in names]
    return rows


def _curves(shown: Sequence[str]) -> list[str]:
    if not shown:
        return []
    large = [f"![{_PICTURES[name]}](plots/{name})" for name in shown if name in _PICTURES]
    return [
        "## Curves",
        "![Reward, accuracy, completion length and groups by step](plots/overview.png)",
        "<details>\n<summary>Each in full size</summary>",
        *large,
        "</details>",
    ]


def _time(figures: Mapping[str, Any]) -> list[str]:
    if not figures["time"]:
        return []
    titles = {
        "generate": "generating completions",
        "judge": "judging and scoring them",
        "update": "updating the weights",
    }
    rows = [
        [titles[name], _share(one["share"]), _seconds(one["median"]), _seconds(one["seconds"])]
        for name, one in figures["time"].items()
    ]
    total = sum(one["seconds"] for one in figures["time"].values())
    mean = f"mean {_seconds(figures['seconds_per_step'])}"
    rows.append(["**all steps**", "", mean, _seconds(total)])
    if figures["eval_seconds"] is not None:
        rows.append(["evaluating, between the steps", "", "", _seconds(figures["eval_seconds"])])
    heads = ["", "share of the steps' time", "median of a step", "in total"]
    return ["## Where the time went", md.table(heads, rows)]


def _reward(facts: Mapping[str, Any], recipe: Recipe | None) -> list[str]:
    formula = facts.get("reward") or (recipe.reward if recipe else None)
    if formula is None:
        return ["## Reward", "The environment's own; its formula is not recorded in `run.json`."]
    text = formula if isinstance(formula, str) else json.dumps(formula, indent=2, default=str)
    sections = ["## Reward", md.fence(text, "python" if isinstance(formula, str) else "json")]
    ranges = facts.get("reward_range") or {}
    rows = [
        [f"a {who} answer", *("no bound" if end is None else f"{end:g}" for end in ranges[who])]
        for who in ("right", "wrong")
        if isinstance(ranges.get(who), list)
    ]
    if rows:
        sections.append(md.table(["earned by", "at least", "at most"], rows))
    high, low = (ranges.get(who, [None, None])[i] for who, i in (("wrong", 1), ("right", 0)))
    apart = high is not None and low is not None and high < low
    if len(rows) == 2 and not facts.get("reward_dominates", apart):
        sections.append(
            "> [!WARNING]\n> A wrong answer can earn as much as a right one: correctness does "
            "not dominate this reward."
        )
    return sections


def _rollouts(figures: Mapping[str, Any]) -> list[str]:
    if not figures["rollouts"]:
        return []
    rows = [
        [md.code(name), f"{n:,}", _share(n / figures["rollouts"]), _MEANING.get(name, "")]
        for name, n in figures["statuses"].items()
    ]
    many = f"{figures['rollouts']:,} training rollouts"
    many += f" of {_plural(figures['generations'], 'generation')}"
    sections = ["## Rollouts", f"{many}, by how judging them ended:"]
    sections.append(md.table(["status", "rollouts", "share", ""], rows, "lrrl"))
    if not figures["details"]:
        return [*sections, "All of them could be judged."]
    sections.append(
        f"{_share(figures['masked_share'])} could not be judged and were left out of the loss. The "
        "commonest details:"
    )
    sections.append(
        "\n".join(f"- {n:,} x {md.code(md.cut(text, _SHORT))}" for text, n in figures["details"])
    )
    return sections


def _telling(run: Run) -> list[tuple[str, Row]]:
    """Return a few rollouts worth reading, each with a title, from the last generations.

    A right and a wrong answer come from one group where there is such a group; then one of each
    other kind of end that there is.
    """
    found: dict[str, Row] = {}
    for part in reversed((parts_of(run, "train") or parts_of(run, "eval"))[-_LOOK_BACK:]):
        rows = read_part(part) or []
        for row in [*_mixed(rows), *rows]:
            found.setdefault("unscored" if row["status"] in UNSCORED else row["status"], row)
            if row["truncated"]:
                found.setdefault("truncated", row)
    titles = {
        "correct": "A right answer",
        "incorrect": "A wrong answer",
        "no_answer": "No answer",
        "malformed": "An answer that cannot be read",
        "unscored": "One that could not be judged",
        "truncated": "One cut off at the length limit",
    }
    return [(title, found[kind]) for kind, title in titles.items() if kind in found]


def _mixed(rows: Sequence[Row]) -> list[Row]:
    """Return the members of the first group that holds right and wrong answers."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["group_id"], []).append(row)
    ends = ("correct", "incorrect")
    mixed = (g for g in groups.values() if all(any(r["status"] == e for r in g) for e in ends))
    return next(mixed, [])


def _examples(telling: Sequence[tuple[str, Row]]) -> list[str]:
    if not telling:
        return []
    sections = ["## Examples", "From the last generations, the first of each kind."]
    for title, row in telling:
        step = row["step"] + (row.get("kind") == "train")
        facts = [f"step {step:,}", f"status {md.code(row['status'])}"]
        if row.get("reward") is not None:
            facts.append(f"reward {_sum(row)}")
        if row.get("advantage") is not None:
            facts.append(f"advantage {row['advantage']:+.2f}")
        if row.get("n_tokens") is not None:
            facts.append(_plural(row["n_tokens"], "token"))
        if row.get("answer") is not None:
            facts.append(f"answer read: {md.code(md.cut(row['answer'], _SHORT))}")
        sections += [f"### {title}", ", ".join(facts), md.fence(_prompt(row.get("prompt") or ""))]
        sections.append(md.fence(f"{row.get('prefill') or ''}{row.get('completion') or ''}"))
        if row.get("detail") not in (None, "", "{}"):
            sections.append(f"Verdict's detail: {md.code(md.cut(row['detail'], 2 * _SHORT))}")
    return sections


def _sum(row: Row) -> str:
    """Return a reward as the sum of its parts, in words."""
    parts = {name: value for name, value in (row.get("parts") or {}).items() if value is not None}
    if len(parts) < 2:
        return f"{row['reward']:.3f}"
    shown = ", ".join(f"{md.code(name)} {value:.3f}" for name, value in parts.items())
    return f"{row['reward']:.3f} ({shown})"


def _prompt(stored: str) -> str:
    """Return a stored prompt for reading: chat messages one after another, with their roles."""
    try:
        messages = json.loads(stored)
        return "\n\n".join(f"[{m['role']}] {m['content']}" for m in messages) or stored
    except (ValueError, TypeError, KeyError):
        return stored  # a plain text


def _set_up(facts: Mapping[str, Any], recipe: Recipe | None) -> list[str]:
    rows = []
    if facts.get("batches"):
        rows.append(["batches", md.text(str(facts["batches"]))])
    for key, title in (
        ("train_problems", "problems to train on"),
        ("held_out_problems", "held out"),
    ):
        if isinstance(facts.get(key), int):
            rows.append([title, f"{facts[key]:,}"])
    if facts.get("dropped_problems"):
        rows.append(["left out, their prompts too long", f"{facts['dropped_problems']:,}"])
    if recipe:
        rows.append(["seed", str(recipe.seed)])
    if facts.get("started"):
        rows.append(["started", md.text(str(facts["started"]))])
    versions = facts.get("versions")
    if isinstance(versions, Mapping):
        rows.append(
            ["versions", ", ".join(f"{md.text(k)} {md.text(str(v))}" for k, v in versions.items())]
        )
    if not rows:
        return []
    return [
        "## Set-up",
        md.table(["", ""], rows, "ll"),
        "All settings are in [recipe.yaml](recipe.yaml).",
    ]


def _go_on(run: Run, figures: Mapping[str, Any]) -> list[str]:
    where = shlex.quote(str(run.path))
    sections = []
    if not figures["finished"]:
        sections.append("## Go on")
        if figures["checkpoint"] is None:
            sections.append(
                "There is no complete checkpoint to resume from: start anew, with a smaller "
                "`checkpoint.every` to have one sooner."
            )
        else:
            step = figures["checkpoint"]
            sections.append(
                f"From the checkpoint at step {step:,}; what was recorded later is cut off:"
            )
            sections.append(md.fence(f"reasonenv train --resume {where}", "bash"))
    sections += ["## Rebuild this report", "It is made from the run's files alone:"]
    return [*sections, md.fence(f"reasonenv report {where}", "bash")]


def _shown(value: float | None, how: str) -> str:
    if value is None:
        return "–"
    if how == "share":
        return _share(value)
    return f"{value:,.1f}" if how == "length" else f"{value:.3f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    if value < 60:
        return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"
    minutes = round(value / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{value / 60:.1f} min"


def _first(steps: int, which: str = "first") -> str:
    return f"{which} step" if steps == 1 else f"{which} {steps} steps"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
