"""The README's Python blocks and commands do what it says, in a clean clone."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from reasonenv.cli.app import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^reasonenv [^#\n]*", README, re.MULTILINE)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that looks like the clone's root, where a block may leave its run directories."""
    for name in ("tests", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("block", BLOCKS, ids=[block.strip().splitlines()[-1] for block in BLOCKS])
def test_each_python_block_runs_in_a_fresh_process(block: str, clone: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=clone, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_module_form_works_in_a_process_that_imported_nothing(clone: Path) -> None:
    code = (
        "import gymnasium\n"
        'env = gymnasium.make("reasonenv:reasonenv/GSM8K-v0", data="tests/data/gsm8k_own.jsonl")\n'
        "print(env.reset(seed=0)[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=clone, capture_output=True, text=True, timeout=60
    )
    assert "<answer></answer>" in done.stdout, done.stderr


def test_the_example_environment_passes_its_check(clone: Path) -> None:
    command = ["-m", "reasonenv", "check", "examples/sums.py:acme/Sums-v0"]
    done = subprocess.run(
        [sys.executable, *command], cwd=clone, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout


def test_every_command_shown_has_only_options_that_exist() -> None:
    import typer.main

    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert COMMANDS
    for line in COMMANDS:
        _, name, *rest = shlex.split(line, comments=True)
        command = commands[name]
        if hasattr(command, "commands"):  # `reasonenv rewards audit` is a command of a group
            command = command.commands[rest.pop(0)]
        options = {o for p in command.params for o in p.opts}
        for word in rest:
            if word.startswith("--"):
                assert word.partition("=")[0] in options, line


def test_every_file_that_the_readme_links_to_exists() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
