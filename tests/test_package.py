"""The package as a whole: what importing it loads, what it says of itself, how it is layered."""

import importlib
import importlib.util
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import reasonenv
from reasonenv.errors import MissingExtraError
from reasonenv.extras import need

ROOT = Path(__file__).parent.parent
HEAVY = [
    "torch",
    "transformers",
    "trl",
    "peft",
    "accelerate",
    "datasets",
    "pyarrow",
    "docker",
    "sympy",
    "mpmath",
    "pydantic",
    "matplotlib",
    "vllm",
]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(reasonenv.__path__, "reasonenv.")
    if not module.name.endswith("__main__")
)


def python(code, *args, fails=False):
    """Run code in a fresh interpreter; return what it prints (to stderr where it must fail)."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


LOADED = f"print(*sorted(set({HEAVY!r}) & set(__import__('sys').modules)))"


def test_importing_reasonenv_loads_nothing_heavy():
    assert python(f"import reasonenv; {LOADED}").split() == []


@pytest.mark.parametrize(
    "module",
    [
        "envs",
        "rewards",
        "problems",
        "types",
        "errors",
        "cli.app",
        "models.loading",
        "evaluation.runner",
    ],
)
def test_no_part_below_the_learner_loads_the_learners_libraries(module):
    light = {"sympy", "mpmath", "pydantic"}
    assert set(python(f"import reasonenv.{module}; {LOADED}").split()) <= light


def test_making_and_stepping_an_environment_loads_no_learner():
    code = (
        "import reasonenv; env = reasonenv.make('reasonenv/Arithmetic-v0'); env.reset(seed=0);"
        f"env.step('<answer>1</answer>'); {LOADED}"
    )
    assert set(python(code).split()) <= {"sympy", "mpmath", "pydantic"}


@pytest.mark.parametrize("args", ["--help", "--version", "list", "show --help", "train --help"])
def test_the_command_line_speaks_without_loading_anything_heavy(args):
    code = (
        "import sys; from reasonenv.cli import main; sys.argv[0] = 'reasonenv'\n"
        "try: main(sys.argv[1:])\n"
        f"except SystemExit: {LOADED}"
    )
    loaded = python(code, *args.split()).splitlines()[-1].split()
    assert set(loaded) <= {"pydantic"}  # typer's own


def test_python_dash_m_is_the_command_line():
    code = (
        "import runpy, sys; sys.argv = ['reasonenv', '--help']\n"
        "try: runpy.run_module('reasonenv', run_name='__main__')\n"
        f"except SystemExit: {LOADED}"
    )
    *said, loaded = python(code).splitlines()
    assert "Commands:" in "\n".join(said)
    assert set(loaded.split()) <= {"pydantic"}


def test_the_version_is_the_packages():
    text = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{reasonenv.__version__}"' in text


@pytest.mark.parametrize("name", MODULES)
def test_every_module_and_public_name_is_documented(name):
    # Adapters to packages that are not installed here; their own tests skip, too.
    adapter = name.startswith("reasonenv.integrations.")
    module = (
        pytest.importorskip(name, exc_type=MissingExtraError)
        if adapter
        else importlib.import_module(name)
    )
    assert (module.__doc__ or "").strip(), f"{name} has no docstring"
    for public in getattr(module, "__all__", ()):
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert (inspect.getdoc(thing) or "").strip(), f"{name}.{public} has no docstring"
        if inspect.isclass(thing) and thing.__module__ == name:
            # A dataclass without one gets its signature as a docstring.
            assert not (thing.__doc__ or "").startswith(f"{public}("), f"{name}.{public}"
            for attribute, value in vars(thing).items():
                if inspect.isfunction(value) and not attribute.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{public}.{attribute} has no docstring"


def test_every_public_name_of_the_package_exists():
    for name in reasonenv.__all__:
        assert getattr(reasonenv, name) is not None
    assert set(reasonenv._HOME) | {"make", "register"} == set(reasonenv.__all__)
    with pytest.raises(AttributeError, match="no attribute 'GRPOLerner'"):
        _ = reasonenv.GRPOLerner
    with pytest.raises(ImportError):
        from reasonenv import nothing_of_the_kind  # noqa: F401


BLOCKED = "import sys; sys.modules.update(dict.fromkeys({blocked!r}))\n"
"""Makes packages look as if they were not installed."""


@pytest.mark.parametrize(
    ("blocked", "extra", "use"),
    [
        (
            ["torch", "trl", "transformers", "peft", "accelerate"],
            "train",
            "reasonenv.GRPOLearner(recipe='quickstart', out=sys.argv[1]).train()",
        ),
        (["datasets"], "data", "reasonenv.make('reasonenv/GSM8K-v0')"),
    ],
)
def test_a_missing_extra_is_an_error_with_the_line_to_type(blocked, extra, use, tmp_path):
    code = BLOCKED.format(blocked=blocked) + f"import reasonenv\n{use}"
    said = python(code, str(tmp_path / "run"), fails=True).strip().splitlines()[-1]
    assert "MissingExtraError: " in said
    assert f'pip install "reasonenv[{extra}]"' in said
    assert not (tmp_path / "run").exists()


def test_the_command_line_says_which_extra_is_missing_without_a_traceback():
    code = BLOCKED.format(blocked=["datasets"]) + (
        "from reasonenv.cli import main; main(['show', 'reasonenv/GSM8K-v0'])"
    )
    said = python(code, fails=True)
    assert said.startswith("MissingExtraError: ")
    assert "Traceback" not in said


def test_everything_but_learning_works_without_the_extras():
    code = BLOCKED.format(blocked=HEAVY[:8]) + (
        "import reasonenv; report = reasonenv.check_env('reasonenv/Arithmetic-v0', problems=5);"
        "print(report.ok)\n"
        "from reasonenv.doctor import examine; examine()"
    )
    assert python(code).strip() == "True"


def test_an_extra_that_is_there_and_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_dependency")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency") as caught:
        need("half_installed", extra="train", by="a test")
    assert not isinstance(caught.value, MissingExtraError)
    with pytest.raises(MissingExtraError, match=r'a test needs nope: pip install "reasonenv\[x\]"'):
        need("nope.inner", extra="x", by="a test")
    assert need("json", extra="x", by="a test").loads("1") == 1


@pytest.mark.skipif(importlib.util.find_spec("importlinter") is None, reason="needs import-linter")
def test_imports_run_downwards_only():
    code = "import sys; from importlinter.cli import lint_imports_command as f; f()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "0 broken" in done.stdout
