"""`CodeEnv`, with a judge of benign programs in place of the sandbox."""

import json
import pickle

import gymnasium
import pytest
from code_parts import NoEngine, SubprocessJudge
from hypothesis import given
from hypothesis import strategies as st

import reasonenv
from reasonenv import CodeEnv, check_env
from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.code.extract import extract_program
from reasonenv.envs.builtin_code import BUILTIN_CODE
from reasonenv.envs.code_feedback import failures
from reasonenv.envs.code_format import CodeFormat, fenced
from reasonenv.errors import CheckerFailedError, DataError, GroupRequiredError
from reasonenv.problems import CATALOGUE
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

ADD = Problem(
    "Add two numbers.",
    ("assert add(1, 2) == 3", "assert add(2, 3) == 97531"),
    {"kind": "assert", "entry_point": "add", "solution": "def add(a, b=0):\n    return a + b\n"},
)
GOOD = Problem(
    "Double a number.",
    ("assert double(2) == 4", "assert double(-46802) == -93604"),
    {"kind": "assert", "entry_point": "double", "solution": "def double(n):\n    return 2 * n\n"},
)
CALL = Problem(
    "Sum a list.",
    ({"input": [[1, 2]], "output": 3}, {"input": [[5, 6, 60220]], "output": 60231}),
    {
        "kind": "call",
        "entry_point": "Solution.total",
        "solution": "class Solution:\n    def total(self, xs):\n        return sum(xs)\n",
    },
)
STDIO = Problem(
    "Print twice the number.",
    ({"input": "1\n", "output": "2\n"}, {"input": "31415\n", "output": "62830\n"}),
    {"kind": "stdio", "solution": "print(2 * int(input()))\n"},
)
HEADER = 'def triple(n):\n    """Return three times n."""\n'
COMPLETE = Problem(
    HEADER,
    ("assert triple(2) == 6",),
    {"kind": "assert", "entry_point": "triple", "prompt": HEADER,
     "solution": HEADER + "    return 3 * n\n"},
)  # fmt: skip
CHECK = Problem(
    "Negate `negate(x)`.",
    ("def check(candidate):\n    for i in range(5):\n        assert candidate(i) == -i\n",),
    {"kind": "check", "entry_point": "negate", "solution": "def negate(x):\n    return -x\n"},
)
ALL = [GOOD, CALL, STDIO, COMPLETE, CHECK]


def env(problems=ALL, **kwargs):
    return CodeEnv(problems, judge=kwargs.pop("judge", SubprocessJudge()), **kwargs)


def errors(report):
    return "\n".join(f"{f.check}: {f.message}" for f in report.of("error"))


def program(text):
    return CodeFormat().render(text, "So.")


# The prompt


@pytest.mark.parametrize(
    ("problem", "says", "says_not"),
    [
        (ADD, "\n\nWrite a Python function `add(a, b)`.", "a + b"),
        (CALL, "\n\nWrite a class `Solution` with a method `total(xs)`.", "sum("),
        (STDIO, "reads from standard input and prints the result", "function"),
        (COMPLETE, "Complete this Python function", "3 * n"),
        (CHECK, "Negate `negate(x)`.", "Write a Python function"),  # the statement says it
    ],
)
def test_the_question_says_how_the_program_is_called(problem, says, says_not):
    question = env([problem]).prompt_text(problem)
    assert says in question
    assert says_not not in question
    assert question.endswith(
        "Put only the Python program, in a fenced ```python block, inside <answer></answer> tags."
    )


def test_chat_prompts_say_the_same():
    chat = Problem(({"role": "user", "content": "Add."},), ADD.answer, ADD.metadata)
    (message,) = env([chat], observation="messages").reset(seed=0)[0]
    assert "Write a Python function `add(a, b)`" in message["content"]


def test_no_prompt_shows_a_test():
    for problem in ALL:
        for test in problem.answer:
            shown = test if isinstance(test, str) else str(test["output"])
            if shown not in problem.prompt and len(shown) > 3:
                assert shown.strip() not in env().prompt_text(problem)


# The layout


