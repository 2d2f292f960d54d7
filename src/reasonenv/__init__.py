"""Reasoning environments with verifiable rewards, composable reward shaping, a GRPO learner.

Importing it registers the built-in environments with Gymnasium and loads nothing heavy; each
public name loads its module when it is first used.

* environments: `make`, `register`, `check_env`, `ReasoningEnv`, `MathEnv`, `ChoiceEnv`,
  `CodeEnv`
* nouns: `Problem`, `Rollout`, `Verdict`, `Status`, `Judged`, `Group`, `AnswerFormat`
* rewards: `reasonenv.rewards` (`Correct`, `Format`, `gate` ...)
* training: `GRPOLearner`, `Recipe`
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reasonenv.envs.builtin import BUILTIN
from reasonenv.envs.registration import make, register, register_all, register_plugins

if TYPE_CHECKING:
    from reasonenv.answer_format import AnswerFormat
    from reasonenv.envs import (
        ChoiceEnv,
        CodeEnv,
        CountdownEnv,
        MathEnv,
        ReasoningEnv,
        ReasoningVectorEnv,
        check_env,
    )
    from reasonenv.trainers import GRPOLearner, Recipe
    from reasonenv.types import Cost, Group, Judged, Problem, Rollout, Status, Verdict

__version__ = "0.1.0"

_HOME = {
    "AnswerFormat": "answer_format",
    "ChoiceEnv": "envs.choice",
    "CodeEnv": "envs.code",
    "Cost": "types",
    "CountdownEnv": "envs.kinds",
    "GRPOLearner": "trainers",
    "Group": "types",
    "Judged": "types",
    "MathEnv": "envs.kinds",
    "Problem": "types",
    "ReasoningEnv": "envs.core",
    "ReasoningVectorEnv": "envs.vector",
    "Recipe": "trainers",
    "Rollout": "types",
    "Status": "types",
    "Verdict": "types",
    "check_env": "envs.check",
}

__all__ = [
    "AnswerFormat",
    "ChoiceEnv",
    "CodeEnv",
    "Cost",
    "CountdownEnv",
    "GRPOLearner",
    "Group",
    "Judged",
    "MathEnv",
    "Problem",
    "ReasoningEnv",
    "ReasoningVectorEnv",
    "Recipe",
    "Rollout",
    "Status",
    "Verdict",
    "check_env",
    "make",
    "register",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


register_all(BUILTIN)
register_plugins()
