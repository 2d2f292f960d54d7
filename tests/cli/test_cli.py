"""The commands: what they print, where, and with which status."""

import json
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

import reasonenv
from reasonenv import doctor
from reasonenv.envs import registration

DATA = Path(__file__).parent.parent / "data"
GSM8K = DATA / "gsm8k_own.jsonl"
COMMANDS = {
    "list": ["--json", "reasonenv.envs.catalogue()"],
    "show": ["ENV", "--index", "--split", "--data", "path/to/file.py:id", "reasonenv.make(ENV)"],
    "check": ["ENV", "--problems", "--split", "--data", "module:id", "reasonenv.check_env(ENV)"],
    "doctor": ["reasonenv.doctor.examine()", "Exit status 1"],
    "judge": ["KIND", "FILE.jsonl", "--out", '"gold"', '"options"', '"tests"', "judge_file("],
    "explain": ["KIND", "GOLD", "ANSWER", "--completion", "--percent", "math.explain("],
    "train": ["RECIPE", "--out", "--model", "--data", "--seed", "--steps", "--set", "--resume",
              "--dry-run", "quickstart", "GRPOLearner("],
    "report": ["RUN", "reasonenv.trainers.write_report(RUN)"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def registry():
    """Forget what a test registers."""
    tables = (gymnasium.registry, registration._INFO)
    before = [dict(table) for table in tables]
    yield
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)


def test_the_version_is_printed(reasonenv_cli):
    assert reasonenv_cli("--version").out.strip() == reasonenv.__version__


def test_without_a_command_the_help_is_shown(reasonenv_cli):
    said = reasonenv_cli("--help")
    assert said.code == 0
    assert all(f"  {name}" in said.out for name in COMMANDS)
    assert "Usage:" in reasonenv_cli().out + reasonenv_cli().err


@pytest.mark.parametrize("command", COMMANDS)
def test_each_commands_help_is_enough_to_use_it(reasonenv_cli, command):
    said = reasonenv_cli(command, "--help")
    assert said.code == 0
    flat = re.sub(r"\s+", " ", said.out)
    for needed in COMMANDS[command]:
        assert needed in flat, (needed, flat)


@pytest.mark.parametrize(
    "args", [["shwo"], ["show"], ["list", "--jsno"], ["check", "x", "--problems", "0"], ["judge"]]
)
def test_a_wrong_usage_is_said_with_status_2(reasonenv_cli, args):
    said = reasonenv_cli(*args)
    assert said.code == 2
    assert "Usage:" in said.err


# list


def test_list_names_every_environment_once(reasonenv_cli):
    said = reasonenv_cli("list")
    assert said.code == 0
    for id in ("GSM8K", "ARC-Challenge", "Arithmetic", "Countdown"):
        assert said.out.count(f"reasonenv/{id}-v0") == 1
    for fact in ("openai/gsm8k", "MIT", "CC BY-SA 4.0", "procedural", "choice"):
        assert fact in said.out


def test_list_as_json_is_one_object_a_line(reasonenv_cli):
    rows = [json.loads(line) for line in reasonenv_cli("list", "--json").out.splitlines()]
    keys = {"id", "description", "kind", "source", "licence", "unverified"}
    assert [set(row) for row in rows] == [keys] * len(rows)
    assert "reasonenv/GSM8K-v0" in [row["id"] for row in rows]
    assert all(row["description"] and row["source"] for row in rows if "reasonenv/" in row["id"])


def test_list_shows_descriptions_as_they_are_written(reasonenv_cli, sums_file):
    reasonenv.make(f"{sums_file}:acme/Good-v0")
    assert "[b]Sums[/] :100:" in reasonenv_cli("list").out


# show


def test_show_prints_prompt_gold_reference_and_reward(reasonenv_cli):
    said = reasonenv_cli("show", "reasonenv/Arithmetic-v0")
    assert said.code == 0
    env = reasonenv.make("reasonenv/Arithmetic-v0")
    problem = env.problems[0]
    for part in (
        env.prompt_text(problem),
        problem.id,
        f"gold\n{problem.answer}\n",
        env.gold_completion(problem),
        repr(env.reward),
        "right answer 1 to 1.1, wrong 0 to 0.1",
        "problem 0 of 100000 (train)",
    ):
        assert part in said.out


def test_show_takes_index_split_and_data(reasonenv_cli):
    said = reasonenv_cli("show", "reasonenv/GSM8K-v0", "--data", GSM8K, "--index", 2)
    assert "Omar saves $15 every week" in said.out
    assert "gold\n12\n" in said.out
    test = reasonenv.make("reasonenv/Arithmetic-v0", split="test")
    said = reasonenv_cli("show", "reasonenv/Arithmetic-v0", "--split", "test")
    assert test.problems[0].prompt in said.out
    assert "(test)" in said.out
    for index in ("24", "-1"):
        said = reasonenv_cli("show", "reasonenv/GSM8K-v0", "--data", GSM8K, f"--index={index}")
        assert (said.code, said.out) == (1, "")
        assert "--index goes from 0 to 23" in said.err


def test_show_prints_any_prompt_as_it_is(reasonenv_cli, sums_file, shell):
    said = reasonenv_cli("show", f"{sums_file}:acme/Good-v0")
    assert "1+1=" in said.out
    for encoding in ("utf-8", "ascii"):
        said = shell("show", f"{sums_file}:acme/Odd-v0", PYTHONIOENCODING=encoding)
        assert said.code == 0, said.err
        assert "is [/b] 1:100: \\ud800 " in said.out
        assert " [red]?" in said.out
        assert "id [/x]" in said.out


def test_show_warns_of_a_reward_in_which_wrong_can_outscore_right(reasonenv_cli, sums_file):
    said = reasonenv_cli("show", f"{sums_file}:acme/Greedy-v0")
    assert "warning: a wrong answer can earn 2" in said.out


# check


def test_check_of_a_good_environment_leaves_with_status_0(reasonenv_cli, sums_file):
    for env in ("reasonenv/Arithmetic-v0", f"{sums_file}:acme/Good-v0"):
        said = reasonenv_cli("check", env, "--problems", 10)
        assert said.code == 0, said.out
        assert "FAIL" not in said.out
        assert "ok    gold is right" in said.out
        assert "10 golds judged, 0 problems without one" in said.out
    said = reasonenv_cli("check", "reasonenv/GSM8K-v0", "--data", GSM8K)
    assert said.code == 0
    assert "24 golds judged" in said.out


def test_check_of_a_bad_environment_leaves_with_status_1(shell, sums_file):
    said = shell("check", f"{sums_file}:acme/Bad-v0")
    assert said.code == 1
    assert "FAIL  junk is never right" in said.out
    assert "error: problem" in said.out
    assert "Traceback" not in said.err


def test_check_shows_a_warning_and_leaves_with_status_0(reasonenv_cli, sums_file):
    said = reasonenv_cli("check", f"{sums_file}:acme/Greedy-v0")
    assert said.code == 0
    assert "warning: " in said.out
    assert "correctness does not dominate" in said.out


# judge


def write(path, rows):
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


MATHS = [
    {"id": "a", "gold": "2", "completion": "<answer>2</answer>"},
    {"id": "b", "gold": "2", "answer": "3"},
    {"id": 3, "gold": "1/2", "answer": "0.5"},
]


def test_judge_prints_one_verdict_a_line_in_order(reasonenv_cli, tmp_path):
    said = reasonenv_cli("judge", "math", write(tmp_path / "in.jsonl", MATHS))
    assert said.code == 0
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [(r["id"], r["correct"], r["status"]) for r in rows] == [
        ("a", True, "correct"),
        ("b", False, "incorrect"),
        (3, True, "correct"),
    ]
    assert all(
        list(r) == ["id", "status", "correct", "score", "answer", "detail", "seconds"] for r in rows
    )
    assert "3 lines: 3 judged (2 correct)" in said.err


def test_judge_writes_to_a_file_where_one_is_given(reasonenv_cli, tmp_path):
    out = tmp_path / "out.jsonl"
    said = reasonenv_cli("judge", "math", write(tmp_path / "in.jsonl", MATHS), "--out", out)
    assert (said.code, said.out) == (0, "")
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["a", "b", 3]


def test_a_bad_line_gets_an_error_line_and_the_rest_goes_on(reasonenv_cli, tmp_path):
    rows = [MATHS[0], "not json", {"id": "x"}, "", "[1]", MATHS[1]]
    said = reasonenv_cli("judge", "math", write(tmp_path / "in.jsonl", rows))
    assert said.code == 1
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [r["status"] for r in rows] == ["correct", "error", "error", "error", "incorrect"]
    assert [r["correct"] for r in rows] == [True, None, None, None, False]
    assert rows[1]["detail"]["line"] == 2
    assert "`gold` is missing" in rows[2]["detail"]["error"]
    assert "5 lines: 2 judged (1 correct), 0 without a verdict, 3 unusable" in said.err


def test_judge_of_choices_and_of_code(reasonenv_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setattr("reasonenv.sandbox._OPEN", {})
    choice = {"id": 1, "options": ["x", "y"], "gold": "B", "completion": "<answer>B</answer>"}
    said = reasonenv_cli("judge", "choice", write(tmp_path / "c.jsonl", [choice]))
    assert said.code == 0
    assert json.loads(said.out)["answer"] == "B"
    marker = tmp_path / "ran"
    program = f"open({str(marker)!r}, 'w')"
    code = {"id": 1, "kind": "assert", "tests": ["assert True"], "program": program}
    said = reasonenv_cli("judge", "code", write(tmp_path / "p.jsonl", [code]))
    assert said.code == 1
    assert json.loads(said.out)["status"] == "sandbox_unavailable"
    assert json.loads(said.out)["correct"] is None
    assert not marker.exists()


# doctor


def finding(level, name):
    return doctor.Finding(level, name, "says [this]", "mend it")


def test_doctor_prints_a_line_for_each_finding_with_the_fix(reasonenv_cli, monkeypatch):
    monkeypatch.setattr(doctor, "examine", lambda: [finding("ok", "a"), finding("missing", "b")])
    said = reasonenv_cli("doctor")
    assert said.code == 0
    lines = said.out.splitlines()
    assert [line.split()[:2] for line in lines] == [["ok", "a"], ["missing", "b"]]
    assert all(line.endswith("says [this]  -> mend it") for line in lines)
    monkeypatch.setattr(doctor, "examine", lambda: [finding("broken", "a")])
    assert reasonenv_cli("doctor").code == 1


# Errors


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["show", "reasonenv/GSMK8-v0"], "UnknownEnvError: no environment is registered as"),
        (["check", "reasonenv/GSMK8-v0"], "did you mean `reasonenv/GSM8K-v0`?"),
        (["check", "nope.py:acme/X-v0"], "RegistrationError: nope.py: there is no such file"),
        (["check", "no_such:acme/X-v0"], "RegistrationError: cannot import the module 'no_such'"),
        (["check", "CartPole-v1"], "not a reasonenv environment"),
        (["check", "CartPole-v1", "--split", "test"], "not a reasonenv environment"),
        (["show", "reasonenv/GSM8K-v0", "--data", "nope.jsonl"], "nope.jsonl: there is no such"),
        (["show", "reasonenv/GSM8K-v0", "--data", "."], "DataError"),
        (["show", "reasonenv/Arithmetic-v0", "--split", "tset"], "DataError"),
        (["check", "SUMS:acme/NoJudge-v0"], "give judge=, or override make_judge"),
        (["check", "SUMS:acme/Nope-v0"], "did you mean `acme/"),
        (["judge", "maths", "x.jsonl"], "did you mean `math`"),
        (["judge", "math", "nope.jsonl"], "nope.jsonl: cannot be opened"),
        (["report", "no/such/run"], "Error"),
    ],
)
def test_an_error_is_said_in_one_line_with_status_1(reasonenv_cli, sums_file, args, says):
    said = reasonenv_cli(*(arg.replace("SUMS", str(sums_file)) for arg in args))
    assert said.code == 1
    assert says in said.err
    assert said.out == ""
    assert "Traceback" not in said.err


def test_a_bad_data_line_is_named_by_file_and_number(reasonenv_cli, tmp_path):
    file = write(tmp_path / "d.jsonl", [{"question": "1+1=", "answer": "2"}, "{"])
    said = reasonenv_cli("check", "reasonenv/GSM8K-v0", "--data", file)
    assert said.code == 1
    assert f"{file}:2: not valid JSON" in said.err


def test_an_error_in_a_process_of_its_own_has_no_traceback(shell):
    said = shell("show", "reasonenv/GSMK8-v0")
    assert said.code == 1
    assert said.err.startswith("UnknownEnvError: ")
    assert "Traceback" not in said.err


def test_a_reader_that_has_seen_enough_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m reasonenv list --json | head -c 1",
        shell=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{"
    assert "Traceback" not in done.stderr
