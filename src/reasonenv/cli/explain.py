"""`reasonenv explain KIND GOLD ANSWER`: why an answer is right or wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from reasonenv.cli.options import given
from reasonenv.errors import DataError, did_you_mean

__all__ = ["explain"]

KINDS = ("math", "choice")


def explain(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="math or choice.")],
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The reference answer, or label.")],
    answer: Annotated[
        str | None,
        typer.Argument(metavar="ANSWER", help="The bare answer; -- before -5. Choice: a reply."),
    ] = None,
    completion: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A whole completion instead of ANSWER; - is stdin."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="TEXT", help="Choice: an option's text, once for each."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="LABEL", help="Choice: an option's label, A B C if none."),
    ] = None,
    multiple: Annotated[
        bool, typer.Option("--multiple", help="Choice: several may be right: GOLD is A,C.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Math: of a completion, only a box counts.")
    ] = False,
    tolerance: Annotated[
        float | None, typer.Option(metavar="X", help="Math: relative, for golds that are rounded.")
    ] = None,
    percent: Annotated[
        str | None, typer.Option(metavar="MODE", help="Math: strict (default) or lenient.")
    ] = None,
    units: Annotated[
        bool | None,
        typer.Option("--units/--no-units", help="Math: whether a unit on one side only is free."),
    ] = None,
    must_be_evaluated: Annotated[
        bool | None, typer.Option("--must-be-evaluated", help="Math: 2^10 does not do for 1024.")
    ] = None,
    renamed_constants: Annotated[
        bool | None, typer.Option("--renamed-constants", help="Math: C may be called K.")
    ] = None,
) -> None:
    """Explain a verdict: the status, what decided, and both sides as they were read.

    Exit status 0 whatever the verdict.

    Python: reasonenv.checkers.math.explain(GOLD, ANSWER, MathOptions(...)),
    reasonenv.checkers.choice.explain(REPLY, OPTIONS, GOLD)
    """
    if kind not in KINDS:
        raise DataError(f"nothing of kind {kind!r} can be explained; {did_you_mean(kind, KINDS)}")
    if (answer is None) == (completion is None):
        raise DataError("give ANSWER, or --completion FILE for a whole completion, and not both")
    maths = given(
        tolerance=tolerance,
        percent=percent,
        units=units,
        must_be_evaluated=must_be_evaluated,
        renamed_constants=renamed_constants,
    )
    if kind == "choice":
        if maths or strict:
            raise DataError("--strict and the options of maths say nothing about a choice")
        reply = _text(completion) if completion is not None else str(answer)
        _choice(gold, reply, option or [], label, multiple)
    elif option or label or multiple:
        raise DataError("--option, --label and --multiple are for choice: reasonenv explain choice")
    else:
        _math(gold, answer, completion, strict, maths)


def _choice(
    gold: str, reply: str, options: list[str], labels: list[str] | None, multiple: bool
) -> None:
    from reasonenv.checkers.choice import explain as explained
    from reasonenv.cli.output import out

    if len(options) < 2:
        raise DataError(
            f"a choice has at least two options, got {len(options)}; give each one: "
            "--option Sydney --option Canberra"
        )
    golds = gold.replace(",", " ").split() if multiple else gold
    out.print(
        explained(reply, options, golds, labels=labels or None, multiple=multiple), markup=False
    )


def _math(
    gold: str, answer: str | None, completion: str | None, strict: bool, options: dict[str, Any]
) -> None:
    from reasonenv.checkers.math import MathJudge, extract_answer
    from reasonenv.checkers.math import explain as explained
    from reasonenv.cli.output import out

    if strict and answer is not None:
        raise DataError("--strict says where an answer stands: give --completion FILE")
    try:
        judge = MathJudge(strict=strict, **options)
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
