"""`reasonenv sandbox`: what it says with an engine and without one."""

from __future__ import annotations

import pytest


def test_status_without_an_engine_says_what_to_do(reasonenv_cli, monkeypatch):
    pytest.importorskip("docker")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    said = reasonenv_cli("sandbox", "status")
    assert said.code == 1
    assert "unusable" in said.out
    assert "/nowhere/docker.sock" in said.out


def test_build_takes_one_base(reasonenv_cli):
    assert reasonenv_cli("sandbox", "build", "--base", "a", "--rootfs", "b").code == 2


def test_an_unknown_back_end_is_named(reasonenv_cli):
    said = reasonenv_cli("sandbox", "selftest", "--backend", "dokcer")
    assert said.code != 0
    assert "docker" in said.err + said.out
