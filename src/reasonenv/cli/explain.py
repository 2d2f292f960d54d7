"""`reasonenv explain KIND GOLD ANSWER`: why an answer is right or wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from reasonenv.cli.options import given
from reasonenv.errors import DataError, did_you_mean

__all__ = ["explain"]

KINDS = ("math",)


def explain(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="math.")],
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The reference answer.")],
    answer: Annotated[
        str | None, typer.Argument(metavar="ANSWER", help="The bare answer; -- before -5.")
    ] = None,
    completion: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A whole completion instead of ANSWER; - is stdin."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Of a completion, only a box counts.")
    ] = False,
    tolerance: Annotated[
        float | None, typer.Option(metavar="X", help="Relative, for golds that are rounded.")
    ] = None,
    percent: Annotated[
        str | None, typer.Option(metavar="MODE", help="strict (default) or lenient.")
    ] = None,
    units: Annotated[
        bool | None,
        typer.Option("--units/--no-units", help="Whether a unit on one side only is free."),
    ] = None,
    must_be_evaluated: Annotated[
        bool | None, typer.Option("--must-be-evaluated", help="2^10 does not do for 1024.")
    ] = None,
    renamed_constants: Annotated[
        bool | None, typer.Option("--renamed-constants", help="C may be called K.")
    ] = None,
) -> None:
    """Explain a verdict: the status, what decided, and both sides as they were read.

    Exit status 0 whatever the verdict.

    Python: reasonenv.checkers.math.explain(GOLD, ANSWER, MathOptions(...))
    """
    from reasonenv.checkers.math import MathJudge, extract_answer
    from reasonenv.checkers.math import explain as explained
    from reasonenv.cli.output import out

    if kind not in KINDS:
        raise DataError(f"nothing of kind {kind!r} can be explained; {did_you_mean(kind, KINDS)}")
    if (answer is None) == (completion is None):
        raise DataError("give ANSWER, or --completion FILE for a whole completion, and not both")
    if strict and answer is not None:
        raise DataError("--strict says where an answer stands: give --completion FILE")
    try:
        judge = MathJudge(
            strict=strict,
            **given(
                tolerance=tolerance,
                percent=percent,
                units=units,
                must_be_evaluated=must_be_evaluated,
                renamed_constants=renamed_constants,
            ),
        )
    except ValueError as error:
        raise DataError(str(error)) from error
    if completion is not None:
        found = extract_answer(_text(completion), judge.format, strict)
        if found.answer is None:
            out.print(f"no_answer: {found.place}", markup=False)
            return
        out.print(f"the answer stands in: {found.place}", markup=False)
        answer = found.answer
    out.print(explained(gold, str(answer), judge.options), markup=False)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(
            f"{file}: cannot be read ({reason}); give a text file, or - for stdin"
        ) from error
    return data.decode("utf-8", errors="replace")
