"""How commands speak: results to stdout, everything about them to stderr."""

from __future__ import annotations

from rich.console import Console

__all__ = ["err", "out", "show_error"]

out = Console(highlight=False, soft_wrap=True, emoji=False)  # `:key:` in a prompt stays as it is
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def show_error(error: BaseException) -> None:
    """Print an error's kind and message."""
    err.print(f"[bold red]{type(error).__name__}[/]: ", end="")
    err.print(str(error), markup=False)
