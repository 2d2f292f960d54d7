"""`reasonenv explain KIND GOLD ANSWER`: why an answer is right or wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from reasonenv.answer_format import AnswerFormat
from reasonenv.cli.options import given
from reasonenv.errors import DataError, did_you_mean
from reasonenv.types import Problem, Verdict

__all__ = ["explain"]

KINDS = ("math",)


def explain(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="math.")],
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The reference answer.")],
    answer: Annotated[
        str | None, typer.Argument(metavar="ANSWER", help="The bare answer; `--` before -5.")
    ] = None,
    completion: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A whole completion instead of ANSWER; - is stdin."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Only the demanded place of a completion counts.")
    ] = False,
    boxed: Annotated[
        bool, typer.Option("--boxed", help="The place is a box; otherwise <answer> tags.")
    ] = False,
    tolerance: Annotated[
        float | None, typer.Option(metavar="X", help="Relative, for golds that are rounded.")
    ] = None,
    percent: Annotated[str | None, typer.Option(metavar="MODE", help="strict or lenient.")] = None,
    units: Annotated[str | None, typer.Option(metavar="MODE", help="How units count.")] = None,
    must_be_evaluated: Annotated[
        bool | None, typer.Option("--must-be-evaluated", help="2^10 does not do for 1024.")
    ] = None,
    renamed_constants: Annotated[
        bool | None, typer.Option("--renamed-constants", help="C1 may be called K.")
    ] = None,
) -> None:
    """Explain a verdict: the status, the rung that decided, and both sides in normal form.

    Exit status 0 whatever the verdict; 1 only where nothing could be judged.

    Python: reasonenv.checkers.judge_answer(GOLD, ANSWER), or MathJudge(...)(problem, completion)
    """
    from reasonenv.cli.output import out

    if kind not in KINDS:
        raise DataError(f"nothing of kind {kind!r} can be explained; {did_you_mean(kind, KINDS)}")
    if (answer is None) == (completion is None):
        raise DataError("give ANSWER, or --completion FILE for a whole completion, and not both")
    if answer is not None and (strict or boxed):
        raise DataError("--strict and --boxed say where an answer stands: give --completion FILE")
    options = given(
        tolerance=tolerance,
        percent=percent,
        units=units,
        must_be_evaluated=must_be_evaluated,
        renamed_constants=renamed_constants,
    )
    place = {"strict": strict, "boxed": boxed}
    for line in _lines(gold, _judge(gold, answer, completion, place, options)):
        out.print(line, markup=False)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(
            f"{file}: cannot be read ({reason}); give a text file, or - for stdin"
        ) from error
    return data.decode("utf-8", errors="replace")


def _judge(
    gold: str,
    answer: str | None,
    completion: str | None,
    place: dict[str, bool],
    options: dict[str, Any],
) -> Verdict:
    from reasonenv.checkers import MathJudge, judge_answer, judge_safely

    try:
        if answer is not None:
            return judge_answer(gold, answer, **options)
        layout = AnswerFormat(answer=None, boxed=True) if place["boxed"] else AnswerFormat()
        judge = MathJudge(place["strict"], layout if any(place.values()) else None, **options)
    except (TypeError, ValueError) as error:  # an option's value that the judge refuses
        raise DataError(str(error)) from error
    return judge_safely(judge, Problem("?", gold), _text(str(completion)))


def _lines(gold: str, verdict: Verdict) -> Iterator[str]:
    detail = dict(verdict.detail)
    yield f"verdict   {verdict.status}"
    yield f"rung      {detail.pop('rung', 'none: nothing was compared')}"
    for name, raw in (("gold", gold), ("answer", verdict.answer)):
        read = detail.pop(name, None)
        normal = "" if read is None else f"   read as   {read}"
        yield f"{name:9} {'(none found)' if raw is None else raw}{normal}"
    for name, value in detail.items():
        yield f"{name:9} {value}"
