"""`reasonenv rewards attack`."""

import json

RECIPE = """
env: reasonenv/Arithmetic-v0
env_args: {layout: {reasoning: null}}
reward: Correct() + gate(TagCount('answer'), when=untruncated)
steps: 10
grpo: {max_completion_length: 64}
"""


def test_a_table_shows_what_each_hack_earns_beside_the_right_answer(reasonenv_cli):
    done = reasonenv_cli("rewards", "attack", "reasonenv/Arithmetic-v0", "--problems", 2)
    assert done.code == 0
    lines = {line[:20].strip(): line.split() for line in done.out.splitlines()}
    assert lines["right answer"][-1] == "1.100"
    assert lines["right, poor layout"][-1] == "1.000"
    assert lines["wrong guess"][-2:] == ["0.100", "1.100"]
    assert lines["empty"][-3:] == ["no_answer", "0.000", "1.100"]
    assert "No hack earns as much as a right answer" in done.out


def test_another_reward_is_attacked_and_marked_where_hacks_win(reasonenv_cli):
    args = ("rewards", "attack", "reasonenv/Arithmetic-v0", "--problems", 2)
    formula = "0.1 * Correct() + Repetition()"
    done = reasonenv_cli(*args, "--reward", formula)
    assert done.code == 0
    assert "OUTRANKS 2/2" in done.out
    assert reasonenv_cli(*args, "--reward", formula, "--fail").code == 1
    assert reasonenv_cli(*args, "--fail").code == 0


def test_json_is_the_whole_report(reasonenv_cli):
    done = reasonenv_cli("rewards", "attack", "reasonenv/Countdown-v0", "--problems", 1, "--json")
    report = json.loads(done.out)
    assert report["ok"] is True
    assert {result["hack"] for result in report["results"]} >= {"empty", "every number"}


def test_a_recipe_brings_its_environment_reward_and_limits(reasonenv_cli, tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(RECIPE)
    done = reasonenv_cli("rewards", "attack", file, "--problems", 1, "--json")
    report = json.loads(done.out)
    assert report["reward"] == "Correct() + gate(TagCount('answer'), when=untruncated)"
    earned = {result["hack"]: result["earned"] for result in report["results"]}
    assert earned["wrong guess"] == 1.0
    assert earned["long wrong guess"] == 0.0  # over the recipe's 64 tokens
    named = reasonenv_cli("rewards", "attack", "quickstart", "--problems", 1)
    assert named.code == 0
    assert "Format('answer')" in named.out


def test_what_cannot_be_attacked_is_an_error_without_a_traceback(reasonenv_cli, tmp_path):
    for args, said in (
        (("reasonenv/Arithmetik-v0",), "did you mean"),
        ((tmp_path / "no.yaml",), "cannot be read"),
        (("reasonenv/Arithmetic-v0", "--reward", "Corect()"), "did you mean `Correct`"),
    ):
        done = reasonenv_cli("rewards", "attack", *args)
        assert done.code == 1
        assert said in done.err
        assert "Traceback" not in done.err


def test_help_names_options_and_the_python_call(reasonenv_cli):
    help_text = " ".join(reasonenv_cli("rewards", "attack", "--help").out.split())
    for part in ("RECIPE|ENV", "--reward", "--json", "--fail", "reasonenv.envs.attacks.attack("):
        assert part in help_text
