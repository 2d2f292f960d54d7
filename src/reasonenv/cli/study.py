"""`reasonenv study STUDY`: many runs and one report."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["study"]


def study(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="A study's YAML file, or a name: study/NAME."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="The study's directory; studies/NAME by default."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="For the recipe of all runs: model=DIR."),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the runs and their arithmetic; start none.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write the report from what is there; start no run.")
    ] = False,
) -> None:
    """Run a grid, a list or a search of runs, resume it, and report with intervals.

    The same command goes on where it was stopped: finished runs are not run again, unfinished ones
    resume from their checkpoint, failed ones are tried anew. The exit status is 1 if a run failed.

    Python: reasonenv.studies.run_study(STUDY)
    """
    from pathlib import Path

    from reasonenv.cli.output import err
    from reasonenv.cli.output import out as console
    from reasonenv.errors import StudyError
    from reasonenv.studies import Plan, StudySpec, run_study, write_study_report
    from reasonenv.studies.spec import study_names

    if study is None:
        raise StudyError(f"which study? {', '.join(study_names())}, or a path to a .yaml file")
    if dry_run:
        spec, folder = StudySpec.load(study, set_ or ())
        if spec.search is not None:
            console.print(spec.to_yaml(), markup=False)
            spec.base_fields(folder)
            return
        target = Path(out) if out is not None else Path("studies") / spec.name
        console.print(Plan.make(spec, target, folder).describe(), markup=False)
        return
    if report:
        file, said = write_study_report(study, out, overrides=set_ or ())
        console.print(said, markup=False)
        console.print(f"report: {file}", markup=False)
        return
    result = run_study(
        study, out, overrides=set_ or (), workers=workers,
        tell=lambda line: err.print(line, markup=False),
    )  # fmt: skip
    if result.stopped:
        console.print("stopped; the same command goes on", markup=False)
    if result.report is not None:
        console.print(result.finding, markup=False)
        console.print(f"report: {result.report}", markup=False)
    if result.failed:
        err.print(f"{len(result.failed)} failed: {', '.join(result.failed)}", markup=False)
        raise typer.Exit(1)
    if result.stopped:
        raise typer.Exit(130)
