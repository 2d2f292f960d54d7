"""What is imported when: numpy parts need no torch, and a missing package is named."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import reasonenv.dynamics as dynamics


def test_numpy_parts_import_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from reasonenv.dynamics import (OscillatorModel, compare, measure_groups, "
        "check_health, write_dynamics); "
        "sys.exit(bool({'torch', 'transformers', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_is_there_and_others_are_not() -> None:
    pytest.importorskip("transformers")
    for name in dynamics.__all__:
        assert getattr(dynamics, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Trackr'"):
        dynamics.Trackr  # noqa: B018


def test_a_missing_package_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from reasonenv.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r'pip install "reasonenv\[train\]"'):
        import_module("reasonenv.dynamics").__getattr__("analyse_adapter")
