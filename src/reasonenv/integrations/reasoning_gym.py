"""reasoning_gym's data sets as environments.

Importing this module registers each of them, so any ENV argument may name one:

    reasonenv train RECIPE --set env=reasonenv.integrations.reasoning_gym:reasoning_gym/chain_sum-v0

Answers are judged by the data set's own `score_answer`, in a worker that is killed where it takes
too long. **Some of those functions evaluate the answer as Python** (`parse_expr`, `eval`): what a
model writes then runs on this machine, with the worker's rights. Take such sets only where that is
acceptable; countdown and arithmetic of our own do not do it.

It needs `pip install "reasonenv[reasoning-gym]"` (checked with 0.1.25).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers import Judge
from reasonenv.checkers.pool import default_pool
from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import register
from reasonenv.errors import (
    DataError,
    PoolUnavailableError,
    RegistrationError,
    WorkerDied,
    WorkerTimeout,
    did_you_mean,
)
from reasonenv.extras import need
from reasonenv.problems import Problems
from reasonenv.types import FrozenDict, Problem, Status, Verdict, canonical_json

__all__ = ["ReasoningGymEnv", "ReasoningGymJudge", "ReasoningGymProblems"]

SECONDS = 10.0
"""How long an answer's scoring may take."""

_TEST_SEED = 1_000_003_000  # test problems are drawn this far from the train ones


@dataclass(frozen=True)
class ReasoningGymProblems:
    """The problems of one data set: number i depends on (data set, config, split, seed, i) alone.

    reasoning_gym draws item i from the seed plus i, and knows no splits; the test split begins
    far off. A small generator may still draw the same question twice: ids are numbers.

    Args:
        dataset: its name, such as "chain_sum".
        split: "train" or "test".
        seed: of the train split.
        size: how many there are.
        config: further fields of the data set's config.

    Raises:
        DataError: no such data set, a split that is none, or a config that is refused.
    """

    dataset: str
    split: str = "train"
    seed: int = 0
    size: int = 10_000
    config: Mapping[str, Any] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "config", FrozenDict(self.config))
        if self.split not in ("train", "test"):
            raise DataError(f"{self.dataset}: splits are 'train' and 'test', got {self.split!r}")
        _items(*self.key)

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What `_items` needs to make the data set anywhere."""
        seed = self.seed + (_TEST_SEED if self.split == "test" else 0)
        return self.dataset, seed, self.size, canonical_json(self.config)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Problem:
        """Return problem `index`; negative numbers count from the end."""
        if not -self.size <= index < self.size:
            raise IndexError(f"{self.dataset} has {self.size} problems, asked for {index}")
        index %= self.size
        item = _items(*self.key)[index]
        return Problem(
            item["question"],
            item["answer"],
            {"source": f"reasoning_gym/{self.dataset}", "index": index, "key": self.key},
            id=f"{self.dataset}-{self.key[1]}-{index}",
        )

    def find(self, problem_id: str) -> Problem:
        """Return the problem with this id.

        Raises:
            DataError: no problem of this source has it.
        """
        begin = f"{self.dataset}-{self.key[1]}-"
        number = problem_id.removeprefix(begin)
        if not (problem_id.startswith(begin) and number.isdecimal() and int(number) < self.size):
            raise DataError(
                f"{self.dataset}: no problem has the id {problem_id!r} (split {self.split!r}, seed "
                f"{self.seed}, size {self.size})"
            )
        return self[int(number)]


@dataclass(frozen=True)
class ReasoningGymJudge:
    """Judges by the data set's own `score_answer`: 1.0 is right, less is that score.

    Args:
        format: where the answer stands.
        seconds: how long scoring may take.
    """

    format: AnswerFormat
    seconds: float = SECONDS

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict on `completion`."""
        answer = self.format.extract(completion)
        if answer is None:
            return Verdict(Status.NO_ANSWER)
        key, index = tuple(problem.metadata["key"]), problem.metadata["index"]
        try:
            score = default_pool().run(score_item, key, index, answer, timeout=self.seconds)
        except WorkerTimeout:
            return Verdict(Status.CHECKER_TIMEOUT, 0.0, answer, {"seconds": self.seconds})
        except (WorkerDied, PoolUnavailableError) as error:
            return Verdict(Status.CHECKER_ERROR, 0.0, answer, {"error": str(error)})
        if score >= 1.0:
            return Verdict(Status.CORRECT, 1.0, answer)
        return Verdict(Status.INCORRECT, max(0.0, score), answer, {"score": score})


class ReasoningGymEnv(ReasoningEnv):
    """One of reasoning_gym's data sets.

    Args:
        dataset: its name.
        seed: of its train problems.
        size: how many there are.
        config: further fields of the data set's config.
        kwargs: as for `ReasoningEnv`.
    """

    kind: ClassVar[str] = "reasoning_gym"

    def __init__(
        self,
        dataset: str,
        *,
        seed: int = 0,
        size: int = 10_000,
        config: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._set: dict[str, Any] = {
            "dataset": dataset,
            "seed": seed,
            "size": size,
            "config": config or {},
        }
        super().__init__(**kwargs)

    def load_problems(self, split: str, data: Any) -> Problems:
        """Return the data set's problems."""
        if data is not None:
            raise DataError("reasoning_gym makes its problems: there is no data= to take")
        return ReasoningGymProblems(split=split, **self._set)

    def make_judge(self) -> Judge:
        """Return the judge that asks the data set."""
        return ReasoningGymJudge(self.layout)


@lru_cache(maxsize=32)
def _items(dataset: str, seed: int, size: int, config: str) -> Any:
    import json

    gym = need("reasoning_gym", extra="reasoning-gym", by="reasonenv.integrations.reasoning_gym")
    names = need("reasoning_gym.factory", extra="reasoning-gym", by="reasoning_gym").DATASETS
    if dataset not in names:
        raise DataError(
            f"reasoning_gym has no data set {dataset!r}; {did_you_mean(dataset, names)}"
        )
    try:
        return gym.create_dataset(dataset, seed=seed, size=size, **json.loads(config))
    except (TypeError, ValueError, AssertionError) as error:
        raise DataError(f"reasoning_gym/{dataset} refuses its config {config}: {error}") from error


def score_item(key: tuple[str, int, int, str], index: int, answer: str) -> float:
    """Return what a data set gives an answer: what runs in the worker."""
    items = _items(*key)
    return float(items.score_answer(answer, items[index]))


def _register_all() -> None:
    names = need(
        "reasoning_gym.factory", extra="reasoning-gym", by="reasonenv.integrations.reasoning_gym"
    ).DATASETS
    for name in sorted(names):
        try:
            register(
                f"reasoning_gym/{name}-v0",
                "reasonenv.integrations.reasoning_gym:ReasoningGymEnv",
                dataset=name,
                description=f"reasoning_gym's {name}, made on demand.",
                kind="reasoning_gym",
                source="reasoning_gym",
                licence="Apache-2.0",
            )
        except RegistrationError:  # a second import after a reload
            continue


_register_all()
