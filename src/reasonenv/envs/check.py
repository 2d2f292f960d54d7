"""`check_env`: what every environment must hold to, tried on its own problems.

Errors are about verdicts and the environment's contract; a reward under which a wrong answer can
outscore a right one is a warning.
"""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make
from reasonenv.errors import EnvCheckError, ReasonEnvError
from reasonenv.rewards import Correct, Format
from reasonenv.types import Problem, Rollout, Status, Verdict

__all__ = ["CheckReport", "Finding", "check_env"]

PROBLEMS_TO_TRY = 100
_ODD_SEED = 0x5EED_0DD
_SHOWN = 3  # findings of one kind that are spelled out; the rest are counted


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check has to say: level "error", "warning" or "note"."""

    level: str
    check: str
    message: str


@dataclass(slots=True)
class CheckReport:
    """What the checks of one environment found.

    Attributes:
        env: what was checked.
        checks: the names of the checks that ran, in order.
        findings: all that they have to say.
        golds: problems whose reference completion was judged.
        unchecked: problems without a reference completion.
    """

    env: str
    checks: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    golds: int = 0
    unchecked: int = 0

    @property
    def ok(self) -> bool:
        """Whether no check found an error."""
        return not self.of("error")

    def of(self, level: str) -> list[Finding]:
        """Return the findings of one level."""
        return [finding for finding in self.findings if finding.level == level]

    def raise_if_failed(self) -> None:
        """Raise the errors that were found.

        Raises:
            EnvCheckError: there are any; the message lists them.
        """
        if not self.ok:
            lines = [f"{f.check}: {f.message}" for f in self.of("error")]
            raise EnvCheckError("\n".join([f"{self.env} breaks its contract:", *lines]))


def check_env(
    env: str | ReasoningEnv | gymnasium.Env[Any, Any],
    *,
    problems: int = PROBLEMS_TO_TRY,
    progress: Callable[[str], None] | None = None,
    **kwargs: Any,
) -> CheckReport:
    """Try an environment on its own problems.

    Args:
        env: an ENV argument (`id`, `module:id`, `path/to/file.py:id`), or an environment, wrapped
            or not.
        problems: how many of its problems to judge, drawn with a fixed seed.
        progress: called with the name of each check as it starts.
        kwargs: arguments of the environment (split, data ...), where `env` is an ENV argument.

    Returns:
        The report; `report.ok` tells whether the environment holds.

    Raises:
        ReasonEnvError: the environment cannot be made at all.
        TypeError: it is none of ours.
    """
    name = env if isinstance(env, str) else type(env.unwrapped).__name__
    if isinstance(env, str):
        made = make(env, **kwargs)
    elif kwargs:
        raise TypeError(f"{', '.join(kwargs)}: arguments of an environment that is made already")
    elif isinstance(env.unwrapped, ReasoningEnv):
        made = env.unwrapped
    else:
        raise TypeError(f"{name} is no ReasoningEnv, nor an ENV argument that names one")
    report = CheckReport(name)
    count = min(problems, len(made.problems))
    chosen = np.random.default_rng(0).choice(len(made.problems), size=count, replace=False)
    asked = np.random.default_rng(1)  # as draws ask them
    sample = [made.variants(made.problems[int(i)], asked)[0] for i in chosen]
    for check, run in (
        ("layout", _layout),
        ("problems", _problems),
        ("gold is right", _gold),
        ("junk is never right", _junk),
        ("same seed, same problems", _seeding),
        ("pickles", _pickling),
        ("spec round-trip", _spec),
        ("Gymnasium's checker", _gymnasium),
        ("reward", _reward),
    ):
        if progress is not None:
            progress(check)
        report.checks.append(check)
        try:
            found = list(run(made, sample, report))
        except Exception as error:
            found = [("error", f"the check itself failed: {type(error).__name__}: {error}")]
        for level in ("error", "warning", "note"):
            messages = [message for of, message in found if of == level]
            for message in messages[:_SHOWN]:
                report.findings.append(Finding(level, check, message))
            if len(messages) > _SHOWN:
                more = f"and {len(messages) - _SHOWN} more of this kind"
                report.findings.append(Finding(level, check, more))
    return report


Found = Iterator[tuple[str, str]]


def _verdict(env: ReasoningEnv, problem: Problem, completion: str) -> Verdict:
    return env.judge([Rollout(problem, completion)])[0].verdict


def _layout(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """The instruction, the tags that terms pay for, and the extraction agree."""
    instruction = env.layout.prompt_instruction(env.answer_is)
    if env.layout.instruction is None:
        for tag in env.layout.tags:
            if f"<{tag}>" not in instruction:
                yield "error", f"the instruction does not name <{tag}>: {instruction!r}"
    if env.layout.extract(env.layout.render("42", "why")) != "42":
        yield "error", f"{env.layout!r} does not extract the answer that it renders"
    for leaf in env.reward.leaves():
        paid = getattr(leaf, "tags", ())
        unknown = [tag for tag in paid if tag not in env.layout.tags]
        if unknown:
            yield (
                "error",
                f"{leaf!r} pays for <{unknown[0]}>, which the prompt does not ask for "
                f"(its tags: {', '.join(env.layout.tags) or 'none'})",
            )
        elif isinstance(leaf, Format) and list(paid) != [t for t in env.layout.tags if t in paid]:
            yield (
                "error",
                f"{leaf!r} pays for its tags in another order than the prompt asks for "
                f"({', '.join(env.layout.tags)})",
            )


def _problems(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """The judge can read every gold, also of problems that are not in the sample."""
    for problem_id, why in getattr(env, "unreadable_golds", lambda: ())():
        yield (
            "error",
            f"problem {problem_id}: {why}; an answer spelled otherwise is a checker_error: mend "
            "the gold or leave the problem out",
        )
    for other, how in getattr(env, "overlaps", {}).items():
        yield "note", f"beside {other}: {how}"


def _gold(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """A reference completion in the demanded layout is CORRECT."""
    for problem in sample:
        completion = env.gold_completion(problem)
        if completion is None:
            report.unchecked += 1
            continue
        report.golds += 1
        verdict = _verdict(env, problem, completion)
        if verdict.status is not Status.CORRECT:
            yield (
                "error",
                f"problem {problem.id}: the gold {str(problem.answer)[:80]!r} is judged "
                f"{verdict.status} ({_short(verdict)})",
            )
    if report.unchecked:
        yield "note", f"{report.unchecked} of {len(sample)} problems have no reference completion"
    if not report.golds:
        yield "warning", "no problem has a reference completion: gold_completion returned None"


def _junk(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """Empty, wrapped junk, all options, a list of golds, another gold, an echo: not CORRECT."""
    for number, problem in enumerate(sample):
        for what, completion in _junk_for(env, sample, number):
            verdict = _verdict(env, problem, completion)
            if verdict.status is Status.CORRECT:
                yield "error", f"problem {problem.id}: {what} is paid: {completion[:80]!r}"


def _junk_for(env: ReasoningEnv, sample: list[Problem], number: int) -> Iterator[tuple[str, str]]:
    problem, render = sample[number], env.layout.render
    yield "the empty completion", ""
    yield "an empty answer in the demanded layout", render("", "")
    yield "junk in the demanded layout", render("qwxz", "lorem ipsum")
    yield "the prompt echoed", env.prompt_text(problem)
    yield "the prompt echoed as the answer", render(env.question(problem), "")
    if "expression" in problem.metadata:
        yield "the sum restated as its result", render(str(problem.metadata["expression"]), "")
    options = [str(option) for option in problem.metadata.get("options") or ()]
    labels: list[str] = []
    if options:
        default = [chr(ord("A") + i) for i in range(len(options))]
        labels = [str(label) for label in problem.metadata.get("labels") or default]
        if not (problem.metadata.get("multiple") and len(problem.answer) == len(labels)):
            yield "every option's label", render(", ".join(labels), "")
        listed = "\n".join(f"{a}. {b}" for a, b in zip(labels, options, strict=True))
        yield "every option listed", listed
        yield "every option listed as the answer", render(listed, "")
    other = sample[(number + 1) % len(sample)]
    gold, foreign = env.gold_completion(problem), env.gold_completion(other)
    near = [sample[(number + i) % len(sample)] for i in range(-4, 5)]
    golds = dict.fromkeys(str(one.answer) for one in near if one.answer is not None)
    if labels:  # the labels of other questions mean nothing here: with one of its own it is chosen
        golds = dict.fromkeys(label for label in golds if label in labels)
    if gold is not None and len(golds) > 2:
        yield "a list of golds as the answer", render(", ".join(golds), "")
    # Two golds may be one answer in two spellings: then each is right for the other, too. And a
    # label of another style may name an option in its own way: "1" is the first one.
    if (
        gold is not None
        and foreign is not None
        and (not labels or str(other.answer) in labels)
        and _verdict(env, other, gold).status is not Status.CORRECT
    ):
        yield f"the gold of problem {other.id}", foreign


def _seeding(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """The same seeds draw the same problems, however many copies share the work."""

    def draws(seeds: range, one: ReasoningEnv) -> list[str]:
        return [one.reset(seed=seed)[1]["problem_id"] for seed in seeds]

    whole = draws(range(16), copy.copy(env))
    halves = draws(range(8), copy.copy(env)) + draws(range(8, 16), copy.copy(env))
    if whole != halves:
        yield "error", "reset(seed=) draws other problems in another worker"
    if len(set(whole)) == 1 and len(env.problems) > 8:
        yield "error", f"16 seeds draw one problem of {len(env.problems)}"
    kept = np.random.get_state(), random.getstate()
    try:
        np.random.seed(_ODD_SEED)  # a state that no environment sets by itself
        random.seed(_ODD_SEED)
        before = str(np.random.get_state(legacy=False)), random.getstate()
        copy.copy(env).reset(seed=1)
        after = str(np.random.get_state(legacy=False)), random.getstate()
    finally:
        np.random.set_state(kept[0])
        random.setstate(kept[1])
    for whose, old, new in zip(("numpy", "random"), before, after, strict=True):
        if old != new:
            yield "error", f"reset changes the global random state of {whose}: use self.np_random"


def _pickling(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """A pickled copy asks the same."""
    try:
        twin = pickle.loads(pickle.dumps(env))
    except Exception as error:
        yield (
            "error",
            f"cannot be pickled, so no worker process can have it: {error}; define judge, reward "
            "terms and generators at a module's top level",
        )
        return
    if twin.reset(seed=3)[1] != copy.copy(env).reset(seed=3)[1]:
        yield "error", "a pickled copy draws other problems"


def _spec(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """The spec survives JSON, where it is made of plain data."""
    if env.spec is None:
        yield "note", "made without gymnasium.make: no spec to check"
        return
    if not _is_plain(env.spec.kwargs) or callable(env.spec.entry_point):
        yield (
            "note",
            "the spec holds objects or functions, so it cannot be written as JSON; with entry "
            "points as strings and the reward as a formula it could",
        )
    elif EnvSpec.from_json(env.spec.to_json()) != env.spec:
        yield "error", "the spec changes on its way through JSON"


def _is_plain(value: Any) -> bool:
    """Return whether JSON holds `value`; a dataclass it would hand back as a mapping."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(one) for key, one in value.items())
    if isinstance(value, list):  # JSON would turn a tuple into one
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _gymnasium(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """Gymnasium's own checker passes."""
    twin = copy.copy(env)
    twin.on_unscored = "nan"
    if twin.reward.needs_group:
        twin.reward = Correct()
        yield "note", "the reward compares the members of a group: step() was tried without it"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            gymnasium_check_env(twin, skip_render_check=env.spec is None)
        except ReasonEnvError:
            raise
        except Exception as error:
            yield "error", f"{type(error).__name__}: {error}"
    for warning in caught:
        text = str(warning.message).replace("\x1b[33m", "").replace("\x1b[0m", "")
        if "spec" not in text and not text.startswith("golds that cannot"):  # said already
            yield "warning", text


def _reward(env: ReasoningEnv, sample: list[Problem], report: CheckReport) -> Found:
    """A right answer earns more than a wrong one."""
    for warning in env.reward.warnings():
        yield "warning", f"{env.reward!r}: {warning}"


def _short(verdict: Verdict) -> str:
    found = f"found {verdict.answer!r}" if verdict.answer is not None else "nothing found"
    return f"{found}; {dict(verdict.detail)}"[:200]
