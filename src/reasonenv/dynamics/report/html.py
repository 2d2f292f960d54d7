"""One HTML page that needs nothing else: pictures inside, and a table behind each."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence

from reasonenv.dynamics.health import Finding
from reasonenv.dynamics.report.panels import Panel, shown

__all__ = ["page"]

_CSS = """
body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin:2.5rem 0 .2rem}
p.note{color:#6b6b6b;margin:.1rem 0 .6rem;font-size:.92rem}
img{max-width:100%;height:auto}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
td,th{padding:.15rem .6rem;border-bottom:1px solid #e6e6e6;text-align:right;white-space:nowrap}
td:first-child,th:first-child{text-align:left}
details>div{max-height:28rem;overflow:auto}
summary{cursor:pointer;color:#0072b2}
.said{background:#fff7e6;border-left:4px solid #e69f00;padding:.6rem 1rem;margin:1rem 0}
.said ul{margin:.3rem 0 0;padding-left:1.2rem}
"""


def page(
    title: str,
    panels: Sequence[tuple[Panel, bytes]],
    missing: Mapping[str, Sequence[str]],
    findings: Mapping[str, Sequence[Finding]],
) -> str:
    """Return the page.

    Args:
        title: its heading.
        panels: each with its PNG.
        missing: by run, what is not there, in sentences.
        findings: by run, what looks unhealthy.
    """
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{html.escape(title)}</title><style>{_CSS}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
    ]
    parts += _list("What looks unhealthy", {r: list(map(str, f)) for r, f in findings.items()})
    parts += _list("What is not shown", missing)
    if not panels:
        parts.append("<p>Nothing that these runs hold can be shown.</p>")
    for panel, png in panels:
        image = base64.b64encode(png).decode("ascii")
        parts += [
            f"<section id='{html.escape(panel.key, quote=True)}'>",
            f"<h2>{html.escape(panel.title)}</h2>",
            f"<p class='note'>{html.escape(panel.note)}</p>",
            f"<img alt='{html.escape(panel.title, quote=True)}' "
            f"src='data:image/png;base64,{image}'>",
            f"<details><summary>The numbers ({len(panel.rows)} rows)</summary><div>",
            _table(panel),
            "</div></details></section>",
        ]
    return "\n".join([*parts, "</body></html>\n"])


def _list(title: str, lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a box of sentences, each after its run's name where there are several."""
    said = [
        f"{run}: {line}" if len(lines) > 1 else line for run, own in lines.items() for line in own
    ]
    if not said:
        return []
    items = "".join(f"<li>{html.escape(line)}</li>" for line in said)
    return [f"<div class='said'><b>{html.escape(title)}</b><ul>{items}</ul></div>"]


def _table(panel: Panel) -> str:
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in panel.heads)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in row) + "</tr>"
        for row in panel.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
