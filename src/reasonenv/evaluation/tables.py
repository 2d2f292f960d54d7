"""Results as text: Markdown for people and reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reasonenv.evaluation.plan import EvaluationPlan
from reasonenv.evaluation.results import ks_of

__all__ = ["markdown", "percent", "results_markdown"]


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table: text in the first column, numbers in the others."""
    rule = [":--", *["--:"] * (len(heads) - 1)]
    lines = [[cell.replace("|", r"\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))


def percent(estimate: Mapping[str, Any] | None) -> str:
    """Return an estimate in per cent with its interval: `61.5 [57.9, 65.0]`."""
    if estimate is None or estimate["value"] is None:
        return "–"
    value = f"{100 * estimate['value']:.1f}"
    high = f"{100 * estimate['value_high']:.1f}"
    shown = value if value == high else f"{value} to {high}"
    return f"{shown} [{100 * estimate['low']:.1f}, {100 * estimate['high']:.1f}]"


def results_markdown(results: Mapping[str, Any]) -> str:
    """Return an evaluation's results as Markdown: figures, how they were made, and what to know."""
    plan = EvaluationPlan.make(**results["plan"])
    benchmarks: Mapping[str, Any] = results["benchmarks"]
    most = max((len(figures["pass"]) for figures in benchmarks.values()), default=1)
    ks = ks_of(max(most, 1))
    votes = any(figures["maj"] for figures in benchmarks.values()) and most > 1
    heads = ["benchmark", "problems", *[f"pass@{k}" for k in ks], *[f"maj@{most}"] * votes]
    heads += ["tokens", "cut off", "unscored"]
    rows = []
    for name, figures in benchmarks.items():
        row = [name, f"{figures['problems']:,}"]
        row += [percent(figures["pass"].get(str(k))) for k in ks]
        if votes:
            row.append(percent((figures["maj"] or {}).get(str(most))))
        tokens = figures["mean_tokens"]
        row.append("–" if tokens is None else f"{tokens:.0f}")
        cut = figures["truncated"]
        row.append("–" if cut is None else f"{100 * cut:.1f} %")
        rows.append([*row, f"{figures['unscored']:,}"])
    parts = [
        f"# Evaluation of {plan.title()}",
        markdown(heads, rows),
        "In per cent, with 95 % intervals by problem. pass@1 is the mean accuracy.",
        f"Sampling: {plan.sampling(plan.benchmarks[0])}. Template: {plan.template}. Back end: "
        + ", ".join(f"{key} {value}" for key, value in results["backend"].items())
        + ".",
    ]
    for name, figures in benchmarks.items():
        if figures["unscored"]:
            parts.append(
                f"{name}: {figures['unscored']:,} completions could not be judged, also when tried "
                "again. The figures reach from all of them wrong to all of them right."
            )
        if figures["short"]:
            parts.append(
                f"{name}: {figures['short']:,} problems have fewer than {figures['n']} completions "
                "and are left out of the pass@k that need more."
            )
        if figures["note"]:
            parts.append(f"{name}: {figures['note']}")
    parts += results["notes"]
    parts.append("## Prompts")
    for name, figures in benchmarks.items():
        fence = "`" * 4
        parts += [f"{name}:", f"{fence}text\n{_readable(figures['prompt'] or '')}\n{fence}"]
    return "\n\n".join(parts) + "\n"


def _readable(prompt: str) -> str:
    """Return chat messages one after another with their roles, any other text as it is."""
    try:
        return "\n\n".join(f"[{m['role']}] {m['content']}" for m in json.loads(prompt)) or prompt
    except (ValueError, TypeError, KeyError):
        return prompt
