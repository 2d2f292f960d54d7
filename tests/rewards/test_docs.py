"""What docs/rewards.md shows is so."""

import re
from pathlib import Path

import pytest

from reasonenv.rewards import parse

PAGE = Path(__file__).parents[2].joinpath("docs", "rewards.md").read_text()


def test_its_example_runs_and_gives_what_it_says(capsys):
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    space = {}
    exec(code, space)
    [said] = re.findall(r"# (Range\(.*\))", code)
    assert repr(space["reward"].range(correct=False)) == said
    assert "PROVED" in capsys.readouterr().out


@pytest.mark.parametrize("name", re.findall(r"^\| `(study\.\w+\(\))`", PAGE, re.MULTILINE))
def test_its_table_of_the_studys_rewards_holds(name):
    [row] = re.findall(rf"^\| `{re.escape(name)}` \|(.*)\|$", PAGE, re.MULTILINE)
    right, wrong, verdict = (cell.strip() for cell in row.split("|"))
    found = parse(name).audit()
    assert found.right_low == pytest.approx(float(re.match(r"[\d.]+", right)[0]))
    assert found.wrong_high == pytest.approx(float(wrong))
    assert verdict.startswith(found.verdict)
    assert found.assumptions[0].right_low == pytest.approx(float(re.findall(r"\d\.\d", right)[1]))
