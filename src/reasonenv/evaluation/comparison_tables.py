"""A comparison as text: the study's table (pass@1/3/5) in Markdown and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable

from reasonenv.evaluation.comparison import Comparison, Difference, Level
from reasonenv.evaluation.tables import markdown

__all__ = ["comparison_latex", "comparison_markdown"]

_ALPHA = 0.05


def comparison_markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown: levels, differences, and what to know."""
    sides = list(comparison.sides)
    heads = ["benchmark", *[f"pass@{k} {side}" for k in _ks(comparison) for side in sides]]
    several = any(len(runs) > 1 for runs in comparison.sides.values())
    parts = [
        "# Comparison",
        "In per cent"
        + (", mean and deviation over the runs of a side" if several else "")
        + "; the best of each row and k in bold.",
        markdown(heads, _rows(comparison, lambda cell: f"**{cell}**")),
        f"## Differences from {sides[0]}",
        "In percentage points, paired by problem, with 95 % intervals; p of a paired sign-flip "
        "permutation test, then corrected for the number of benchmarks (Holm).",
        markdown(
            ["benchmark", "side", "k", "problems", "difference", "bootstrap", "p", "p (Holm)"],
            [
                [
                    one.benchmark,
                    one.side,
                    str(one.k),
                    f"{one.problems:,}",
                    f"{100 * one.value:+.1f} {_ends(one.low, one.high)}",
                    _ends(*one.bootstrap),
                    _p(one.p),
                    _p(one.p_holm) + ("*" if one.p_holm < _ALPHA else ""),
                ]
                for one in comparison.differences
            ],
        ),
        "The intervals speak about other problems of these kinds, for these very runs; how much "
        "training again changes is what the deviation over runs shows.",
        *comparison.notes,
    ]
    for side, runs in comparison.sides.items():
        parts.append(f"{side}: {', '.join(runs)}")
    return "\n\n".join(parts) + "\n"


def comparison_latex(comparison: Comparison) -> str:
    r"""Return the table of levels in LaTeX (needs `booktabs`); any name is escaped."""
    sides, ks = list(comparison.sides), _ks(comparison)
    columns = "l" + "r" * (len(sides) * len(ks))
    spans = [f"\\multicolumn{{{len(sides)}}}{{c}}{{pass@{k}}}" for k in ks]
    rows = _rows(comparison, lambda cell: f"\\textbf{{{cell}}}")
    lines = [
        "\\begin{tabular}{" + columns + "}",
        "\\toprule",
        " & ".join(["", *spans]) + r" \\",
        " & ".join(["Benchmark", *[_escape(side) for _ in ks for side in sides]]) + r" \\",
        "\\midrule",
        *[" & ".join([_escape(name), *map(_dash, cells)]) + r" \\" for name, *cells in rows],
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _ks(comparison: Comparison) -> list[int]:
    return sorted({level.k for level in comparison.levels})


def _rows(comparison: Comparison, bold: Callable[[str], str]) -> list[list[str]]:
    """Return a row a benchmark: its name, then each k and side."""
    found = {(one.benchmark, one.k, one.side): one for one in comparison.levels}
    rows = []
    for benchmark in comparison.benchmarks:
        row = [benchmark]
        for k in _ks(comparison):
            levels = [found[benchmark, k, side] for side in comparison.sides]
            means = {one.mean for one in levels if one.mean is not None}
            best = max(means) if len(means) > 1 else None
            row += [
                bold(_cell(one)) if one.mean is not None and one.mean == best else _cell(one)
                for one in levels
            ]
        rows.append(row)
    return rows


def _cell(level: Level) -> str:
    if level.mean is None:
        return "–"
    spread = "" if level.deviation is None else f" ± {100 * level.deviation:.2f}"
    return f"{100 * level.mean:.2f}{spread}"


def _ends(low: float, high: float) -> str:
    return f"[{100 * low:+.1f}, {100 * high:+.1f}]"


def _p(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _dash(cell: str) -> str:
    return cell.replace("±", "$\\pm$").replace("–", "--")


def _escape(text: str) -> str:
    spelled = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return re.sub(r"[\\~^&%$#_{}]", lambda m: spelled.get(m[0], "\\" + m[0]), text)


def significant(difference: Difference) -> bool:
    """Return whether a difference stands after the correction, at 5 %."""
    return difference.p_holm < _ALPHA
