"""One class per failure that a caller can act on.

Every message says what was given, what is valid, and what to do. All derive from
`ReasonEnvError`, so that the CLI can show them without a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BackendError",
    "BatchArithmeticError",
    "CheckerFailedError",
    "DataError",
    "EnvCheckError",
    "EvaluationError",
    "GroupRequiredError",
    "HubUnavailableError",
    "LaunchError",
    "MissingExtraError",
    "ModelError",
    "NoChatTemplateError",
    "PoolUnavailableError",
    "ReasonEnvError",
    "RecipeError",
    "RegistrationError",
    "RewardError",
    "RunDirectoryError",
    "SandboxUnavailableError",
    "StorageError",
    "StudyError",
    "TooManyUnscoredError",
    "UnknownEnvError",
    "WorkerDied",
    "WorkerTimeout",
    "did_you_mean",
]


class ReasonEnvError(Exception):
    """The base of all errors that reasonenv raises on purpose."""


class UnknownEnvError(ReasonEnvError):
    """Raised when no environment is registered under the given id."""


class RegistrationError(ReasonEnvError):
    """Raised when an environment cannot be registered or imported as asked."""


class EnvCheckError(ReasonEnvError):
    """Raised when an environment breaks its contract."""


class MissingExtraError(ReasonEnvError, ImportError):
    """Raised when a package of an optional extra is needed and not installed."""


class DataError(ReasonEnvError):
    """Raised when a data file, or a line of one, cannot be used."""


class HubUnavailableError(ReasonEnvError):
    """Raised when a model or data set would have to come from a hub that cannot be reached."""


class ModelError(ReasonEnvError):
    """Raised when a model or its tokenizer cannot be loaded or used as asked."""


class NoChatTemplateError(ModelError):
    """Raised when a chat prompt is asked of a model whose tokenizer has no chat template."""


class RecipeError(ReasonEnvError):
    """Raised when a recipe or an override of one is not valid."""


class BatchArithmeticError(RecipeError):
    """Raised when batch, group and process sizes do not fit together."""


class EvaluationError(ReasonEnvError):
    """Raised when an evaluation, or a comparison of two, cannot be done as asked."""


class BackendError(EvaluationError):
    """Raised when what samples completions (an engine, a server) fails or answers nonsense."""


class RunDirectoryError(ReasonEnvError):
    """Raised when a run directory exists already, or is not one."""


class StorageError(ReasonEnvError):
    """Raised when a file of a run cannot be written (a full disk, a missing permission)."""


class LaunchError(ReasonEnvError):
    """Raised when the processes of a run cannot be started, or one of them fails."""


class MemoryExhaustedError(ReasonEnvError):
    """Raised when a run needs more memory than the device has; says which knob frees most."""


class EngineError(ReasonEnvError):
    """Raised when vLLM cannot be reached, refuses an adapter, or does not sample from it."""


class RewardError(ReasonEnvError):
    """Raised when a reward is composed wrongly or returns what it may not."""


class GroupRequiredError(RewardError):
    """Raised when a term that compares the members of a group is asked about one answer."""


class CheckerFailedError(ReasonEnvError):
    """Raised when `step` gets a verdict that is no evidence about the answer."""


class PoolUnavailableError(ReasonEnvError):
    """Raised when a worker process cannot be started, or its pool is closed."""


class WorkerDied(ReasonEnvError):
    """Raised when a job's worker process died under it, on a fresh worker too."""


class WorkerTimeout(ReasonEnvError, TimeoutError):
    """Raised when a job ran past its deadline; its worker was killed.

    Attributes:
        seconds: the deadline, counted from the start of the work.
        cpu_seconds: what the job had used of a CPU by then, None where the system does not tell.
            Much less than `seconds` means that the machine was busy, not that the job was long.
    """

    seconds: float = 0.0
    cpu_seconds: float | None = None


class SandboxUnavailableError(ReasonEnvError):
    """Raised when a program would have to run and no sandbox can be reached."""


class StudyError(ReasonEnvError):
    """Raised when a study file is not valid, or a directory holds another study."""


class TooManyUnscoredError(ReasonEnvError):
    """Raised on every rank when checkers have failed on too large a share for too many steps."""


def did_you_mean(given: str, valid: Iterable[str], *, otherwise: str = "valid") -> str:
    """Return the end of an error message: the nearest valid name, or all of them.

    >>> did_you_mean("Corect", ["Correct", "Format"])
    'did you mean `Correct`?'
    >>> did_you_mean("zzz", ["Correct", "Format"])
    'valid: Correct, Format'
    """
    names = sorted(valid)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if not near:  # a capital letter should not hide the nearest name
        lowered = {name.lower(): name for name in reversed(names)}
        near = [
            lowered[n] for n in difflib.get_close_matches(given.lower(), lowered, n=1, cutoff=0.6)
        ]
    return f"did you mean `{near[0]}`?" if near else f"{otherwise}: {', '.join(names) or 'none'}"
