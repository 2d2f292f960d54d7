"""`reasonenv doctor`: what this machine has, and what is missing for what."""

from __future__ import annotations

import typer

__all__ = ["doctor"]


def doctor() -> None:
    """Check versions, torch's device, GPUs, Docker engine and hub, one line each with the fix.

    Exit status 1 if something is broken or a version is outside the tested ones, with one pip line
    that mends all of them; a missing extra, engine, GPU or hub is only said.
    Python: reasonenv.doctor.examine()
    """
    from reasonenv.cli.output import out
    from reasonenv.doctor import examine, refusal

    failed = False
    findings = examine()
    for finding in findings:
        failed |= finding.level == "broken"
        colour = {"ok": "green", "missing": "yellow", "broken": "red"}[finding.level]
        out.print(f"[{colour}]{finding.level:8}[/]{finding.name:16}", end="")
        out.print(finding.says + (f"  -> {finding.fix}" if finding.fix else ""), markup=False)
    if refused := refusal(findings):
        out.print(refused, markup=False)
    if failed:
        raise typer.Exit(1)
