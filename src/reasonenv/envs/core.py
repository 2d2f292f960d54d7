"""`ReasoningEnv`: a question as observation, a completion as action, a verdict as reward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import isnan
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Space

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.base import Judge, concurrency_of, judge_safely
from reasonenv.envs.endings import ending
from reasonenv.envs.spaces import MessagesSpace, UnicodeText
from reasonenv.errors import (
    CheckerFailedError,
    DataError,
    GroupRequiredError,
    RegistrationError,
)
from reasonenv.problems.base import Problems, as_problems
from reasonenv.rewards import (
    Reward,
    RewardContext,
    Scores,
    check_turns,
    comparing,
    from_config,
    score_groups,
    step_reward,
)
from reasonenv.types import Judged, Message, Problem, Prompt, Rollout, Status, Verdict

__all__ = ["ReasoningEnv"]

MAX_COMPLETION_CHARS = 1_000_000
"""Longest completion that is judged whole where no limit is given."""


class ReasoningEnv(gymnasium.Env[Prompt, str]):
    """One question an episode: `reset` asks it, `step(completion)` judges the answer.

    A subclass gives problems and judge by overriding `load_problems` and `make_judge`; all else
    has a default. `step` ends the episode with `terminated` where the answer is final (right, or
    given at the last turn), and with `truncated` where a limit ended it: the last of several turns
    brought no answer, the completion was too long, or its checker failed with turns left.

    Args:
        problems: what to ask; None calls `load_problems(split, data)`.
        split: "train" or "test"; which part of the problems.
        data: a file or an iterable to take the problems from instead of their usual source.
        judge: decides on a completion; None calls `make_judge()`.
        reward: a `Reward`, a formula, or a config; None calls `default_reward()`.
        layout: how a completion should be laid out; a mapping of `AnswerFormat`'s fields will do.
        system: a system message before the question.
        observation: "text" for one string, "messages" for chat messages.
        max_turns: completions in one episode; after a wrong one the next observation is feedback.
        max_completion_tokens: the length limit, counted by `count_tokens`.
        count_tokens: the length of a text in tokens; without it lengths are in characters.
        max_completion_chars: the length limit in characters.
        on_unscored: what `step` does where the checker failed: "raise", or "nan" as reward.
        render_mode: None or "ansi".

    Raises:
        ValueError: an option that is none of those named here.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}  # type: ignore[misc]
    kind: ClassVar[str] = "custom"
    description: ClassVar[str] = ""
    answer_is: str = "final answer"
    default_layout: ClassVar[AnswerFormat] = AnswerFormat()
    views: int = 1
    """How many renderings of its problem the members of one training group see."""
    eval_views: int = 1
    """How many renderings of each problem an evaluation asks."""

    def __init__(
        self,
        problems: Problems | Iterable[Problem] | None = None,
        *,
        split: str = "train",
        data: Any = None,
        judge: Judge | None = None,
        reward: Reward | str | Mapping[str, Any] | None = None,
        layout: AnswerFormat | Mapping[str, Any] | None = None,
        system: str | None = None,
        observation: str = "text",
        max_turns: int = 1,
        max_completion_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        max_completion_chars: int = MAX_COMPLETION_CHARS,
        on_unscored: str = "raise",
        render_mode: str | None = None,
    ) -> None:
        for name, given, valid in (
            ("observation", observation, ("text", "messages")),
            ("on_unscored", on_unscored, ("raise", "nan")),
            ("render_mode", render_mode, (None, "ansi")),
        ):
            if given not in valid:
                raise ValueError(f"{name}={given!r} is not one of {', '.join(map(repr, valid))}")
        for name, number in (
            ("max_turns", max_turns),
            ("max_completion_chars", max_completion_chars),
            ("max_completion_tokens", max_completion_tokens),
        ):
            if number is not None and number < 1:
                raise ValueError(f"{name}={number}: at least 1 is needed")
        if max_completion_tokens is not None and count_tokens is None:
            raise ValueError("max_completion_tokens needs count_tokens, which counts them")
        self.split, self.data = split, data
        self.layout = as_layout(self.default_layout if layout is None else layout)
        source = self.load_problems(split, data) if problems is None else problems
        self.problems: Problems = as_problems(source, type(self).__name__)
        self.judge_one: Judge = self.make_judge() if judge is None else judge
        self.reward: Reward = self.default_reward() if reward is None else from_config(reward)
        check_turns(self.reward, max_turns=max_turns)
        self.system, self.observation = system, observation
        self.max_turns, self.on_unscored = max_turns, on_unscored
        self.max_completion_tokens, self.count_tokens = max_completion_tokens, count_tokens
        self.max_completion_chars = max_completion_chars
        self.render_mode = render_mode
        self.action_space: Space[str] = UnicodeText()
        self.observation_space: Space[Any] = (
            UnicodeText() if observation == "text" else MessagesSpace()
        )
        self._problem: Problem | None = None
        self._turns: list[tuple[str, str]] = []
        self._transcript: list[tuple[str, str]] = []

    @property
    def problem(self) -> Problem | None:
        """What the running episode asks, as it was asked (`variants`); None before `reset`."""
        return self._problem

    # What a subclass gives

    def load_problems(self, split: str, data: Any) -> Problems | Iterable[Problem]:
        """Return the problems of `split`, taken from `data` where that is given."""
        if data is not None:
            from reasonenv.problems import load

            return load("jsonl", split=split, data=data)
        raise DataError(
            f"{type(self).__name__} has no problems: give problems= or data=, or override "
            "load_problems(split, data)"
        )

    def make_judge(self) -> Judge:
        """Return the judge of this environment's answers."""
        raise RegistrationError(
            f"{type(self).__name__} has no judge: give judge=, or override make_judge"
        )

    def default_reward(self) -> Reward:
        """Return the reward used where none is given: correctness, and a little for layout."""
        if self.layout.boxed:
            return from_config("Correct()")
        tags = ", ".join(map(repr, self.layout.tags))
        return from_config(f"Correct() + 0.1 * Format({tags})")

    def variants(
        self, problem: Problem, rng: np.random.Generator, count: int = 1
    ) -> tuple[Problem, ...]:
        """Return the problem as one draw asks it, in `count` ways: itself, unless overridden.

        `reset` and the learner ask these instead of `problem`. Each has the id of `problem`, and
        the first is the same whatever `count` is. How it was made may stand, as plain data, in
        its `metadata["rendering"]`: it is stored with each rollout.

        Args:
            problem: one of `problems`.
            rng: decides; the result depends on it and on `problem` alone.
            count: how many.
        """
        return (problem,) * count

    def as_asked(self, problem: Problem, rendering: Mapping[str, Any] | None) -> Problem:
        """Return the problem as a draw asked it, to judge a stored rollout again.

        Args:
            problem: one of `problems`.
            rendering: what the draw's `metadata["rendering"]` held, as it was stored; None where
                it held nothing.

        Raises:
            DataError: it is no rendering of this problem.
        """
        return problem

    def question(self, problem: Problem) -> str:
        """Return the question as text, without the instruction on layout."""
        prompt = problem.prompt
        text = prompt if isinstance(prompt, str) else "\n\n".join(m["content"] for m in prompt)
        return text + self.below_question(problem)

    def below_question(self, problem: Problem) -> str:
        """Return what stands right below the question: nothing, unless the kind has options."""
        return ""

    def instruction(self, problem: Problem) -> str:
        """Return what the prompt demands of an answer's layout."""
        return self.layout.prompt_instruction(self.answer_is)

    def gold_completion(self, problem: Problem) -> str | None:
        """Return a completion in the demanded layout that is right, None where none is known."""
        if problem.answer is None:
            return None
        reasoning = str(problem.metadata.get("solution") or "Worked out step by step.")
        return self.layout.render(str(problem.answer), reasoning)

    def feedback(self, judged: Judged) -> str:
        """Return what the policy is told after a wrong answer that is not its last turn."""
        if judged.verdict.status is Status.NO_ANSWER:
            return f"No answer was found. {self.instruction(judged.rollout.problem)}"
        return "That is not right. Try again."

    # The prompt

    def prompt_text(self, problem: Problem) -> str:
        """Return the whole prompt as one text: system, question, instruction."""
        instruction = self.instruction(problem)
        return "\n\n".join(p for p in (self.system, self.question(problem), instruction) if p)

    def prompt_messages(self, problem: Problem) -> tuple[Message, ...]:
        """Return the whole prompt as chat messages; the instruction ends the last user's."""
        instruction = self.instruction(problem)
        ending = f"\n\n{instruction}" if instruction else ""
        messages: list[Message] = []
        if self.system:
            messages.append({"role": "system", "content": self.system})
        if isinstance(problem.prompt, str):
            messages.append({"role": "user", "content": self.question(problem)})
        else:
            messages.extend(dict(message) for message in problem.prompt)
            ending = self.below_question(problem) + ending
        users = [i for i, message in enumerate(messages) if message["role"] == "user"]
        if users:
            last = messages[users[-1]]
            messages[users[-1]] = {**last, "content": last["content"] + ending}
        elif ending:
            messages.append({"role": "user", "content": ending.strip()})
        return tuple(messages)

    # Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Prompt, dict[str, Any]]:
        """Draw a problem and ask it.

        Args:
            seed: starts `np_random` anew; the same seed draws the same problems anywhere, and
                asks them in the same way where the kind has several (`variants`).
            options: `{"problem_id": id}` asks that one instead.

        Returns:
            The prompt, and `{"problem_id": id}`.

        Raises:
            DataError: no problem has that id.
            ValueError: another option.
        """
        super().reset(seed=seed)
        options = dict(options or {})
        problem_id = options.pop("problem_id", None)
        if options:
            raise ValueError(f"reset knows the option 'problem_id', got {sorted(options)}")
        if problem_id is None:
            problem = self.problems[int(self.np_random.integers(len(self.problems)))]
        else:
            problem = self.problems.find(problem_id)
        self._problem = self.variants(problem, self.np_random)[0]
        self._turns = []
        self._transcript = [("prompt", self.prompt_text(self._problem))]
        return self._observe(self._problem), {"problem_id": self._problem.id}

    def step(self, action: str) -> tuple[Prompt, float, bool, bool, dict[str, Any]]:
        """Judge a completion.

        Returns:
            Feedback (or the empty observation at the end), the reward (before the last turn that
            of potential-based parts alone, 0.0 without any), terminated, truncated, and info with
            `problem_id`, `verdict` and, at the end of a scored episode, `reward_terms`.

        Raises:
            CheckerFailedError: the checker failed, which is no verdict on the answer (only with
                `on_unscored="raise"`).
            GroupRequiredError: the reward compares the members of a group; use `judge` and
                `score`.
            gymnasium.error.ResetNeeded: no episode is running.
        """
        rollout = self.rollout(action)
        return self.conclude(self.judge([rollout])[0])

    def rollout(self, action: str) -> Rollout:
        """Return `action` as a rollout of the running episode: the first half of `step`.

        A vector environment calls it for all its members before it judges them at once.
        """
        if self._problem is None:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no question was asked")
        if not isinstance(action, str):
            raise TypeError(f"an action is the completion's text, got {type(action).__name__}")
        self._refuse_group_terms()
        text, too_long = self._cut(action)
        n_tokens = self.count_tokens(text) if self.count_tokens else None
        turns = tuple(self._turns)
        return Rollout(self._problem, text, n_tokens=n_tokens, truncated=too_long, turns=turns)

    def conclude(self, judged: Judged) -> tuple[Prompt, float, bool, bool, dict[str, Any]]:
        """Return what `step` returns for the judged completion; the second half of `step`."""
        self.refuse_unscored(judged)
        rollout, verdict = judged.rollout, judged.verdict
        terminated, truncated = ending(judged, self.max_turns)
        info: dict[str, Any] = {"problem_id": rollout.problem.id, "verdict": verdict}
        reward, observation = 0.0, self._nothing()
        scores = self.score([judged]) if terminated or truncated else None
        if scores is not None:
            self._refuse_unvalued(judged, scores)
        self._transcript.append(("completion", rollout.completion))
        if scores is not None:
            reward = step_reward(self.reward, judged, total=float(scores.total[0]))
            if not isnan(reward):
                info["reward_terms"] = {name: float(v[0]) for name, v in scores.terms.items()}
            self._problem = None
        else:
            feedback = self.feedback(judged)
            reward = step_reward(self.reward, judged, feedback=feedback)
            self._turns.append((rollout.completion, feedback))
            self._transcript.append(("feedback", feedback))
            observation = self._say(feedback)
        self._transcript.append(("verdict", f"{verdict.status} (reward {reward:.3f})"))
        return observation, reward, terminated, truncated, info

    def refuse_unscored(self, judged: Judged) -> None:
        """Raise where the checker failed and `on_unscored="raise"`; the episode stays as it is.

        Raises:
            CheckerFailedError: the checker failed.
        """
        if judged.verdict.status.is_evidence or self.on_unscored != "raise":
            return
        raise CheckerFailedError(
            f"problem {judged.rollout.problem.id}: the checker failed ({judged.verdict.status}), "
            f"which says nothing about the answer: {dict(judged.verdict.detail)}; make the "
            "environment with on_unscored='nan' to get a NaN reward instead"
        )

    def _refuse_unvalued(self, judged: Judged, scores: Scores) -> None:
        if not judged.verdict.status.is_evidence or self.on_unscored != "raise":
            return
        if isnan(scores.total[0]):
            raise CheckerFailedError(
                f"problem {judged.rollout.problem.id}: a term of the reward {self.reward!r} could "
                "not value the answer, which says nothing about it; make the environment with "
                "on_unscored='nan' to get a NaN reward instead"
            )

    def render(self) -> str | None:
        """Return the exchange so far as text (with `render_mode="ansi"`)."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(f"[{who}] {text}" for who, text in self._transcript)

    # Batched calls, for trainers and evaluation

    def judge(self, rollouts: Sequence[Rollout]) -> list[Judged]:
        """Judge completions, concurrently where the judge waits for something; never raises.

        The same completion of the same problem is judged once, as a judge's verdict depends on
        nothing else: a policy that has settled repeats itself within its groups.
        """
        cases = {(rollout.problem, rollout.text): rollout for rollout in rollouts}
        threads = min(concurrency_of(self.judge_one), len(cases))

        def verdict(case: tuple[Problem, str]) -> Verdict:
            return judge_safely(self.judge_one, *case)

        if threads <= 1:
            verdicts = {case: verdict(case) for case in cases}
        else:
            with ThreadPoolExecutor(threads, thread_name_prefix="judge") as pool:
                verdicts = dict(zip(cases, pool.map(verdict, cases), strict=True))
        return [Judged(one, verdicts[one.problem, one.text]) for one in rollouts]

    def score(self, judged: Sequence[Judged], context: RewardContext | None = None) -> Scores:
        """Score judged rollouts of complete groups (told apart by `group_id`); judges nothing."""
        return score_groups(self.reward, judged, context)

    def judge_and_score(
        self, rollouts: Sequence[Rollout], context: RewardContext | None = None
    ) -> tuple[list[Judged], Scores]:
        """Judge, then score."""
        judged = self.judge(rollouts)
        return judged, self.score(judged, context)

    # Inner parts

    def _refuse_group_terms(self) -> None:
        if self.reward.needs_group:
            raise GroupRequiredError(
                f"{comparing(self.reward)} compares the members of a group, and step() sees one "
                "answer: use env.unwrapped.judge(rollouts) and .score(judged), or leave it out"
            )

    def _cut(self, completion: str) -> tuple[str, bool]:
        limit = self.max_completion_chars
        if len(completion) > limit:
            return completion[:limit], True
        if self.count_tokens is None or self.max_completion_tokens is None:
            return completion, False
        return completion, self.count_tokens(completion) > self.max_completion_tokens

    def _observe(self, problem: Problem) -> Prompt:
        if self.observation == "text":
            return self.prompt_text(problem)
        return self.prompt_messages(problem)

    def _say(self, text: str) -> Prompt:
        return text if self.observation == "text" else ({"role": "user", "content": text},)

    def _nothing(self) -> Prompt:
        return "" if self.observation == "text" else ()


def as_layout(layout: AnswerFormat | Mapping[str, Any]) -> AnswerFormat:
    """Return `layout`, made from its fields where it is a mapping.

    Raises:
        ValueError: a field that `AnswerFormat` does not have, or a value that it refuses.
    """
    if isinstance(layout, AnswerFormat):
        return layout
    try:
        return AnswerFormat(**layout)
    except TypeError as error:
        fields = ", ".join(AnswerFormat.__match_args__)
        raise ValueError(f"layout={dict(layout)!r}: {error}; its fields are {fields}") from error
