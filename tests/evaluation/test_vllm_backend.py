"""The vLLM back end on a real engine, where one is installed: it says what transformers says."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("vllm") is None, reason="vllm is not installed"
)

# An engine starts processes of its own, so it runs in a script that they can import.
SCRIPT = """
import json, sys
from pathlib import Path

def main(folder, out):
    import reasonenv
    from reasonenv.evaluation import Sampling
    from reasonenv.evaluation.backends.hf import TransformersBackend
    from reasonenv.evaluation.backends.vllm_engine import VLLMBackend

    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test",
                         layout={"reasoning": None, "instruction": ""})
    adapter = Path(folder)
    said = {}
    engine = VLLMBackend("tiny", adapter=adapter, dtype="float32",
                         engine={"enforce_eager": True, "max_model_len": 256})
    other = TransformersBackend("tiny", adapter=adapter, dtype="float32")
    base = TransformersBackend("tiny", dtype="float32")
    for name, backend in (("vllm", engine), ("transformers", other), ("base", base)):
        asked = [backend.ask(env, env.problems[i]) for i in range(40)]
        drawn = backend.sample(asked, Sampling(temperature=0, max_tokens=8), range(40))
        said[name] = [[one.text, one.n_tokens, one.truncated] for one in drawn]
    asked = [engine.ask(env, env.problems[0])] * 16
    hot = Sampling(n=16, temperature=1.0, max_tokens=8)
    said["seeded"] = [[s.text for s in engine.sample(asked, hot, range(16))] for _ in range(2)]
    short = engine.sample(asked[:1], Sampling(temperature=0, max_tokens=2), [0])
    said["short"] = [short[0].n_tokens, short[0].truncated]
    Path(out).write_text(json.dumps(said))

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def test_vllm_says_what_transformers_says_and_uses_the_adapter(
    trained_run: Path, tmp_path: Path
) -> None:
    script, out = tmp_path / "engine.py", tmp_path / "said.json"
    script.write_text(SCRIPT)
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    }
    command = [sys.executable, str(script), str(trained_run / "adapter"), str(out)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(out.read_text())
    assert said["vllm"] == said["transformers"]
    assert said["vllm"] != said["base"]
    assert said["seeded"][0] == said["seeded"][1]
    assert len(set(said["seeded"][0])) > 1
    assert said["short"] == [2, True]
