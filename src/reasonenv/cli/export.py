"""`reasonenv export RUN`: a run's adapter or merged model as a folder."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["export"]


def export(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run, a checkpoint or an adapter's folder.")
    ],
    out: Annotated[str, typer.Option(metavar="DIR", help="A new folder.")],
    merged: Annotated[
        bool, typer.Option("--merged", help="One whole model instead of the adapter.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(metavar="M", help="The base, where the adapter's is elsewhere.")
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="Of merged weights: auto, float32, bfloat16, float16.")
    ] = "auto",
    other_base: Annotated[
        bool, typer.Option("--other-base", help="The adapter's base has another name here.")
    ] = False,
) -> None:
    """Export what a run trained, with its tokenizer: the adapter, or base and adapter merged.

    Python: reasonenv.models.export(RUN, OUT, merged=True)
    """
    from reasonenv.cli.output import out as console
    from reasonenv.models.export import export as write

    done = write(run, out, merged=merged, model=model, dtype=dtype, other_base=other_base)
    needs = f", to be loaded onto {done.base}" if done.base else ""
    console.print(f"wrote {done.path}: {done.kind}{needs}", markup=False)
