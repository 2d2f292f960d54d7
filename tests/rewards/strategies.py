"""Hypothesis strategies: judged rollouts and groups of any kind, for every test of rewards."""

from hypothesis import strategies as st

from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

PIECES = (
    "<reasoning>", "</reasoning>", "<answer>", "</answer>", "<think>", "\\boxed{7}", "```python\n",
    "def f(n):\n    return n + 1\n", "First, ", "Step 2: ", "- ", "the sum is ", "donc les ",
    "等于四", "Итак, ", "7", "1/2", "-3.5 ", "A. ", "(B)", " ", "\n", "x", "é", "\ud800", "\x00",
)  # fmt: skip
GOLDS = ("2", "1/2", "1e3", "B", "x + 1", "", ("assert f(1) == 2", "assert f(2) == 3"))
OUTCOMES = ("passed", "wrong_answer", "timeout")
EVIDENCE = tuple(status for status in Status if status.is_evidence)

texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=40)


@st.composite
def problems(draw):
    """Draw a problem of any kind: with options, numbers, tests or a length to aim at."""
    metadata = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "options": st.lists(st.text(max_size=8), min_size=2, max_size=5),
                "target_tokens": st.integers(1, 2_000),
                "entry_point": st.just("f"),
            },
        )
    )
    return Problem(draw(st.text(max_size=20)), draw(st.sampled_from(GOLDS)), metadata)


@st.composite
def verdicts(draw, statuses=tuple(Status)):
    """Draw a verdict; a right one may lack an answer, a wrong one may pass some tests."""
    status = draw(st.sampled_from(statuses))
    right = status is Status.CORRECT
    score = 1.0 if right else draw(st.sampled_from((0.0, 0.0, 0.25, 0.5)))
    tests = draw(st.lists(st.sampled_from(OUTCOMES), max_size=4))
    detail = {"tests": ["passed"] * len(tests) if right else tests}
    return Verdict(status, score, draw(st.none() | texts), detail)


@st.composite
def groups(draw, statuses=tuple(Status), max_size=8):
    """Draw the judged rollouts of one draw of one problem."""
    problem = draw(problems())
    members = draw(st.integers(1, max_size))
    return [
        Judged(
            Rollout(
                problem,
                draw(texts),
                "g",
                prefill=draw(st.sampled_from(("", "", "<think>", "<reasoning>"))),
                n_tokens=draw(st.integers(0, 4_000)),
                truncated=draw(st.booleans()),
            ),
            draw(verdicts(statuses)),
        )
        for _ in range(members)
    ]
