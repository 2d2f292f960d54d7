"""Hostile programs and benign look-alikes: none is paid, none leaves anything behind."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.sandbox import attack_conditions as attacks

CASES = {case["id"]: case for case in attacks.cases("attacks_dev.jsonl")}
CANARY = Path("/etc/reasonenv_canary")


@pytest.fixture(scope="module")
def env(pool) -> Iterator[SimpleNamespace]:
    secret = "SECRET-7f3a91"
    os.environ["SECRET_TOKEN"] = secret
    planted = False
    if os.access("/etc", os.W_OK) and not CANARY.exists():
        CANARY.write_text("canary-text")
        planted = True
    attacks.judge_program(sandbox=pool, **attacks.OK_A)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    yield SimpleNamespace(
        pool=pool,
        problems=json.loads((attacks.DATA / "attack_problems.json").read_text()),
        baseline=attacks.probe(pool),
        processes=len(attacks.ask(pool, "processes()")),
        listener=attacks.Listener(),
        secret=secret,
        memory=pool.config.memory_bytes + (256 << 20),
        # Others share the machine's memory and cores while the suite runs.
        memory_slack=400e6,
        slack=2.0 + 4.0 * load,
    )
    if planted:
        CANARY.unlink()


@pytest.mark.parametrize("name", CASES)
def test_no_attack_is_paid_or_leaves_anything_behind(name, env):
    case = CASES[name]
    with attacks.Watch() as watch:
        verdict = attacks.judged(case, env.problems, env.pool)
    assert attacks.broken(case, verdict, watch, env) == []
