"""Every back end passes the suite, or declares what it lacks."""

from __future__ import annotations

import pytest

from reasonenv.sandbox import SandboxConfig, UnsafeSandboxWarning, get_sandbox
from reasonenv.sandbox.conformance import CASES, run_suite


def failures(box):
    return [finding for finding in run_suite(box) if finding.level == "failed"]


def test_docker_passes_every_case(pool):
    assert pool.lacks == frozenset()
    assert failures(pool) == []


def test_unsafe_local_warns_and_declares_what_it_lacks():
    with pytest.warns(UnsafeSandboxWarning, match="isolates nothing"):
        box = get_sandbox("unsafe-local", SandboxConfig(size=1))
    try:
        assert failures(box) == []
        assert box.lacks == {case.group for case in CASES} - {"runs", "verdicts", "limits"}
    finally:
        box.close()
