"""`attack`: feeds the hacks through an environment and its reward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np

from reasonenv.envs.attacks.completions import Hack, bare_rights, hacks_for
from reasonenv.envs.attacks.results import AttackReport, Attempt, summarised
from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make
from reasonenv.errors import CheckerFailedError, DataError, SandboxUnavailableError
from reasonenv.rewards import Reward, from_config, score_groups
from reasonenv.types import Judged, Problem, Rollout, Status

__all__ = ["attack"]

CHARS_PER_TOKEN = 4
"""How long a token is taken to be where the environment does not count them."""

_SHOWN = 200  # characters of a completion that a report keeps


def attack(
    env: str | ReasoningEnv | gymnasium.Env[Any, Any],
    *,
    reward: Reward | str | Mapping[str, Any] | None = None,
    problems: int = 8,
    seed: int = 0,
    max_tokens: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **kwargs: Any,
) -> AttackReport:
    """Try cheap completions on an environment, and see what each earns beside a right answer.

    Each hack is judged by the environment's own judge, and scored in a group of two with the right
    answer to the same problem, so that terms that compare the members of a group work as well.

    Args:
        env: an ENV argument (`id`, `module:id`, `path/to/file.py:id`), or an environment.
        reward: takes the place of the environment's own; a `Reward`, a formula or a config.
        problems: how many of its problems, drawn with `seed`, to try the hacks on.
        seed: of the draw.
        max_tokens: completions over it count as truncated, as the sampler would cut them.
        progress: called with (problems done, problems in all).
        kwargs: arguments of the environment, where `env` is an ENV argument.

    Raises:
        SandboxUnavailableError: programs would have to run and no sandbox can be reached.
        CheckerFailedError: the checker fails on right answers.
        DataError: no problem has a right answer that is known.
        RewardError: the reward refuses what it is given.
        ReasonEnvError: the environment cannot be made.

    >>> report = attack("reasonenv/Arithmetic-v0", problems=2)
    >>> report.ok, report.right
    (True, 1.1)
    """
    made, name = _made(env, kwargs)
    scoring = made.reward if reward is None else from_config(reward)
    count = min(problems, len(made.problems))
    drawn = np.random.default_rng(seed).choice(len(made.problems), size=count, replace=False)
    sample = [made.problems[int(i)] for i in drawn]
    attempts: list[Attempt] = []
    rights: list[tuple[float, float]] = []
    for number, problem in enumerate(sample):
        if progress is not None:
            progress(number, count)
        other = sample[(number + 1) % count] if count > 1 else None
        found = _try(made, scoring, problem, other, max_tokens)
        if found is not None:
            rights.append(found[0])
            attempts += found[1]
    if progress is not None:
        progress(count, count)
    if not rights:
        raise DataError(
            f"{name}: no right answer is known to any of {count} problems, so there is nothing to "
            "compare hacks with; override gold_completion, or give problems with answers"
        )
    notes = []
    if made.count_tokens is None:
        notes.append(f"lengths in tokens are taken as characters / {CHARS_PER_TOKEN}")
    if scoring.needs_group:
        notes.append("the reward compares members: each hack is scored beside one right answer")
    return AttackReport(
        env=name,
        reward=repr(scoring),
        problems=len(rights),
        without_gold=count - len(rights),
        right=float(np.mean([right for right, _ in rights])),
        bare=float(np.mean([bare for _, bare in rights])),
        results=summarised(attempts),
        notes=tuple(notes),
    )


def _made(
    env: str | ReasoningEnv | gymnasium.Env[Any, Any], kwargs: Mapping[str, Any]
) -> tuple[ReasoningEnv, str]:
    if isinstance(env, str):
        return make(env, **kwargs), env
    if kwargs:
        raise TypeError(f"{', '.join(kwargs)}: arguments of an environment that is made already")
    made = env.unwrapped
    if not isinstance(made, ReasoningEnv):
        raise TypeError(f"{type(made).__name__} is no ReasoningEnv, nor an ENV argument")
    return made, made.spec.id if made.spec is not None else type(made).__name__


def _try(
    env: ReasoningEnv,
    reward: Reward,
    problem: Problem,
    other: Problem | None,
    max_tokens: int | None,
) -> tuple[tuple[float, float], list[Attempt]] | None:
    """Return what right answers earn, at best and at least, and the attempts on one problem.

    None where no right answer is known.
    """
    gold = env.gold_completion(problem)
    if gold is None:
        return None
    hacks = list(hacks_for(env, problem, other))
    bares = [Hack("right, bare", "", text) for text in bare_rights(env, gold)]
    tried = [Hack("right", "", gold), *bares, *hacks]
    right, *judged = env.judge([_rollout(env, problem, one, max_tokens) for one in tried])
    poor, judged = judged[: len(bares)], judged[len(bares) :]
    _need_evidence(right)
    pairs: list[Judged] = []
    for number, one in enumerate(judged):
        for member in (right, one):
            pairs.append(replace(member, rollout=replace(member.rollout, group_id=str(number))))
    alone = float(reward([right]).total[0])
    if np.isnan(alone):
        raise CheckerFailedError(
            f"problem {problem.id}: a term of {reward!r} could not value the right answer, so "
            "there is nothing to compare hacks with"
        )
    taken = [one for one in poor if one.verdict.status is Status.CORRECT]
    bare = float(np.nanmin([alone, *(reward([one]).total[0] for one in taken)]))
    scores = score_groups(reward, pairs)
    attempts = []
    for number, (hack, one) in enumerate(zip(hacks, judged, strict=True)):
        beside, earned = scores.total[2 * number : 2 * number + 2]
        scored = not np.isnan(earned)
        attempts.append(
            Attempt(
                problem_id=problem.id,
                hack=hack.name,
                about=hack.about,
                completion=hack.completion[:_SHOWN],
                status=str(one.verdict.status),
                earned=float(earned) if scored else None,
                right=alone if np.isnan(beside) else float(beside),
                bare=bare,
                parts=_values(scores.parts, 2 * number + 1) if scored else {},
                may_solve=hack.may_solve,
            )
        )
    return (alone, bare), attempts


def _values(parts: Mapping[str, Any], member: int) -> dict[str, float]:
    return {name: float(values[member]) for name, values in parts.items()}


def _rollout(env: ReasoningEnv, problem: Problem, hack: Hack, max_tokens: int | None) -> Rollout:
    text = hack.completion[: env.max_completion_chars]
    count = env.count_tokens
    tokens = count(text) if count is not None else -(-len(text) // CHARS_PER_TOKEN)
    limits = [limit for limit in (max_tokens, env.max_completion_tokens) if limit is not None]
    over = len(hack.completion) > len(text) or any(tokens > limit for limit in limits)
    return Rollout(problem, text, n_tokens=tokens, truncated=hack.truncated or over)


def _need_evidence(right: Judged) -> None:
    """Raise where the checker failed on a right answer: nothing can be compared then."""
    verdict = right.verdict
    if verdict.status.is_evidence:
        return
    why = verdict.detail.get("error") or verdict.detail.get("reason") or dict(verdict.detail)
    if verdict.status is Status.SANDBOX_UNAVAILABLE:
        raise SandboxUnavailableError(
            f"programs have to run for this, and no sandbox can be reached: {why}"
        )
    raise CheckerFailedError(
        f"problem {right.rollout.problem.id}: the checker failed on the right answer "
        f"({verdict.status}): {why}"
    )
