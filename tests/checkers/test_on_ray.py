"""Judging on a real Ray cluster: the same verdicts, and what becomes of lost workers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv import Problem, Rollout, Status, Verdict
from reasonenv.errors import MissingExtraError, PoolUnavailableError

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    ray = None

from reasonenv.checkers.on_ray import RayJudge

needs_ray = pytest.mark.skipif(ray is None, reason="ray is not installed (the extra `ray`)")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without CPUs, and one machine that judges."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    made.add_node(num_cpus=2)
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


def judged(env: Any, said: list[tuple[Problem, str]]) -> list[Verdict]:
    return [one.verdict for one in env.judge([Rollout(p, text, "g") for p, text in said])]


MATHS = [("1/2", "0.5"), ("x^2-1", "(x-1)(x+1)"), ("7", "8"), ("\\frac{3}{4}", "nothing")]
PROGRAM = Problem("f(n) is n + 1.", ("assert f(1) == 2",), {"entry_point": "f"})
HOPS = Problem("Which of them hops?", "A", {"options": ("a frog", "a stone")})


def environments() -> list[tuple[Any, list[tuple[Problem, str]]]]:
    """One environment a kind, with answers, right and wrong ones among them."""
    maths = [Problem(f"{i}?", gold) for i, (gold, _) in enumerate(MATHS)]
    return [
        (
            reasonenv.MathEnv(maths),
            [(p, f"<answer>{said}</answer>") for p, (_, said) in zip(maths, MATHS, strict=True)],
        ),
        (
            reasonenv.ChoiceEnv([HOPS]),
            [(HOPS, f"<answer>{said}</answer>") for said in ("A", "B", "neither")],
        ),
        (
            reasonenv.CodeEnv([PROGRAM], judge_options={"backend": "unsafe-local"}),
            [(PROGRAM, f"```python\ndef f(n):\n    return n + {i}\n```") for i in (0, 1)],
        ),
    ]


@needs_ray
def test_verdicts_are_those_of_judging_here(cluster: Any) -> None:
    for env, said in environments():
        here = judged(env, said)
        assert {one.status for one in here} >= {Status.CORRECT, Status.INCORRECT}
        env.judge_one = RayJudge(env.judge_one)
        assert judged(env, said) == here


@dataclass(frozen=True)
class Dies:
    """Kills its worker for as long as `left` names a file with letters in it."""

    left: str

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        file = Path(self.left)
        if text := file.read_text():
            file.write_text(text[1:])
            os.kill(os.getpid(), signal.SIGKILL)
        return Verdict(Status.CORRECT, 1.0, completion)


@needs_ray
@pytest.mark.parametrize(
    ("deaths", "status"), [("x", Status.CORRECT), ("xx", Status.CHECKER_ERROR)]
)
def test_a_lost_worker_is_replaced_once(
    cluster: Any, tmp_path: Path, deaths: str, status: Status
) -> None:
    left = tmp_path / "left"
    left.write_text(deaths)
    verdict = RayJudge(Dies(str(left)))(Problem("1", "1"), "1")
    assert verdict.status is status
    assert left.read_text() == ""
    if status is Status.CHECKER_ERROR:
        assert "lost" in verdict.detail["error"]


@dataclass(frozen=True)
class Waits:
    """Says that it began, and ends once it may."""

    folder: str

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        folder = Path(self.folder)
        (folder / f"began-{completion}-{os.getpid()}").touch()
        while not (folder / "go").exists():
            time.sleep(0.02)
        return Verdict(Status.CORRECT, 1.0, completion)


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@needs_ray
def test_a_lost_machine_is_replaced_by_another(cluster: Any, tmp_path: Path) -> None:
    other = cluster.add_node(num_cpus=1, resources={"other": 1})
    judge = RayJudge(Waits(str(tmp_path)), cpus=1)
    judge.connect()
    task = ray.remote(num_cpus=1, max_retries=0, resources={"other": 0.01})
    original = judge._ask
    problem, found = Problem("1", "1"), []

    def first_there(*asked: Any) -> Any:
        judge._ask = original
        return task(lambda: judge.judge(*asked)).remote()

    judge._ask = first_there
    thread = threading.Thread(target=lambda: found.append(judge(problem, "1")))
    thread.start()
    wait_for(lambda: len(list(tmp_path.glob("began-*"))) == 1)
    cluster.remove_node(other)
    wait_for(lambda: len(list(tmp_path.glob("began-*"))) == 2)
    (tmp_path / "go").touch()
    thread.join(60)
    assert [one.status for one in found] == [Status.CORRECT]


@needs_ray
def test_the_queue_is_bounded(cluster: Any, tmp_path: Path) -> None:
    judge = RayJudge(Waits(str(tmp_path)), queue=1, cpus=0.1)
    threads = [
        threading.Thread(target=judge, args=(Problem("1", "1"), text)) for text in ("a", "b")
    ]
    for thread in threads:
        thread.start()
    wait_for(lambda: list(tmp_path.glob("began-*")))
    assert judge._slots._value == 0
    assert len(list(tmp_path.glob("began-*"))) == 1
    (tmp_path / "go").touch()
    for thread in threads:
        thread.join(60)
    assert len(list(tmp_path.glob("began-*"))) == 2


@needs_ray
def test_no_verdict_in_time_is_no_evidence(cluster: Any, tmp_path: Path) -> None:
    verdict = RayJudge(Waits(str(tmp_path)), wait_seconds=0.5)(Problem("1", "1"), "1")
    assert verdict.status is Status.CHECKER_TIMEOUT
    (tmp_path / "go").touch()


@needs_ray
def test_it_pickles_without_its_connection(cluster: Any, tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.write_text("")
    judge = RayJudge(Dies(str(left)), queue=3)
    judge.connect()
    again = pickle.loads(pickle.dumps(judge))
    assert (again.queue, again.judge) == (3, judge.judge)
    assert again(Problem("1", "1"), "1").status is Status.CORRECT


@needs_ray
def test_a_cluster_that_is_not_there_says_how_to_start_one(monkeypatch: Any) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def refuse(**_: Any) -> None:
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(PoolUnavailableError, match="ray start --head"):
        RayJudge(Dies("")).connect()


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # its import fails as if it were not installed
    with pytest.raises(MissingExtraError, match=r"reasonenv\[ray\]"):
        RayJudge(Dies(""))