@pytest.mark.parametrize("answer", ["answer", None])
@pytest.mark.parametrize("reasoning", ["reasoning", "think", None])
def test_what_a_layout_renders_is_what_the_judge_runs(answer, reasoning):
    layout = CodeFormat(answer=answer, reasoning=reasoning)
    for problem in ALL:
        solution = problem.metadata["solution"]
        text = layout.render(solution, "First `add`, then:\n```python\nwrong = 1\n```")
        name = problem.metadata.get("entry_point")
        found = extract_program(text, name, "", problem.metadata["kind"])
        assert found.ok
        assert found.program == solution.strip("\n")
        assert layout.extract(text) == solution.strip("\n")
    assert layout.extract(layout.render("42")) == "42"
    wanted = layout.prompt_instruction()
    assert all(f"<{tag}>" in wanted for tag in layout.tags)


LINE = st.sampled_from(["x = 1", "print(x)", "s = '''", "'''", "```", "````python", "# </answer>"])


@given(st.lists(LINE, max_size=8).map("\n".join))
def test_a_block_is_closed_by_its_own_fence_alone(text):
    block = fenced(text)
    opener, closer = block.splitlines()[0], block.splitlines()[-1]
    assert opener == f"{closer}python"
    assert not any(line.strip().startswith(closer) for line in text.splitlines())


@pytest.mark.parametrize(
    ("layout", "says"),
    [
        ({"answer": None, "boxed": True}, "a program cannot stand in"),
        ({"answer": "final"}, "answer='final': programs are not read out of that tag"),
        ({"reasoning": "thinkin"}, "did you mean `thinking`"),
        ({"tag": "answer"}, "its fields are answer, reasoning, boxed, instruction"),
        (AnswerFormat("code"), "answer='code'"),
    ],
)
def test_layouts_that_programs_are_not_read_from_are_refused(layout, says):
    with pytest.raises(ValueError, match=says):
        env(layout=layout)


def test_any_layout_object_and_mapping_becomes_one_of_programs():
    for layout in (AnswerFormat(), {"reasoning": "think"}, CodeFormat(answer=None)):
        assert isinstance(env(layout=layout).layout, CodeFormat)
    assert env(layout={"answer": None}).reward == reasonenv.rewards.from_config("Correct()")


# Judging


@pytest.mark.parametrize("problem", ALL, ids=lambda p: p.metadata["kind"])
def test_the_reference_is_right_and_nothing_else_is(problem):
    one = env([problem])
    one.reset(seed=0)
    _, reward, terminated, _, info = one.step(one.gold_completion(problem))
    assert (terminated, info["verdict"].status) == (True, Status.CORRECT)
    assert reward == pytest.approx(1.1)
    one.reset(seed=0)
    assert one.step("I do not know.")[4]["verdict"].status is Status.NO_ANSWER


def test_environments_of_programs_hold_their_contract():
    report = check_env(env(), problems=5)
    assert report.ok, errors(report)
    assert not report.of("warning")
    assert (report.golds, report.unchecked) == (5, 0)


def test_generated_tasks_hold_the_contract():
    report = check_env(env("one_liners"), problems=6)
    assert report.ok, errors(report)
    assert report.golds == 6


def test_a_gold_that_fails_its_tests_is_found_and_named():
    report = check_env(env([ADD, GOOD, STDIO]))
    assert not report.ok
    assert f"gold is right: problem {ADD.id}" in errors(report)
    assert GOOD.id not in errors(report)


def test_tests_that_do_not_parse_are_found_and_named():
    broken = Problem("Add.", ("assert add(1, 2) = 3",), ADD.metadata, id="broken")
    one = env([GOOD, broken])
    assert list(one.unreadable_golds()) == [
        ("broken", "test 1 does not parse: 'assert add(1, 2) = 3'")
    ]
    assert "problem broken" in errors(check_env(one))
    assert list(env("one_liners").unreadable_golds()) == []


def test_problems_without_a_reference_are_unchecked():
    bare = Problem("Add.", ADD.answer, {"kind": "assert", "entry_point": "add"})
    assert env().gold_completion(bare) is None
    report = check_env(env([bare, GOOD]))
    assert (report.golds, report.unchecked) == (1, 1)


def test_without_an_engine_a_step_is_no_verdict():
    one = env([GOOD], judge=NoEngine())
    one.reset(seed=0)
    with pytest.raises(CheckerFailedError, match=r"sandbox_unavailable.*no engine answers"):
        one.step(one.gold_completion(GOOD))
    one = env([GOOD], judge=NoEngine(), on_unscored="nan")
    one.reset(seed=0)
    _, reward, terminated, truncated, info = one.step("x")
    assert reward != reward
    assert (terminated, truncated) == (True, False) or truncated
    assert "reward_terms" not in info


