"""Gymnasium environments: questions as observations, completions as actions.

* `core`: `ReasoningEnv`, the base of all.
* `kinds`: `MathEnv`, `CountdownEnv`; `choice`: `ChoiceEnv`; `code`: `CodeEnv`.
* `vector`: N questions at once.
* `registration`: `register`, `make`, and the ids that people type.
* `check`: `check_env`, what every environment must hold to.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasonenv.envs.check import CheckReport, check_env
    from reasonenv.envs.choice import ChoiceEnv
    from reasonenv.envs.code import CodeEnv
    from reasonenv.envs.core import ReasoningEnv
    from reasonenv.envs.kinds import CountdownEnv, MathEnv
    from reasonenv.envs.registration import catalogue, make, register, resolve
    from reasonenv.envs.vector import ReasoningVectorEnv

_HOME = {
    "CheckReport": "check",
    "ChoiceEnv": "choice",
    "CodeEnv": "code",
    "CountdownEnv": "kinds",
    "MathEnv": "kinds",
    "ReasoningEnv": "core",
    "ReasoningVectorEnv": "vector",
    "catalogue": "registration",
    "check_env": "check",
    "make": "registration",
    "register": "registration",
    "resolve": "registration",
}

__all__ = [
    "CheckReport",
    "ChoiceEnv",
    "CodeEnv",
    "CountdownEnv",
    "MathEnv",
    "ReasoningEnv",
    "ReasoningVectorEnv",
    "catalogue",
    "check_env",
    "make",
    "register",
    "resolve",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
