"""`reasonenv sandbox ...`: the image that programs run in, and what runs of it."""

from __future__ import annotations

from typing import Annotated

import typer

from reasonenv.sandbox.base import default_image

__all__ = ["sandbox"]

sandbox = typer.Typer(
    name="sandbox",
    help="Build, look at, clean up and test the sandbox that programs run in.",
    no_args_is_help=True,
    add_completion=False,
)

IMAGE = default_image()
_Image = Annotated[str, typer.Option(metavar="NAME", help="The image's name.")]


@sandbox.command()
def build(
    base: Annotated[
        str | None,
        typer.Option(metavar="IMAGE", help="An image with Python 3.11 or later to build on."),
    ] = None,
    rootfs: Annotated[
        str | None,
        typer.Option(metavar="TAR", help="A root file system with Python, where none is at hand."),
    ] = None,
    image: _Image = IMAGE,
) -> None:
    """Build the sandbox's image.

    Where no registry can be reached: `make_rootfs.sh rootfs.tar` (its path is shown by `status`)
    makes a root file system from Debian packages.

    Python: reasonenv.sandbox.engine.build_image("reasonenv-sandbox:python")
    """
    from reasonenv.cli.output import out
    from reasonenv.sandbox.engine import build_image

    if base is not None and rootfs is not None:
        raise typer.BadParameter("give --base or --rootfs, not both")
    build_image(image, base, rootfs, say=lambda line: out.print(line, markup=False))
    out.print(f"built {image}", markup=False)


@sandbox.command()
def status(image: _Image = IMAGE) -> None:
    """Say what engine answers, whether the image fits, and what runs. Exit status 1 if unusable."""
    from reasonenv.cli.output import out
    from reasonenv.errors import ReasonEnvError
    from reasonenv.sandbox.engine import check_image, connect, image_folder, orphans

    out.print(f"files      {image_folder()}", markup=False, soft_wrap=True)
    try:
        client = connect()
        version = client.version().get("Version", "?")
        out.print(f"engine     {version}", markup=False)
        running = orphans(client, everything=True)
        left = orphans(client)
        out.print(f"containers {len(running)}, of which {len(left)} ownerless", markup=False)
        check_image(client, image)
    except ReasonEnvError as error:
        out.print(f"unusable   {error}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    out.print(f"image      {image} fits this version", markup=False)


@sandbox.command()
def prune(
    everything: Annotated[
        bool, typer.Option("--all", help="Also those whose owner still runs.")
    ] = False,
) -> None:
    """Remove containers whose owner is gone.

    Python: reasonenv.sandbox.engine.prune(reasonenv.sandbox.engine.connect())
    """
    from reasonenv.cli.output import out
    from reasonenv.sandbox import engine

    removed = engine.prune(engine.connect(), everything)
    out.print(f"removed {removed} containers", markup=False)


@sandbox.command()
def selftest(
    backend: Annotated[
        str, typer.Option(metavar="NAME", help="docker or unsafe-local.")
    ] = "docker",
) -> None:
    """Run the conformance suite on this machine. Exit status 1 if a case fails.

    Python: reasonenv.sandbox.conformance.run_suite(reasonenv.sandbox.get_sandbox())
    """
    from reasonenv.cli.output import out
    from reasonenv.sandbox import get_sandbox
    from reasonenv.sandbox.conformance import run_suite

    box = get_sandbox(backend)
    failed = 0
    try:
        for finding in run_suite(box):
            failed += finding.level == "failed"
            colour = {"passed": "green", "lacks": "yellow", "failed": "red"}[finding.level]
            out.print(f"[{colour}]{finding.level:7}[/]{finding.case:40}", end="")
            out.print(finding.says[:300], markup=False)
    finally:
        box.close()
    if failed:
        raise typer.Exit(1)