def test_a_reward_that_compares_the_group_is_scored_in_groups():
    one = env([GOOD], reward="Correct() + 0.5 * RarityWeightedTests()")
    half = program("def double(n):\n    return 4")
    right = one.gold_completion(GOOD)
    rollouts = [Rollout(GOOD, text, "g") for text in (right, half, "nothing")]
    judged, scores = one.judge_and_score(rollouts)
    assert [j.verdict.score for j in judged] == [1.0, 0.5, 0.0]
    assert scores.solved.tolist() == [1.0, 0.0, 0.0]
    assert scores.total[0] == 1.5 > scores.total[1] > scores.total[2] == 0
    one.reset(seed=0)
    with pytest.raises(GroupRequiredError, match="rarity_weighted_tests"):
        one.step(right)


# Feedback


def told(problem, text, **kwargs):
    one = env([problem], max_turns=3, **kwargs)
    one.reset(seed=0)
    observation, reward, terminated, truncated, _ = one.step(text)
    assert (reward, terminated, truncated) == (0.0, False, False)
    return observation


HIDDEN = ("97531", "93604", "60231", "62830")
WRONG = {
    "assert": (GOOD, "def double(n):\n    return 4", "double(-46802)"),
    "call": (
        CALL,
        "class Solution:\n    def total(self, xs):\n        return 3",
        "total([5, 6, 60220])",
    ),
    "stdio": (STDIO, "print(2)", "'31415\\n'"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_feedback_names_the_failed_test_and_its_input_and_hides_what_is_expected(kind):
    problem, wrong, given = WRONG[kind]
    text = told(problem, program(wrong))
    assert "1 of 2 tests passed.\nTest 2: wrong answer." in text
    assert given in text
    assert not [value for value in HIDDEN if value in text]
    counted = told(problem, program(wrong), feedback="score")
    assert "1 of 2 tests passed." in counted
    assert given not in counted
    full = told(problem, program(wrong), feedback="full")
    assert [value for value in HIDDEN if value in full]


def test_feedback_shows_what_the_program_printed():
    assert "printed: '2\\n'" in told(STDIO, program("print(2)"))


def test_feedback_shows_what_the_program_returned():
    detail = {"tests": ["passed", "wrong_answer"], "returned": [None, "4"]}
    judged = Judged(Rollout(GOOD, ""), Verdict(Status.INCORRECT, 0.5, "x", detail))
    assert failures(judged, "tests").endswith("call: double(-46802)\n  returned: 4")
    assert "returned: 4" in failures(judged, "full")
    assert "returned" not in failures(judged, "score")


def test_feedback_names_the_exception():
    text = told(GOOD, program("def double(n):\n    return n.two"))
    assert "0 of 2 tests passed.\nTest 1: AttributeError.\n  call: double(2)" in text


def test_feedback_on_what_is_no_program_says_how_to_write_one():
    assert "No program was found. Think step by step" in told(GOOD, "I cannot.")
    assert "does not parse" in told(GOOD, program("def double(n:\n    return 4"))


def test_the_next_turn_can_be_right():
    one = env([GOOD], max_turns=2)
    one.reset(seed=0)
    one.step(program("def double(n):\n    return 4"))
    _, reward, terminated, _, info = one.step(one.gold_completion(GOOD))
    assert terminated
    assert reward == pytest.approx(1.1)
    assert info["verdict"].score == 1.0


TESTS = st.sampled_from(
    [
        "assert f(1) == 'zq-1'",
        "assert 'zq-2' == f(2)",
        "assert f(3) in ('zq-3', 'zq-4')",
        "assert abs(f(4) - len('zq-5')) < 1e-6",
        "assert same(f(5), 'zq-6')",
        "assert f(6).startswith('zq-7'), 'zq-8'",
        "expected = 'zq-9'\nassert f(7) == expected",
        "def check(candidate):\n    assert candidate(8) == 'zq-10'",
        "assert (lambda y: y == 'zq-11')(f(9))",
        "not python 'zq-12'",
    ]
)
OUTCOME = st.sampled_from(["passed", "wrong_answer", "timeout", "ValueError", "not_run", "exited"])


@given(st.lists(st.tuples(TESTS, OUTCOME), min_size=1, max_size=6), st.booleans())
def test_no_feedback_but_the_full_holds_an_expected_value(pairs, as_io):
    if as_io:
        tests = [{"input": f"{i}\n", "output": f"zq-{i}"} for i, _ in enumerate(pairs)]
        problem = Problem("p", tests, {"kind": "stdio"})
    else:
        kind = {"kind": "assert", "entry_point": "f"}
        problem = Problem("p", [test for test, _ in pairs], kind)
    detail = {"tests": [outcome for _, outcome in pairs], "stdout": "7\n", "stderr": "Error: x\n"}
    judged = Judged(Rollout(problem, ""), Verdict(Status.INCORRECT, 0.0, "x = 1", detail))
    for level in ("score", "tests"):
        assert "zq-" not in failures(judged, level)


def test_long_inputs_are_cut():
    problem = Problem("p", ({"input": "7 " * 99_999, "output": "1"},), {"kind": "stdio"})
    detail = {"tests": ["wrong_answer"], "stdout": "9" * 2000}
    judged = Judged(Rollout(problem, ""), Verdict(Status.INCORRECT, 0.0, "x", detail))
    assert len(failures(judged, "full")) < 1500


# Making one


def test_problems_come_from_a_file_of_ones_own(tmp_path):
    path = tmp_path / "tasks.jsonl"
    row = {"prompt": "Add.", "entry_point": "add", "tests": ["assert add(1, 2) == 3"]}
    path.write_text(json.dumps(row) + "\n")
    assert env(None, data=path).problems[0].metadata["kind"] == "assert"
    made = reasonenv.make("reasonenv/MBPP-v0", data=str(path), judge=SubprocessJudge())
    assert made.problems[0].metadata["entry_point"] == "add"
    path.write_text(json.dumps(row | {"entry_point": "a b"}) + "\n")
    with pytest.raises(DataError, match=r'tasks\.jsonl:1: field "entry_point"'):
        env(None, data=path)


def test_problems_are_selected_by_their_metadata():
    rows = [
        {"prompt": f"Add {i}.", "entry_point": "f", "tests": ["assert f()"], "level": level}
        for i, level in enumerate(["easy", "hard", "easy", None])
    ]
    assert len(env("apps", data=rows, only={"level": "easy"}).problems) == 3  # one does not say
    assert len(env("apps", data=rows, only={"level": ["easy", "hard"]}).problems) == 4
    with pytest.raises(DataError, match=r"none of 3 problems has \{'level': 'odd'\}"):
        env("apps", data=rows[:3], only={"level": "odd"})
    with pytest.raises(ValueError, match="made on demand"):
        env("one_liners", only={"family": "words"})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"feedback": "all"}, "feedback='all' is not one of 'score', 'tests', 'full'"),
        ({"judge_options": {"backend": "docker"}}, "give them to your own judge="),
        ({"judge": None, "judge_options": {"backed": "x"}}, "did you mean `backend`"),
        ({"judge": None, "judge_options": {"config": {"memory": 1}}}, "mean `memory_bytes`"),
    ],
)  # fmt: skip
def test_arguments_that_mean_nothing_are_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        env(**arguments)


