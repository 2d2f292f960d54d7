"""The server back end against a scripted server: what it sends, retries, and refuses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv.errors import BackendError
from reasonenv.evaluation import Sampling, evaluate, make_backend, open_run, plan_evaluation
from reasonenv.evaluation.backends import http
from reasonenv.evaluation.backends.server import ServerBackend

from .conftest import LAYOUT, Server, solve

Serve = Callable[..., Server]


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(http, "_LONGEST_PAUSE", 0.05)


def plan_for(url: str, **changes: Any) -> Any:
    fields: dict[str, Any] = {
        "model": "sums",
        "server": url,
        "backend": "server",
        "envs": ["reasonenv/Arithmetic-v0"],
        "env_args": LAYOUT,
        "problems": 6,
        "n": 4,
        "batch_size": 5,
    }
    return plan_evaluation(**fields | changes)


def completions(server: Server) -> list[Any]:
    return [body for path, body, _ in server.seen if path != "models"]


@pytest.mark.parametrize("template", ["chat", "plain", "raw"])
def test_a_server_is_asked_once_a_completion_with_all_that_is_stated(
    serve: Serve, tmp_path: Path, template: str
) -> None:
    server = serve()
    plan = plan_for(server.url, template=template, temperature=0.7, top_k=20, max_tokens=9)
    results = evaluate(plan, tmp_path / "run", make_backend=make_backend)
    bodies = completions(server)
    assert len(bodies) == 24
    assert len({body["seed"] for body in bodies}) == 24
    for body in bodies:
        told = {k: body[k] for k in ("model", "temperature", "top_p", "top_k", "max_tokens")}
        assert told == {
            "model": "sums", "temperature": 0.7, "top_p": 1.0, "top_k": 20, "max_tokens": 9,
        }  # fmt: skip
    rows = list(open_run(tmp_path / "run").rows())
    right = [row["status"] == "correct" for row in rows]
    assert 0 < sum(right) < 24
    assert results["benchmarks"]["Arithmetic"]["accuracy"]["value"] == pytest.approx(
        sum(right) / 24
    )
    assert {row["n_tokens"] for row in rows} == {6}
    assert results["backend"]["server"] == server.url


def test_no_more_requests_than_asked_for_are_under_way(serve: Serve, tmp_path: Path) -> None:
    def slow(path: str, body: Any, number: int) -> Any:
        time.sleep(0.02)
        return solve(path, body, number)

    server = serve(slow)

    def narrow(plan: Any) -> Any:
        return make_backend(plan, concurrency=3)

    evaluate(plan_for(server.url, batch_size=24), tmp_path / "run", make_backend=narrow)
    assert 1 < server.most_busy <= 3


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_turns_requests_away_is_asked_again(
    serve: Serve, tmp_path: Path, status: int
) -> None:
    def busy(path: str, body: Any, number: int) -> Any:
        if path != "models" and number % 2:
            return status, {"Retry-After": "0.001"}, "come back later"
        return solve(path, body, number)

    server = serve(busy)
    evaluate(plan_for(server.url), tmp_path / "run", make_backend=make_backend)
    assert len(list(open_run(tmp_path / "run").rows())) == 24
    assert len(completions(server)) > 24


def test_garbage_is_asked_again_and_in_the_end_told(serve: Serve, tmp_path: Path) -> None:
    def broken(path: str, body: Any, number: int) -> Any:
        if path != "models" and number > 10:
            return 200, {}, "<html>the proxy is out of order</html>"
        return solve(path, body, number)

    server = serve(broken)
    plan = plan_for(server.url)
    with pytest.raises(BackendError, match=r"no completion.*the proxy is out of order.*7 times"):
        evaluate(plan, tmp_path / "run", make_backend=make_backend)
    kept = list(open_run(tmp_path / "run").rows())
    assert len(kept) == 10  # whole parts of five stay ...
    server.reply = solve
    evaluate(plan, tmp_path / "run", make_backend=make_backend)
    rows = list(open_run(tmp_path / "run").rows())
    assert len(rows) == 24  # ... and the same call goes on
    assert rows[:10] == kept


@pytest.mark.parametrize(
    "answer",
    [
        "null", "[]", "{}", '{"choices": []}', '{"choices": [{"message": {"content": 3}}]}',
        '{"choices": [{"message": null}]}', '{"choices": 1}', "", "\x00", '{"error": "x"}',
    ],
)  # fmt: skip
def test_no_answer_of_a_server_is_taken_for_a_completion_unless_it_is_one(
    serve: Serve, answer: str
) -> None:
    server = serve(
        lambda path, body, n: solve(path, body, n) if path == "models" else (200, {}, answer)
    )
    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test", **LAYOUT)
    backend = ServerBackend(server.url, "sums", retries=1)
    with pytest.raises(BackendError, match="no completion"):
        backend.sample([backend.ask(env, env.problems[0])], Sampling(), [1])


def test_reasoning_that_a_server_took_out_is_put_back(serve: Serve) -> None:
    message = {"content": "<answer>3</answer>", "reasoning_content": "1 and 2"}
    choice = {"message": message, "finish_reason": "length"}
    text = json.dumps({"choices": [choice]})
    server = serve(
        lambda path, body, n: solve(path, body, n) if path == "models" else (200, {}, text)
    )
    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test", **LAYOUT)
    backend = ServerBackend(server.url, "sums")
    [sample] = backend.sample([backend.ask(env, env.problems[0])], Sampling(), [1])
    assert sample.text == "<think>\n1 and 2\n</think>\n<answer>3</answer>"
    assert sample.truncated
    assert sample.n_tokens is None


def test_an_unreachable_server_is_told(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"cannot be reached .*refused.*is the server up"):
        evaluate(plan_for("http://127.0.0.1:9/v1"), tmp_path / "run", make_backend=make_backend)


def test_a_server_that_serves_another_model_is_told_with_what_it_serves(serve: Serve) -> None:
    with pytest.raises(BackendError, match=r"does not serve 'other'; it serves: sums"):
        ServerBackend(serve().url, "other")


@pytest.mark.parametrize("listed", ["{}", "[1]", '"hello"', '{"data": [{}]}'])
def test_what_is_no_server_of_this_kind_is_told(serve: Serve, listed: str) -> None:
    server = serve(lambda path, body, n: (200, {}, listed))
    with pytest.raises(BackendError, match="lists no models"):
        ServerBackend(server.url, "sums")


def test_a_refused_key_is_told_and_the_key_is_in_no_message(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(lambda path, body, n: (401, {}, "who are you"))
    monkeypatch.setenv("MY_KEY", "secret-key")
    with pytest.raises(BackendError, match=r"401: who are you.*API key") as caught:
        make_backend(plan_for(server.url), api_key_env="MY_KEY")
    assert server.seen[0][2]["Authorization"] == "Bearer secret-key"
    assert "secret" not in str(caught.value)


def test_an_adapter_is_the_servers_affair(trained_run: Path) -> None:
    from reasonenv.errors import EvaluationError

    with pytest.raises(EvaluationError, match="lora-modules"):
        plan_for("http://127.0.0.1:9/v1", adapter=str(trained_run))


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", ""])
def test_an_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(BackendError, match="http://"):
        ServerBackend(url, "sums")
