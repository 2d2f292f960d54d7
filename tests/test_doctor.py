"""`reasonenv.doctor`: what it finds on machines as they come."""

import socket
import subprocess
import sys
import threading
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from reasonenv import doctor

BOUNDS = ("train", "1.16", "1.17", "1.16.0")


@pytest.mark.parametrize(
    ("found", "level"),
    [
        ("1.16", "ok"),
        ("1.16.0", "ok"),
        ("1.16.5+cpu", "ok"),
        ("1.16rc1", "ok"),
        ("1.16.0.dev3", "ok"),
        ("1.16.12", "ok"),
        ("1.15.9", "broken"),
        ("1.17", "broken"),
        ("1.17.0", "broken"),
        ("2", "broken"),
        ("", "broken"),
        (None, "broken"),
        ("unknown", "broken"),
    ],
)
def test_a_version_is_compared_by_its_numbers(monkeypatch, found, level):
    monkeypatch.setattr(doctor, "version", lambda name: found)
    finding = doctor._package("trl", *BOUNDS)
    assert finding.level == level
    assert finding.fix or level == "ok"


def versions(monkeypatch, **found):
    def version(name):
        if name not in found:
            raise PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(doctor, "version", version)


@pytest.mark.parametrize(
    ("found", "pins"),
    [
        ({"vllm": "0.31.0", "torch": "2.13.0", "transformers": "5.17.0"}, []),
        ({"vllm": "0.31.0", "torch": "2.13.0", "transformers": "5.24.0"}, ["transformers==5.17.0"]),
        ({"vllm": "0.31.0", "torch": "2.14.0+cu130"}, ["torch==2.13.0"]),
        ({"vllm": "0.24.0", "torch": "2.13.0", "transformers": "5.24.0"}, ["torch==2.11.0"]),
        ({"torch": "2.14.0", "transformers": "5.24.0"}, []),
    ],
)
def test_versions_that_do_not_go_together_are_refused(monkeypatch, found, pins):
    versions(monkeypatch, **found)
    assert [finding.pin for finding in doctor._together()] == pins


def test_one_line_mends_all_that_is_refused(monkeypatch):
    monkeypatch.setattr(doctor, "why_unreachable", lambda: "no network here")
    good = {name: row[3] for name, row in doctor.TESTED.items() if name != "vllm"}
    versions(monkeypatch, **good)
    assert doctor.refusal(doctor.examine()) is None
    versions(monkeypatch, **{**good, "trl": "1.20.0", "peft": "0.1"})
    said = doctor.refusal(doctor.examine())
    assert said.endswith('trl, peft; mend it: pip install "trl==1.16.0" "peft==0.21.2"')


def test_the_matrix_that_is_tested_again_lies_inside_the_tested_versions(monkeypatch):
    root = Path(__file__).parents[1]
    lines = (root / "scripts" / "version_matrix.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    assert {"tested", "oldest"} <= {name for name, *_ in rows}
    for _, _python, *pins in rows:
        found = dict(pin.split("==") for pin in pins)
        versions(monkeypatch, **found)
        for name in found:
            assert doctor._package(name, *doctor.TESTED[name]).level == "ok", (name, found[name])
        assert list(doctor._together()) == []
    tested = dict(pin.split("==") for name, _, *pins in rows if name == "tested" for pin in pins)
    constraints = (root / "constraints.txt").read_text()
    for name, number in tested.items():
        assert f"\n{name}=={number}\n" in constraints


def test_the_matrix_script_lists_its_rows_without_installing_anything():
    script = Path(__file__).parents[1] / "scripts" / "version_matrix.sh"
    said = subprocess.run(["bash", str(script), "--list"], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[0].split()[0] == "tested"
    wrong = subprocess.run(["bash", str(script), "newest"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "tested" in wrong.stderr


def test_a_version_with_fewer_numbers_than_its_bounds_is_the_same_version(monkeypatch):
    monkeypatch.setattr(doctor, "version", lambda name: "3")
    assert doctor._package("datasets", "data", "3.0", "6", "5.2.0").level == "ok"


def test_what_is_not_installed_names_its_extra(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", missing)
    finding = doctor._package("trl", *BOUNDS)
    assert (finding.level, finding.fix) == ("missing", 'pip install "reasonenv[train]"')
    assert doctor._package("numpy", "", "1", "3", "2").level == "broken"


def test_a_torch_that_cannot_be_imported_is_said(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so.12: cannot open\\nmore')")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (finding,) = doctor._devices()
    assert (finding.level, finding.fix) == ("broken", "reinstall torch")
    assert "libcudart.so.12: cannot open)" in finding.says


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nOK", "ok"),
        (b"HTTP/1.1 500 No\r\n\r\n", "missing"),
        (b"", "missing"),
    ],
)
def test_the_docker_engine_is_asked_at_its_socket(monkeypatch, tmp_path, answer, level):
    path = str(tmp_path / "d.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
        server.listen(1)

        def serve():
            client, _ = server.accept()
            with client:
                client.recv(100)
                client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        assert doctor._engine().level == level
        thread.join()


@pytest.mark.parametrize(
    "host", ["unix:///no/such.sock", "tcp://10.0.0.1:2375", "unix://" + "x" * 300]
)
def test_an_engine_that_is_not_there_is_only_said(monkeypatch, host):
    monkeypatch.setenv("DOCKER_HOST", host)
    assert doctor._engine().level == "missing"


def test_the_whole_examination_names_every_part(monkeypatch):
    monkeypatch.setattr(doctor, "why_unreachable", lambda: "no network here")
    names = [finding.name for finding in doctor.examine()]
    assert names[:3] == ["python", "gymnasium", "numpy"]
    assert {"torch", "trl", "vllm", "docker engine", "hub"} <= set(names)
    assert len(names) == len(set(names))
