"""`reasonenv rewards show` and `audit`."""

import json

import pytest
import yaml

from reasonenv.rewards import from_config, parse


@pytest.fixture
def run(reasonenv_cli):
    def words(*args):
        done = reasonenv_cli(*args)
        return done.code, done.out, done.err

    return words


def test_show_prints_parts_ranges_and_needs(run):
    code, out, _ = run(
        "rewards", "show", "Correct(2.0) + gate(0.5 * ShortestCorrect(), when=solved)"
    )
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["correct", "2", "0", "verdict"] in lines
    assert ["shortest_correct", "0", "to", "0.5", "0", "group,", "tokens,", "verdict"] in lines
    assert ["total", "2", "to", "2.5", "0"] in lines


def test_show_warns_and_prints_yaml_that_is_read_back(run):
    formula = "Correct() + Scheduled(2.0 * Format('a'), Linear(1.0, 0.0, steps=5))"
    assert "correctness does not dominate" in run("rewards", "show", formula)[1]
    _, out, _ = run("rewards", "show", formula, "--config")
    assert from_config(yaml.safe_load(out)) == parse(formula)


@pytest.mark.parametrize(
    ("given", "shows"),
    [
        ("gsm8k", "Correct(value=2.0) + 0.5 * "),  # a recipe
        ("reasonenv/Arithmetic-v0", "Correct() + 0.1 * Format("),  # an environment
        ("study.opencoder()", "AllPassed() + Complexity()"),
    ],
)
def test_a_reward_is_named_by_formula_recipe_or_environment(run, given, shows):
    code, out, _ = run("rewards", "show", given)
    assert code == 0
    assert shows in out


def test_audit_says_what_it_proves_by_its_exit_status(run):
    code, out, _ = run("rewards", "audit", "study.gsm8k()")
    assert code == 0
    assert "PROVED: correctness dominates" in out
    code, out, _ = run("rewards", "audit", "study.opencoder()")
    assert code == 1
    assert "the weight of all_passed from 1 to above 1.6" in out
    code, out, _ = run("rewards", "audit", "study.opencoder()", "--json")
    assert code == 1
    assert json.loads(out)["changes"][0]["bound"] == pytest.approx(1.6)


def test_what_is_no_reward_is_an_error_that_says_so(run):
    code, _, err = run("rewards", "audit", "Corect()")
    assert code == 1
    assert "did you mean `Correct`" in err
    code, _, err = run("rewards", "audit", "Correct()", "--run", "nowhere")
    assert code == 1
    assert "no run is there" in err


def test_a_runs_stored_rollouts_are_audited_as_a_table(run, tmp_path):
    from reasonenv.rewards import score_groups
    from reasonenv.trainers.recipe import Recipe
    from reasonenv.trainers.run import Run
    from reasonenv.trainers.storage import rollout_rows, write_rollouts
    from reasonenv.types import Judged, Problem, Rollout, Verdict

    formula = "Correct() + 0.5 * Format('a')"
    made = Run.create(tmp_path / "run", Recipe.make({"steps": 1}))
    made.write_facts({"reward": formula})
    problem = Problem("2+2=", "4")
    members = [
        Judged(Rollout(problem, "<a>5</a>", "g"), Verdict("incorrect")),
        Judged(Rollout(problem, "<a>4</a>", "g"), Verdict("correct", 1.0)),
    ]
    rows = rollout_rows(members, score_groups(parse(formula), members), ["2+2="] * 2)
    write_rollouts(made.rollouts, "train", 0, rows)
    code, out, _ = run("rewards", "audit", made.path)
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["correct", "0.500", "0.500", "+1.00", "100%"] in lines
    assert ["format", "1.000", "0.000", "-", "-", "saturated"] in lines
    assert "measured on 2 rollouts in 1 groups" in out
    assert formula in run("rewards", "show", made.path)[1]
