"""The built-in kinds: options of the judge, words of the prompt, golds that cannot be read."""

import warnings

import pytest

import reasonenv
from reasonenv import Problem
from reasonenv.checkers import MathJudge
from reasonenv.envs import check_env, kinds
from reasonenv.envs.builtin import BUILTIN
from reasonenv.envs.kinds import MathEnv
from reasonenv.problems import CATALOGUE
from reasonenv.types import Status, Verdict

SUMS = [Problem(f"{i}+{i}=", str(2 * i), id=f"sum{i}") for i in range(1, 6)]
PLAIN = [{"question": "6*7?", "answer": "42"}]
NAMED = [(info, kwargs) for info, _, kwargs in BUILTIN if info.source != "procedural"]


def test_options_reach_the_judge():
    env = MathEnv(SUMS, judge_options={"strict": True})
    assert env.judge_one == MathJudge(strict=True, format=env.layout)
    assert env.judge_one(SUMS[0], "The answer is 2.").status is Status.NO_ANSWER


def test_options_beside_a_judge_of_ones_own_are_refused():
    with pytest.raises(ValueError, match="give them to your own judge="):
        MathEnv(SUMS, judge=MathJudge(), judge_options={"strict": True})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strct": True}, "no option 'strct'; did you mean `strict`"),
        ({"format": None}, "'format'; the layout says where answers stand"),
    ],
)
def test_an_option_that_the_judge_does_not_have_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MathEnv(SUMS, judge_options=options)


def test_every_option_of_the_catalogue_is_one_of_the_judges():
    for entry in CATALOGUE.values():
        assert set(entry.judge) <= set(MathJudge.__dataclass_fields__) - {"format"}, entry.name


def test_the_catalogues_options_are_taken_and_can_be_overridden():
    assert MathEnv("math500", data=PLAIN).judge_options == {"percent": "lenient"}
    env = MathEnv("math500", data=PLAIN, judge_options={"percent": "strict"})
    assert env.judge_one.percent == "strict"


@pytest.mark.parametrize(("info", "kwargs"), NAMED, ids=[info.id for info, _ in NAMED])
def test_what_is_listed_of_an_environment_is_what_the_catalogue_says(info, kwargs):
    entry = CATALOGUE[kwargs["problems"]]
    assert (info.source, info.licence) == (entry.dataset, entry.licence)
    assert (info.kind, info.unverified) == (entry.kind, entry.unverified)
    assert kwargs.get("split", "train") in entry.splits


def test_the_prompt_asks_for_what_the_problem_sets_answers_are():
    env = MathEnv("aime_2024", data=PLAIN)
    assert "Put only the final integer inside <answer>" in env.prompt_text(env.problems[0])
    env = MathEnv("aime_2024", data=PLAIN, answer_is="number")
    assert "Put only the number inside" in env.prompt_text(env.problems[0])
    assert "Put only the final answer inside" in MathEnv(SUMS).prompt_text(SUMS[0])


@pytest.fixture
def picky(monkeypatch):
    """Make golds that hold a question mark unreadable."""

    def judge_answer(gold, answer):
        if "?" in gold:
            return Verdict(Status.CHECKER_ERROR, 0.0, None, {"error": f"cannot read {gold!r}"})
        return Verdict(Status.NO_ANSWER, 0.0, None)

    monkeypatch.setattr(kinds, "judge_answer", judge_answer)


def test_golds_that_cannot_be_read_are_said_when_problems_are_loaded(picky):
    with pytest.warns(UserWarning, match=r"cannot be read: problem p1: cannot read '2\?'"):
        MathEnv([*SUMS, Problem("1+1=", "2?", id="p1")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MathEnv(SUMS)
        reasonenv.make("reasonenv/Arithmetic-v0")


def test_a_judge_of_ones_own_reads_golds_of_its_own(picky):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MathEnv([Problem("1+1=", "2?")], judge=lambda problem, completion: None)


def test_the_check_names_every_gold_that_cannot_be_read(picky):
    problems = [*SUMS, *(Problem(f"{i}?", f"{i}?", id=f"p{i}") for i in range(4))]
    with pytest.warns(UserWarning, match="and others"):
        env = MathEnv(problems)
    report = check_env(env, problems=2)  # whatever the sample holds
    said = [f.message for f in report.of("error") if f.check == "problems"]
    assert [text.partition(":")[0] for text in said[:3]] == [
        "problem p0",
        "problem p1",
        "problem p2",
    ]
    assert said[3] == "and 1 more of this kind"


def test_overlaps_are_said_for_the_data_set_itself_only(monkeypatch):
    assert MathEnv("metamathqa", data=PLAIN).overlaps == {}
    monkeypatch.setattr(kinds, "load", lambda *args, **kwargs: SUMS)
    env = MathEnv("metamathqa")
    assert "gsm8k" in env.overlaps
    notes = [f.message for f in check_env(env, problems=2).of("note") if f.check == "problems"]
    assert notes[0].startswith("beside gsm8k: made from its training questions")
