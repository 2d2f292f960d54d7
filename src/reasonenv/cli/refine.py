"""`reasonenv refine RUN`: what a finished run suggests to try next."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["refine"]


def refine(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A finished run's directory.")],
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="The study file; RUN/refine.yaml by default.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Of each arm; three by default.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=NUMBER", help="A threshold, such as cv=0.1."),
    ] = None,
    contributions: Annotated[
        str | None,
        typer.Option(metavar="STUDY", help="The directory of a finished study of single layers."),
    ] = None,
    layer_study: Annotated[
        bool,
        typer.Option("--layer-study", help="Write the study of single layers instead."),
    ] = False,
) -> None:
    """Propose changed recipes, each with a reason and its figure, and write them as a study.

    Python: reasonenv.studies.refine(RUN)
    """
    from reasonenv.cli.output import err
    from reasonenv.cli.output import out as console
    from reasonenv.errors import StudyError
    from reasonenv.studies.refining.limits import RefineLimits
    from reasonenv.studies.refining.write import refine as propose
    from reasonenv.studies.refining.write import write_layer_study

    given: dict[str, float] = {}
    for text in set_ or ():
        name, _, value = text.partition("=")
        try:
            given[name.strip()] = float(value)
        except ValueError as error:
            raise StudyError(f"--set {text!r}: write NAME=NUMBER, such as cv=0.1") from error
    try:
        numbers = None if seeds is None else [int(seed) for seed in seeds.split(",")]
    except ValueError as error:
        raise StudyError(f"--seeds {seeds!r}: whole numbers with commas, such as 0,1,2") from error
    if layer_study:
        file = write_layer_study(run, out, seeds=numbers)
        console.print(f"next: reasonenv study {file}", markup=False)
        return
    found = propose(
        run, out, seeds=numbers, limits=RefineLimits.of(given), contributions=contributions
    )
    for line in found.missing:
        err.print(f"not judged: {line}", markup=False)
    for one in found.proposals:
        console.print(f"{one.label}\n  why:    {one.reason}\n  figure: {one.figure}", markup=False)
    if found.path is None:
        console.print("nothing in this run speaks for a change", markup=False)
        return
    console.print(f"next: reasonenv study {found.path}", markup=False)