def test_its_own_judge_is_made_without_starting_anything():
    one = CodeEnv(ALL, judge_options={"stop_at_first": True, "config": {"size": 1}})
    assert one.judge_one.stop_at_first
    assert one.judge_one.config.size == 1
    assert pickle.loads(pickle.dumps(one)).judge_one == one.judge_one


def test_every_built_in_environment_names_its_problems_as_the_catalogue_does():
    for info, entry_point, kwargs in BUILTIN_CODE:
        entry = CATALOGUE[kwargs["problems"]]
        assert info.kind == entry.kind == "code"
        assert entry_point == "reasonenv.envs.code:CodeEnv"
        assert info.unverified == entry.unverified
        assert info.source == (entry.dataset or "procedural")
        assert info.licence == (entry.licence if entry.dataset else "none needed")
        assert kwargs.get("split", "train") in entry.splits
        spec = gymnasium.spec(info.id)
        assert type(spec).from_json(spec.to_json()) == spec


def test_a_vector_of_them_steps_together():
    vector = gymnasium.make_vec(
        "reasonenv/OneLiners-v0", num_envs=2, judge=SubprocessJudge(), size=50
    )
    vector.reset(seed=1)
    _, rewards, terminated, _, _ = vector.step(["no", "idea"])
    assert terminated.tolist() == [True, True]
    assert rewards.tolist() == [0.0, 0.0]
    vector.close()


def test_importing_the_environment_loads_no_engine(fresh):
    fresh(
        "import sys; from reasonenv import CodeEnv; CodeEnv('one_liners').reset(seed=0); "
        "assert not {'docker', 'torch', 'datasets', 'sympy'} & set(sys.modules)"
    )
