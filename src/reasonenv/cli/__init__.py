"""The command line: `reasonenv COMMAND`, one file a command, no logic of its own."""

from __future__ import annotations

import io
import sys

from reasonenv.errors import ReasonEnvError

__all__ = ["main"]


def main(argv: list[str] | None = None) -> None:
    """Run a command; errors that a person can act on are shown without a traceback."""
    from reasonenv.cli.app import app
    from reasonenv.cli.output import show_error

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # prompts hold what a terminal may not know
            stream.reconfigure(errors="backslashreplace")
    try:
        app(argv)
    except ReasonEnvError as error:
        show_error(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        sys.exit(0)
