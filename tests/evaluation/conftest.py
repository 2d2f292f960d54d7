"""A scripted server that speaks OpenAI's protocol, and small evaluations that tests share."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

LAYOUT = {"layout": {"reasoning": None, "instruction": ""}}
"""What the embedded model was taught: `<answer>132</answer>` and nothing else."""

TRAINED_ARGS = LAYOUT | {"size": 400}
"""Of the training run: with fewer problems to draw from, each is found again sooner."""

TINY: dict[str, Any] = {
    "model": "tiny",
    "envs": ["reasonenv/Arithmetic-v0"],
    "env_args": LAYOUT,
    "problems": 10,
    "n": 3,
    "temperature": 1.0,
    "max_tokens": 8,
    "batch_size": 8,
}
"""An evaluation of a second: 30 completions in 4 parts."""


class Server(ThreadingHTTPServer):
    """Answers each request by `reply(path, body, number) -> (status, headers, text)`."""

    daemon_threads = True

    def __init__(self, reply: Callable[[str, Any, int], tuple[int, dict[str, str], str]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply, self.seen, self.lock = reply, [], threading.Lock()
        self.busy = self.most_busy = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def _answer(self, body: Any) -> None:
        path = self.path.removeprefix("/v1/")
        with self.server.lock:
            self.server.seen.append((path, body, dict(self.headers)))
            number = sum(seen == path for seen, *_ in self.server.seen)
            self.server.busy += 1
            self.server.most_busy = max(self.server.most_busy, self.server.busy)
        try:
            status, headers, text = self.server.reply(path, body, number)
        finally:
            with self.server.lock:
                self.server.busy -= 1
        data = text.encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *args: Any) -> None:
        pass


def solve(path: str, body: Any, number: int) -> tuple[int, dict[str, str], str]:
    """Serve `sums`, which answers `a+b=` rightly for even seeds and one too high for odd ones."""
    if path == "models":
        return 200, {}, json.dumps({"data": [{"id": "sums"}]})
    text = body["prompt"] if path == "completions" else body["messages"][-1]["content"]
    a, _, b = text.partition("=")[0].partition("+")
    said = f"<answer>{int(a) + int(b) + body['seed'] % 2}</answer>"
    choice: dict[str, Any] = {"finish_reason": "stop"}
    if path == "completions":
        choice["text"] = said
    else:
        choice["message"] = {"content": said}
    return 200, {}, json.dumps({"choices": [choice], "usage": {"completion_tokens": 6}})


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test."""
    started: list[Server] = []

    def start(reply: Callable[..., Any] = solve) -> Server:
        server = Server(reply)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def tiny_evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of one finished evaluation of the embedded model; tests only read it."""
    from reasonenv.evaluation import evaluate, make_backend, plan_evaluation

    out = tmp_path_factory.mktemp("evaluations") / "tiny"
    evaluate(plan_evaluation(**TINY), out, make_backend=make_backend)
    return out


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of one short training run of the embedded model; tests only read it."""
    from reasonenv import GRPOLearner

    out = tmp_path_factory.mktemp("runs") / "trained"
    GRPOLearner(
        out=out,
        env="reasonenv/Arithmetic-v0",
        env_args=TRAINED_ARGS,
        reward="Correct() + 0.1 * Format('answer')",
        steps=3,
        prompts_per_step=4,
        rows_per_forward=16,
        cpu_threads=1,
        grpo={"num_generations": 4, "max_completion_length": 8, "learning_rate": 3e-2},
        lora={"r": 4, "target_modules": "all-linear"},
        eval={"problems": 6},
    ).train()
    return out
