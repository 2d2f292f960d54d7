"""`html_page`: a run's rollouts as one self-contained page, with paging and filters.

Data stand in the page as JSON that no text can break out of, and are shown as text only; a content
security policy forbids everything but the page's own script. Nothing is loaded from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

from reasonenv.evaluation.browse.groups import RolloutGroup, is_flipped, suspicions
from reasonenv.types import Status

__all__ = ["html_page"]


def html_page(title: str, groups: Iterable[RolloutGroup], notes: Iterable[str] = ()) -> str:
    """Return the page.

    Args:
        title: of the page: the run's directory.
        groups: what it shows, in order.
        notes: sentences above them.
    """
    folder = resources.files("reasonenv.evaluation.browse")
    script = (folder / "page.js").read_text(encoding="utf-8")
    style = (folder / "page.css").read_text(encoding="utf-8")
    data = _inert([_plain(group) for group in groups])
    shown = "".join(f"<p class=note>{html.escape(note)}</p>" for note in notes)
    policy = f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'"
    return (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name=viewport content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{style}</style></head><body>"
        f"<h1>{html.escape(title)}</h1>{shown}"
        "<nav id=bar></nav><main id=groups></main>"
        f'<script id=data type="application/json">{data}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _digest(text: str) -> str:
    """Return the hash by which the page's policy knows its own script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(value: Any) -> str:
    """Return JSON in ASCII without `<`, `>` and `&`: nothing in it is markup."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _plain(group: RolloutGroup) -> dict[str, Any]:
    return {
        "key": group.key,
        "collection": group.collection,
        "step": group.step,
        "problem": group.problem_id,
        "prompt": group.prompt,
        "right": group.right,
        "unscored": group.unscored,
        "flipped": is_flipped(group),
        "members": [
            {
                "status": row["status"],
                "evidence": Status(row["status"]).is_evidence,
                "answer": row.get("answer"),
                "text": str(row.get("prefill") or "") + row["completion"],
                "tokens": row.get("n_tokens"),
                "cut": bool(row.get("truncated")),
                "reward": row.get("reward"),
                "advantage": row.get("advantage"),
                "parts": row.get("parts") or {},
                "suspect": suspicions(row, group),
            }
            for row in group.members
        ],
    }
