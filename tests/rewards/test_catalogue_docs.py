"""What docs/reward-catalogue.md shows is so."""

import ast
import re
from pathlib import Path

from reasonenv.rewards import NAMED_REWARDS, TERMS, parse
from reasonenv.rewards.language import LANGUAGES

TEXT = (Path(__file__).parents[2] / "docs" / "reward-catalogue.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
ROW = re.compile(r"^\| `study\.(\w+)\(\)` \|.*\| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


def test_every_term_and_every_named_reward_stands_in_the_page():
    for name in (*TERMS, *NAMED_REWARDS, *(f" {code}" for code in LANGUAGES)):
        assert name in TEXT, name


def test_the_python_runs_and_its_comments_are_the_results():
    assert BLOCKS
    for block in BLOCKS:
        space, lines = {}, block.splitlines()
        for statement in ast.parse(block).body:
            code = ast.unparse(statement)
            _, _, wanted = lines[statement.end_lineno - 1].partition("  # ")
            if wanted:
                assert repr(eval(code, space)) == wanted
            else:
                exec(code, space)


def test_the_table_of_the_studys_rewards_is_their_ranges():
    rows = ROW.findall(TEXT)
    assert {row[0] for row in rows} == {n[6:] for n in NAMED_REWARDS if n.startswith("study.")}
    for name, wrong, right in rows:
        reward = parse(f"study.{name}()")
        assert round(reward.range(correct=False).high, 6) == float(wrong)
        assert round(reward.range(correct=True).low, 6) == float(right)
