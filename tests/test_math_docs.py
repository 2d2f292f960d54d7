"""What docs/math-checking.md shows is so."""

import re
from pathlib import Path

import pytest

from reasonenv.checkers import MathJudge, judge_answer
from reasonenv.checkers.math import explain
from reasonenv.problems import CATALOGUE
from reasonenv.types import Problem

TEXT = (Path(__file__).parents[1] / "docs" / "math-checking.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)

EQUAL = r"""
1,234 | 1{,}234
1,234 | 1234
3\times10^8 | 3e8
2^{10} | 1024
6/8 | 3/4
twelve | 12
0.5 | 1/2
0.\overline{3} | 1/3
0.333333 | 1/3
4.123105625617661 | \sqrt{17}
50\% | 0.5
50\% | 50 percent
15 | 15\text{ cm}^2
15 | 15 apples
15 | \$15
90^\circ | 90
3\frac12 | 3 1/2
3\frac12 | 7/2
The Ellipse. | \text{ellipse}
(C) | C
C | (C) 12
(x+1)^2 | x^2+2x+1
(x^2-1)/(x-1) | x+1
\sin 30^\circ | 1/2
x = 5 | 5
y = 2x+1 | 2x - y + 1 = 0
x=1, y=2 | (1, 2)
x < 3 | (-\infty, 3)
[1,2] \cup [2,3] | [1,3]
\mathbb R | all real numbers
\{1,2\} | \{2,1\}
\{1,2\} | 1 and 2
\pm 2 | \{2, -2\}
\begin{pmatrix}1&2\end{pmatrix} | \begin{bmatrix}1&2\end{bmatrix}
1011_2 | 1011_{\text{two}}
1011_2 | 1011
\infty | +\infty
\infty | infinity
"""
DIFFERENT = r"""
1,2 | 12
2^64 | 2^64 + 1
99999999999 | 100000000000
0.33 | 1/3
3.14 | \pi
22/7 | \pi
0.333334 | 1/3
5 | 5\%
15 cm | 15 km
15 | 5x
31/2 | 7/2
12 | (C) 12
\sqrt{x^2} | x
x | X
F | F + C
x = 5 | y = 5
n = 3k | 3
(0,1) | [0,1]
(1,2) | (2,1)
(1,2) | \{1,2\}
\begin{pmatrix}1&2\end{pmatrix} | \begin{pmatrix}1\\2\end{pmatrix}
\{1,2\} | \{1,2,3\}
1011_2 | 1011_3
\infty | -\infty
\infty | 1e999
-2^2 | 4
"""


def pairs(table):
    return [line.split(" | ") for line in table.strip().splitlines()]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_each_python_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = '{"problem": "1+1?", "solution": "It is $\\\\boxed{2}$.", "level": "Level 1"}\n'
    (tmp_path / "math_train.jsonl").write_text(row)
    names = {}
    exec(block, names)
    if "accuracy" in names:
        completions = [[{"role": "assistant", "content": "\\boxed{4}"}], "Answer: 5", "Answer: 4"]
        given = names["accuracy"](completions, answer=["4", "4", ""], prompts=["?"] * 3)
        assert given == [1.0, 0.0, None]


@pytest.mark.parametrize(("one", "other"), pairs(EQUAL))
def test_what_is_called_equal_is_equal_in_both_directions(one, other):
    assert judge_answer(one, other).correct is True
    assert judge_answer(other, one).correct is True


@pytest.mark.parametrize(("one", "other"), pairs(DIFFERENT))
def test_what_is_called_different_is_different_in_both_directions(one, other):
    assert judge_answer(one, other).correct is False
    assert judge_answer(other, one).correct is False


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ("<think>2</think> \\boxed{3}", "3"),
        ("<think>\\boxed{3}", None),
        ("\\boxed{3}, then \\boxed{", None),
        ("\\boxed{3} and \\boxed{5}", "3, 5"),
        ("<answer>3</answer>", "3"),
        ('{"reasoning": "2", "answer": "3"}', "3"),
        ("#### 3", "3"),
        ("Answer: 3", "3"),
        ("The final answer is 3.", "3"),
        ("Thus x = 12.", "12"),
        ("The total is 72 clips.", "72"),
        ("The answer is not 7.", None),
    ],
)
def test_answers_stand_where_it_says(completion, answer):
    if answer is None:
        gold = "3" if "3" in completion else "7"
        assert MathJudge()(Problem("?", gold), completion).correct is False
    else:
        assert MathJudge()(Problem("?", answer), completion).correct is True


def test_the_explanation_that_is_shown_is_the_one_that_is_given():
    assert explain("1/2", "0.5") in TEXT


def test_every_option_stands_in_the_table_with_its_default():
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", TEXT, re.MULTILINE))
    fields = MathJudge.__dataclass_fields__
    assert rows == {name: repr(field.default).replace("'", '"') for name, field in fields.items()}


def test_every_problem_set_stands_in_the_table_with_its_overlaps():
    for entry in CATALOGUE.values():
        if entry.kind == "math" and entry.dataset:
            line = next(line for line in TEXT.splitlines() if f"| {entry.dataset} |" in line)
            assert ", ".join(entry.splits) in line
            assert all(how in line for how in entry.overlaps.values())
