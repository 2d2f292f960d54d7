"""Scores of a judge model on disk: one small file an answer, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reasonenv.errors import StorageError
from reasonenv.files import write_atomic

__all__ = ["ScoreCache"]


class ScoreCache:
    """A folder of scores by key; several processes may share it.

    Args:
        folder: made when the first score is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def get(self, key: str) -> float | None:
        """Return the score under `key`, None where there is none, or a file that holds none."""
        try:
            content: Any = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        score = content.get("score") if isinstance(content, dict) else None
        if isinstance(score, bool) or not isinstance(score, int | float):
            return None
        return float(score) if 0.0 <= score <= 1.0 else None

    def put(self, key: str, score: float, reply: str) -> None:
        """Keep a score, and the reply in which it stood, for people to read.

        Raises:
            StorageError: it cannot be written.
        """
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"{path.parent}: the judge's cache cannot be made ({error.strerror or error}); "
                "give JudgeModel(cache=) a folder that can be written to, or none"
            ) from error
        write_atomic(path, json.dumps({"score": score, "reply": reply}))

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
