"""Sections of a report, once as Markdown and once as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reasonenv.dynamics.report.panels import Cell, Panel, shown
from reasonenv.dynamics.report.style import drawing, figure, png
from reasonenv.files import write_atomic
from reasonenv.trainers.report import markdown as md

__all__ = ["Log", "Picture", "Section", "Table", "as_html", "as_markdown", "draw"]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of figures; None is what is not known."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Log:
    """Lines as they were printed."""

    title: str
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Picture:
    """A panel and its PNG."""

    panel: Panel
    content: bytes

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', self.panel.key)}.png"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, sentences below it, and what they speak of."""

    title: str
    sentences: Sequence[str] = ()
    items: Sequence[str] = ()
    parts: Sequence[Table | Log | Picture] = ()


def draw(panels: Sequence[Panel], folder: Path) -> list[Picture]:
    """Draw panels and write them as PNG.

    Raises:
        MissingExtraError: matplotlib is not installed.
        StorageError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    with drawing("reasonenv.studies"):
        for panel in panels:
            made = figure(panel.size)
            panel.draw(made)
            picture = Picture(panel, png(made))
            write_atomic(folder / picture.file, picture.content)
            pictures.append(picture)
    return pictures


def as_markdown(title: str, sections: Sequence[Section], plots: str) -> str:
    """Return the report as Markdown; pictures are linked below the folder `plots`."""
    lines = [f"# {md.text(title)}"]
    for section in sections:
        if section.title:
            lines.append(f"## {md.text(section.title)}")
        lines += [md.text(sentence) for sentence in section.sentences]
        if section.items:
            lines.append("\n".join(f"- {md.text(item)}" for item in section.items))
        for part in section.parts:
            if isinstance(part, Table):
                rows = [[md.text(shown(cell)) for cell in row] for row in part.rows]
                lines.append(md.table([md.text(head) for head in part.heads], rows))
            elif isinstance(part, Log):
                lines += [md.text(part.title), md.fence("\n".join(part.lines))]
            else:
                lines += [
                    f"![{md.text(part.panel.title)}]({plots}/{part.file})",
                    md.text(part.panel.note),
                ]
    return "\n\n".join(line for line in lines if line) + "\n"


_CSS = """
body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin:2.2rem 0 .3rem}
p.note{color:#6b6b6b;font-size:.92rem}
p.first{font-size:1.1rem;border-left:4px solid #0072b2;padding:.4rem 1rem;background:#f2f7fb}
img{max-width:100%;height:auto}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
td,th{padding:.2rem .6rem;border-bottom:1px solid #e6e6e6;text-align:right;vertical-align:top}
td:first-child,th:first-child{text-align:left}
div.wide{max-height:32rem;overflow:auto}
pre{background:#f6f6f6;padding:.6rem;overflow:auto;font-size:.82rem}
"""


def as_html(title: str, sections: Sequence[Section]) -> str:
    """Return the report as one page, pictures inside, each with the table behind it."""
    out = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{html.escape(title)}</title><style>{_CSS}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
    ]
    for section in sections:
        if section.title:
            out.append(f"<h2>{html.escape(section.title)}</h2>")
        kind = "" if section.title else " class='first'"
        out += [f"<p{kind}>{html.escape(sentence)}</p>" for sentence in section.sentences]
        if section.items:
            items = "".join(f"<li>{html.escape(item)}</li>" for item in section.items)
            out.append(f"<ul>{items}</ul>")
        for part in section.parts:
            if isinstance(part, Table):
                out.append(f"<div class='wide'>{_table(part)}</div>")
            elif isinstance(part, Log):
                text = html.escape("\n".join(part.lines))
                out.append(f"<p>{html.escape(part.title)}</p><pre>{text}</pre>")
            else:
                out.append(_picture(part))
    return "\n".join([*out, "</body></html>\n"])


def _picture(picture: Picture) -> str:
    panel = picture.panel
    image = base64.b64encode(picture.content).decode("ascii")
    behind = _table(Table(panel.heads, panel.rows))
    return (
        f"<img alt='{html.escape(panel.title, quote=True)}' src='data:image/png;base64,{image}'>"
        f"<p class='note'>{html.escape(panel.note)}</p>"
        f"<details><summary>The numbers ({len(panel.rows)} rows)</summary>"
        f"<div class='wide'>{behind}</div></details>"
    )


def _table(table: Table) -> str:
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in table.heads)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
