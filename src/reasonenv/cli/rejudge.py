"""`reasonenv rejudge RUN`: judges a run's stored completions again."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["rejudge"]


def rejudge(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A training run or an evaluation.")],
    write: Annotated[
        bool, typer.Option("--write", help="Replace the stored verdicts instead.")
    ] = False,
    rows: Annotated[int, typer.Option(min=0, help="How many moved completions to show.")] = 30,
) -> None:
    """Judge a run's completions again with the present checkers, and show what moved.

    The new verdicts are written to RUN/rejudged/, beside the old ones; --write replaces them, part
    by part. Rewards and advantages of a training run stay what it was trained on.

    Python: reasonenv.evaluation.rejudge(RUN)
    """
    from reasonenv.cli.output import err, out
    from reasonenv.evaluation.rejudging import rejudge as judge_again
    from reasonenv.evaluation.rejudging import rejudged_text

    def progress(count: int) -> None:
        if err.is_terminal:
            err.print(f"{count:,} judged", style="dim", end="\r")

    done = judge_again(run, write=write, progress=progress)
    out.print(rejudged_text(done, rows), markup=False)
    place = "in place" if write else str(done.run / "rejudged")
    out.print(f"new verdicts: {place} ({len(done.written):,} files)", markup=False)
    if write and (done.run / "eval.yaml").is_file():
        out.print(f"figures anew: reasonenv eval {done.run}", markup=False)
