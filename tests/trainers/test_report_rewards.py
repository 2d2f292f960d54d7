"""What a report says of the reward, from stored rollouts alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from reasonenv.errors import DataError
from reasonenv.rewards import from_config, gdpo, score_groups
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.report.rewards import reward_section, stored_rollouts
from reasonenv.trainers.run import Run
from reasonenv.trainers.storage import rollout_rows, scores_of, write_rollouts
from reasonenv.types import Judged, Problem, Rollout, Verdict

REWARD = "Correct() + 1.5 * Format('a') + 0.1 * Format('b', name='b')"
MEMBERS = (("<a>x</a>", False), ("4", True), ("x | `y`", False), ("<a>4</a>", True), ("", None))


def judged(step: int) -> list[Judged]:
    found = []
    for text, right in MEMBERS:
        status = {True: "correct", False: "incorrect", None: "checker_error"}[right]
        rollout = Rollout(Problem("2+2=", "4", id="p"), text, "g", step=step)
        found.append(Judged(rollout, Verdict(status, float(bool(right)))))
    return found


def make_run(path: Path, *, steps: int = 3, with_gdpo: bool = False) -> Run:
    run = Run.create(path, Recipe.make({"steps": steps, "reward": REWARD}))
    run.write_facts({**run.facts, "reward": REWARD})
    reward = from_config(REWARD)
    for step in range(steps):
        members = judged(step)
        scores = score_groups(reward, members)
        learned = score_groups(gdpo(reward), members) if with_gdpo else None
        rows = rollout_rows(members, scores, ["2+2="] * len(members), learned, step)
        assert scores_of(rows).total.tolist()[:4] == scores.total.tolist()[:4]
        write_rollouts(run.rollouts, "train", step, rows)
    return run


def test_it_names_what_teaches_what_is_dead_and_what_was_turned_round(tmp_path: Path) -> None:
    sections, pictures = reward_section(make_run(tmp_path / "run"))
    text = "\n".join(sections)
    assert text.startswith("## What the reward taught\nFrom 15 stored rollouts in 3 groups")
    [dead] = [line for line in sections[2].splitlines() if line.startswith("| `b`")]
    assert dead.endswith("| dead |")
    assert "3 of 3 mixed ones" in text
    assert "| 1 | 1.500 |" in text  # the wrong answer that earned most, at the first step
    assert pictures["reward_parts.png"].startswith(b"\x89PNG")


def test_a_run_with_gdpo_is_told_of_by_the_parts_that_its_loss_read(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", with_gdpo=True)
    assert set(stored_rollouts(run.path)[0]["learned"]) == {"correct", "format", "b"}
    text = "\n".join(reward_section(run)[0])
    assert "normalised in its group" in text
    # Two normalised parts that do not hang together own as their squared weights: 1 and 2.25.
    rows = [line for line in text.splitlines() if line.startswith(("| `correct`", "| `format`"))]
    assert [row.split("|")[5].strip() for row in rows[:2]] == ["31%", "69%"]


def test_long_runs_are_read_in_part_and_the_last_generation_is_among_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reasonenv.trainers.report.rewards._GENERATIONS", 2)
    run = make_run(tmp_path / "run", steps=5)
    assert sorted({row["step"] for row in stored_rollouts(run.path)}) == [1, 4]


def test_without_rollouts_there_is_no_section_and_an_audit_says_so(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", Recipe.make({"steps": 1}))
    assert reward_section(run) == ([], {})
    with pytest.raises(DataError, match="no training rollouts are stored"):
        stored_rollouts(run.path)


def test_a_reward_that_cannot_be_made_here_is_told_of_by_its_rows(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    run.write_facts({**run.facts, "reward": "Correct() + term('gone:away')"})
    assert "## What the reward taught" in reward_section(run)[0]
