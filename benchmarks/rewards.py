"""How fast rewards are composed: rollouts scored a second, and the ratio to bare functions.

    python benchmarks/rewards.py [--rollouts 10000] [--group 16] [--rounds 9]

Judging is excluded: the rollouts come judged. Scored are completions of some 400 characters in
groups, with the study's reward for GSM8K (`study.gsm8k()`, six terms), by `score_groups`: verdicts
to outcome, six terms with their range checks, parts and total. The bare side is what one would
write without a library: six Python functions that do the same work on the text, added up with their
weights in a loop. Both give the same totals, which is checked. They take turns, in CPU seconds of
one thread; printed are the best and the median of the rounds, and the median of the paired ratios.

The aim: at least 50,000 rollouts a second. A second table shows the same with group-relative terms,
per-component normalisation (GDPO) and a schedule, without a bare counterpart.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from reasonenv.rewards import RewardContext, gdpo, parse, score_groups, study
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

AIM = 50_000
TEXT = "so we add the two and then take half of what is left over from the first day"
DIGIT = re.compile(r"\d")
WORD = re.compile(r"\w")
TAGS = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")
SECTIONS = (("<reasoning>", "</reasoning>"), ("<answer>", "</answer>"))


def make(count: int, size: int, seed: int = 0) -> list[Judged]:
    """Return judged rollouts: most laid out as asked, some not, some not judged at all."""
    rng = random.Random(seed)
    made = []
    for i in range(count):
        problem = Problem(f"What is {i // size}+1?", str(i // size + 1), id=f"p{i // size}")
        thought = " ".join(rng.choices(TEXT.split(), k=80))
        right = rng.random() < 0.5
        answer = problem.answer if right else str(rng.randrange(100, 999))
        text = f"<reasoning>\n{thought}\n</reasoning>\n<answer>{answer}</answer>"
        kind = rng.random()
        if kind < 0.1:
            text = f"{thought}. The answer is {answer}."
        elif kind < 0.2:
            text += f"\nSo it is {answer}."
        status = Status.CORRECT if right else Status.INCORRECT
        if rng.random() < 0.01:
            status = Status.CHECKER_TIMEOUT
        score = float(status is Status.CORRECT)
        rollout = Rollout(problem, text, f"g{i // size}", n_tokens=rng.randrange(20, 512))
        made.append(Judged(rollout, Verdict(status, score, answer)))
    return made


def correct(one: Judged) -> float:
    """Return 1 for a right answer."""
    return float(one.verdict.status is Status.CORRECT)


def xml_count(one: Judged) -> float:
    """Return the share of tags that stand once, less what follows the last."""
    text = one.rollout.text
    share = sum(text.count(tag) == 1 for tag in TAGS) / 4
    _, closer, after = text.rpartition(TAGS[-1])
    return max(0.0, share - 0.001 * len(after.strip())) if closer else share


def numeric(one: Judged) -> float:
    """Return 1 if the answer holds a digit."""
    return float(bool(DIGIT.search(one.verdict.answer or "")))


def layout(one: Judged) -> float:
    """Return 1 if the completion is exactly the two sections, neither of them empty."""
    text, position = one.rollout.text, 0
    for opener, closer in SECTIONS:
        if text.count(opener) != 1 or text.count(closer) != 1:
            return 0.0
        start, end = text.find(opener), text.find(closer)
        content = text[start + len(opener) : end]
        if start < position or text[position:start].strip() or not content.strip():
            return 0.0
        position = end + len(closer)
    return float(not text[position:].strip())


def reasoning(one: Judged) -> float:
    """Return 1 if there is some reasoning."""
    text = one.rollout.text
    opener = text.find("<reasoning>")
    end = text.find("</reasoning>", opener + 11) if opener >= 0 else -1
    return float(end >= 0 and WORD.search(text, opener + 11, end) is not None)


def answered(one: Judged) -> float:
    """Return 1 if there is an answer."""
    return float(correct(one) or bool((one.verdict.answer or "").strip()))


BARE: Sequence[tuple[float, Callable[[Judged], float]]] = (
    (2.0, correct),
    (0.5, xml_count),
    (0.5, numeric),
    (0.5, layout),
    (0.1, reasoning),
    (0.1, answered),
)


def bare(judged: Sequence[Judged]) -> list[float]:
    """Return the totals, NaN where the checker failed: no names, no checks, no parts."""
    totals = []
    for one in judged:
        if not one.verdict.status.is_evidence:
            totals.append(float("nan"))
            continue
        totals.append(sum(weight * function(one) for weight, function in BARE))
    return totals


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rollouts", type=int, default=10_000)
    arguments.add_argument("--group", type=int, default=16)
    arguments.add_argument("--rounds", type=int, default=9)
    given = arguments.parse_args()
    judged = make(given.rollouts, given.group)
    reward = study.gsm8k()
    assert np.allclose(score_groups(reward, judged).total, bare(judged), equal_nan=True)
    ours, theirs = [], []
    for _ in range(given.rounds):
        ours.append(seconds(lambda: score_groups(reward, judged)))
        theirs.append(seconds(lambda: bare(judged)))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    chars = statistics.mean(len(one.rollout.text) for one in judged)
    print(
        f"{given.rollouts:,} rollouts of {chars:.0f} characters in groups of {given.group}, "
        f"{given.rounds} rounds, one thread\n"
    )
    print("| scored by | rollouts/s, best | rollouts/s, median |\n|:--|--:|--:|")
    for name, spent in (("`study.gsm8k()`", ours), ("six bare functions", theirs)):
        best, middle = given.rollouts / min(spent), given.rollouts / statistics.median(spent)
        print(f"| {name} | {best:,.0f} | {middle:,.0f} |")
    met = given.rollouts / statistics.median(ours) >= AIM
    print(f"\ntime of ours / bare, median of paired rounds: {ratio:.2f}")
    print(f"aim: at least {AIM:,} a second: {'met' if met else 'missed'}\n")
    print("| reward | rollouts/s, median |\n|:--|--:|")
    for name, other in (
        (
            "`+ gate(0.3 * ShortestCorrect(), when=solved) + 0.1 * KimiLength()`",
            reward + parse("gate(0.3 * ShortestCorrect(), when=solved) + 0.1 * KimiLength()"),
        ),
        ("`gdpo(study.gsm8k())`", gdpo(reward, given.group)),
        (
            "`+ Scheduled(0.1 * TagCount('answer'), Linear(1.0, 0.0, steps=100))`",
            reward + parse("Scheduled(0.1 * TagCount('answer'), Linear(1.0, 0.0, steps=100))"),
        ),
    ):
        work = partial(score_groups, other, judged, RewardContext(step=7, total_steps=100))
        spent = [seconds(work) for _ in range(5)]
        print(f"| {name} | {given.rollouts / statistics.median(spent):,.0f} |")


if __name__ == "__main__":
    main()
