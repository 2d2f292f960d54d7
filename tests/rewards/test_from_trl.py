"""Reward functions in TRL's form as terms, and terms that installed packages bring."""

import json
import pickle
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml

from reasonenv.errors import RewardError
from reasonenv.rewards import Correct, PotentialBased, from_config, from_trl, parse
from reasonenv.types import Judged, Problem, Rollout, Verdict

IMPORTABLE = str(Path(__file__).parent / "importable")


@pytest.fixture(autouse=True)
def functions(monkeypatch):
    monkeypatch.syspath_prepend(IMPORTABLE)
    import trl_functions

    return trl_functions


def one(text="4", prompt="2+2=", **metadata):
    return Judged(Rollout(Problem(prompt, "4", metadata), text), Verdict("correct", 1.0))


def test_it_gets_the_columns_that_it_asks_for(functions):
    term = from_trl(functions.is_gold, range=(0, 1))
    reward = Correct() + 0.5 * term
    assert reward([one("4"), one("5")]).total.tolist() == [1.5, 1.0]
    assert reward([one("4")]).terms["is_gold"].tolist() == [1.0]
    level = from_trl(functions.of_level, range=(0, 9))
    assert level([one(level=3), one(level=4)]).total.tolist() == [3.0, 4.0]
    with pytest.raises(RewardError, match="asks for level; there are prompts, completions, answer"):
        level([one()])


def test_it_gets_messages_where_the_prompt_is_messages(functions):
    term = from_trl(functions.roles, range=(0, 1))
    assert term([one(prompt=({"role": "user", "content": "?"},))]).total.tolist() == [1.0]


def test_trls_own_functions_take_messages():
    term = from_trl("trl.rewards.format_rewards:think_format_reward", range=(0, 1), messages=True)
    said = "<think>\nso\n</think>\nfour"
    assert (0.5 * term)([one(said), one("four")]).total.tolist() == [0.5, 0.0]
    assert parse(repr(term)) == term == pickle.loads(pickle.dumps(term))
    assert from_config(term.to_config()) == term


def test_it_round_trips_by_its_place(functions):
    reward = Correct() + 0.1 * from_trl(functions.is_gold, (0, 1), name="gold", group=True)
    assert repr(reward) == (
        "Correct() + 0.1 * from_trl('trl_functions:is_gold', range=(0.0, 1.0), name='gold', "
        "group=True)"
    )
    assert parse(repr(reward)) == reward
    assert from_config(json.loads(json.dumps(reward.to_config()))) == reward
    assert from_config(yaml.safe_load(yaml.safe_dump(reward.to_config()))) == reward
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert hash(parse(repr(reward))) == hash(reward)
    assert reward.needs_group


def test_what_trl_would_add_up_as_zero_is_refused(functions):
    with pytest.raises(RewardError, match="returned None for 1 of 1"):
        from_trl(functions.nothing, range=(0, 1))([one()])
    with pytest.raises(RewardError, match="its range there is"):
        from_trl(functions.of_level, range=(0, 1))([one(level=3)])
    with pytest.raises(RewardError, match="failed on a group of 1: ZeroDivisionError"):
        from_trl(functions.fails, range=(0, 1))([one()])
    for wrong in (5, int, None):
        with pytest.raises(RewardError, match="takes a function"):
            from_trl(wrong, range=(0, 1))


def test_it_may_be_a_potential(functions):
    assert PotentialBased(from_trl(functions.roles, range=(0, 1)))


def installed(monkeypatch, **points):
    made = [EntryPoint(name, value, "reasonenv.rewards") for name, value in points.items()]

    def entry_points(group, name=None):
        assert group == "reasonenv.rewards"
        return [point for point in made if name in (None, point.name)]

    monkeypatch.setattr("reasonenv.rewards.config.entry_points", entry_points)


def test_a_term_of_an_installed_package_is_found_by_name_and_round_trips(monkeypatch):
    installed(monkeypatch, Loud="trl_functions:Loud", polite="some_terms:polite")
    reward = parse("Correct() + 0.5 * Loud(marks=('!', '?'))")
    assert reward([one("4!")]).total.tolist() == [1.5]
    assert parse(repr(reward)) == reward
    assert from_config(yaml.safe_load(yaml.safe_dump(reward.to_config()))) == reward
    assert parse("polite()") == parse("term('some_terms:polite')")
    with pytest.raises(RewardError, match="did you mean `Loud`"):
        parse("Luod()")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("nowhere:Loud", "cannot be loaded: ModuleNotFoundError"),
        ("trl_functions:is_gold", "is no term"),
        ("some_terms:nothing", "cannot be loaded: AttributeError"),
    ],
)
def test_a_broken_entry_point_is_named(monkeypatch, value, says):
    installed(monkeypatch, Loud=value)
    with pytest.raises(RewardError, match=f"the entry point Loud = {value} .*{says}"):
        parse("Loud()")


def test_an_entry_point_under_another_name_could_not_be_found_again(monkeypatch):
    installed(monkeypatch, Shout="trl_functions:Loud")
    with pytest.raises(RewardError, match="give the entry point that name"):
        parse("Shout()")
