"""Registering environments with Gymnasium, and finding them by what people type.

* `register`: an environment from a class, or from problems and a judge.
* `make`: the environment that an ENV argument names, without Gymnasium's wrappers.
* `resolve`: an ENV argument (`id`, `module:id`, `path/to/file.py:id`) to a registered id.
* `catalogue`: what is known about each registered environment.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium

from reasonenv.envs.sameness import same
from reasonenv.errors import (
    ReasonEnvError,
    RegistrationError,
    UnknownEnvError,
    did_you_mean,
)

if TYPE_CHECKING:
    from reasonenv.envs.core import ReasoningEnv

__all__ = ["ENTRY_POINT_GROUP", "EnvInfo", "catalogue", "make", "refusal", "register", "resolve"]

ENTRY_POINT_GROUP = "reasonenv.envs"


@dataclass(frozen=True, slots=True)
class EnvInfo:
    """What `reasonenv list` tells of an environment.

    `unverified` names what of its data set no public source could confirm; "" is nothing.
    """

    id: str
    description: str = ""
    kind: str = "custom"
    source: str = ""
    licence: str = ""
    unverified: str = ""


_INFO: dict[str, EnvInfo] = {}


def register(
    id: str,
    entry_point: str | Callable[..., Any] | None = None,
    *,
    problems: Any = None,
    judge: Any = None,
    description: str = "",
    kind: str | None = None,
    source: str = "",
    licence: str = "",
    unverified: str = "",
    **kwargs: Any,
) -> None:
    """Register an environment with Gymnasium under `id`.

    Either give a class (or its `"module:Class"` string), or give `problems` and a `judge` and
    get a `ReasoningEnv` of them.

    Args:
        id: `namespace/Name-v0`.
        entry_point: a `ReasoningEnv` subclass, or the string that names one.
        problems: a list of `Problem`, or a function `(split) -> list`; for `ReasoningEnv`.
        judge: a `Judge`; without one the answer is judged as mathematics.
        description: one line for `reasonenv list`; the class's own unless given.
        kind: "math", "choice" ...; the class's own unless given.
        source: where the problems come from.
        licence: of the problems.
        unverified: what is not confirmed of the two, or of the data set behind them.
        kwargs: further arguments of the environment (reward, layout, max_turns ...). The spec
            is JSON-able where all of them are plain data and the entry point is a string.

    Raises:
        RegistrationError: a malformed id, nothing to make the environment of, or an id that is
            registered already for something else. The same file imported again is no error.

    >>> import reasonenv
    >>> from reasonenv import Problem
    >>> register("acme/Doc-v0", problems=[Problem("1+1=", "2")], description="One sum.")
    >>> reasonenv.make("acme/Doc-v0").reset(seed=0)[1]["problem_id"] == Problem("1+1=", "2").id
    True
    """
    if entry_point is None:
        if problems is None:
            raise RegistrationError(
                f"{id}: give a class, or problems= (and judge=) to make an environment of"
            )
        entry_point = "reasonenv.envs.simple:make_simple"
        kwargs = {**kwargs, "problems": problems, "judge": judge}
    elif problems is not None or judge is not None:
        kwargs |= {k: v for k, v in (("problems", problems), ("judge", judge)) if v is not None}
    _check_id(id)
    old = gymnasium.registry.get(id)
    if old is not None:
        if not (same(old.entry_point, entry_point) and same(old.kwargs, kwargs)):
            raise RegistrationError(
                f"{id} is registered already, for {old.entry_point}, with another entry point or "
                "other arguments: choose another name or version"
            )
        del gymnasium.registry[id]  # the same file imported again: its newest objects count
    try:
        gymnasium.register(
            id=id,
            entry_point=entry_point,
            vector_entry_point=_vector_entry_point(entry_point),
            kwargs=kwargs,
            order_enforce=True,
        )
    except gymnasium.error.Error as error:
        raise RegistrationError(f"{id!r} cannot be registered: {error}") from error
    if inspect.isclass(entry_point):
        description = (
            description or getattr(entry_point, "description", "") or _summary(entry_point)
        )
        kind = kind or getattr(entry_point, "kind", None)
    _INFO[id] = EnvInfo(id, description, kind or "custom", source, licence, unverified)


def _make_vector(entry_point: Callable[..., Any], **kwargs: Any) -> Any:
    """Make N of the environments that `entry_point` makes; picklable, as specs travel."""
    from reasonenv.envs.vector import ReasoningVectorEnv

    return ReasoningVectorEnv(entry_point, **kwargs)


def _vector_entry_point(entry_point: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """Return what makes N of these: a string for a string, so that the spec stays JSON-able."""
    if isinstance(entry_point, str):
        return f"reasonenv.envs.vector:{entry_point.replace(':', '.')}"

    return partial(_make_vector, entry_point)


def _check_id(id: Any) -> None:
    try:
        gymnasium.envs.registration.parse_env_id(id)
        valid = ":" not in id  # which would part a module from an id
    except (gymnasium.error.Error, TypeError):
        valid = False
    if not valid:
        raise RegistrationError(f"{id!r} is no environment id: write namespace/Name-v0")


def _summary(entry_point: type) -> str:
    return (inspect.getdoc(entry_point) or "").partition("\n")[0]


def make(env: str, **kwargs: Any) -> ReasoningEnv:
    """Make the environment that `env` names, without Gymnasium's wrappers.

    Args:
        env: `id`, `module:id` or `path/to/file.py:id`.
        kwargs: arguments of the environment, over those it was registered with; `data=None` is
            left out.

    Raises:
        UnknownEnvError: nothing is registered under that id.
        RegistrationError: the module, file or entry point cannot be imported, or the environment
            is none of ours.
    """
    from reasonenv.envs.core import ReasoningEnv

    id = resolve(env)
    if kwargs.get("data", ...) is None:  # not given: what it was registered with counts
        del kwargs["data"]
    point: Any = gymnasium.spec(id).entry_point
    try:
        if isinstance(point, str):
            point = gymnasium.envs.registration.load_env_creator(point)
    except ReasonEnvError:
        raise
    except Exception as error:
        raise RegistrationError(
            f"{id} cannot be made: its entry point {point} cannot be imported "
            f"({type(error).__name__}: {error})"
        ) from error
    if inspect.isclass(point) and not issubclass(point, ReasoningEnv):
        raise RegistrationError(f"{env} is a {point.__name__}, not a reasonenv environment")
    made = gymnasium.make(id, disable_env_checker=True, **kwargs).unwrapped
    if not isinstance(made, ReasoningEnv):
        raise RegistrationError(f"{env} is a {type(made).__name__}, not a reasonenv environment")
    return made


def refusal(env: str, error: Exception) -> str:
    """Return why an environment refuses its arguments, with what is probably meant.

    Args:
        env: what `make` was given.
        error: the TypeError or ValueError that `make` raised.
    """
    from reasonenv.envs.core import ReasoningEnv
    from reasonenv.problems import CATALOGUE

    text = str(error).partition(" was raised from the environment creator")[0]
    unknown = re.search(r"unexpected keyword argument '(\w+)'", text)
    if unknown is None:
        return text
    name = unknown[1]
    entry = CATALOGUE.get(str(gymnasium.spec(resolve(env)).kwargs.get("problems")))
    if entry and entry.generator and name in inspect.signature(entry.generator).parameters:
        return f"{text}; {name} is an option of its problems: options: {{{name}: ...}}"
    known = set(inspect.signature(ReasoningEnv).parameters) | {"seed", "size", "options"}
    return f"{text}; {did_you_mean(name, known)}"


def resolve(env: str) -> str:
    """Return the registered id that an ENV argument names, importing what it says first.

    Raises:
        UnknownEnvError: nothing is registered under that id; the message names the nearest.
        RegistrationError: the module or file cannot be imported.
    """
    where, _, name = env.rpartition(":")
    if where.endswith(".py"):
        _import_file(Path(where))
    elif where:
        _import_module(where)
    if name in gymnasium.registry:
        return name
    broken = _load_plugin_modules()
    if name in gymnasium.registry:
        return name
    hint = did_you_mean(name, _INFO, otherwise="registered")
    if name.endswith(".py"):
        hint = f"write {name}:namespace/Name-v0"
    raise UnknownEnvError(
        "; ".join(
            [
                f"no environment is registered as {name!r}"
                + (f" after importing {where}" if where else ""),
                hint,
                *broken,
            ]
        )
    )


def catalogue() -> list[EnvInfo]:
    """Return what is known about every environment registered through reasonenv, by id.

    Warns of installed packages whose environments cannot be imported.
    """
    for why in _load_plugin_modules():
        warnings.warn(why, stacklevel=2)
    return [_INFO[id] for id in sorted(_INFO)]


def register_plugins() -> None:
    """Register the environments that installed packages publish, importing none of them.

    An entry point of the group `reasonenv.envs` whose name is an environment id names the class:
    `"acme/Sums-v0" = "acme_envs:Sums"`. Any other name points to a module that registers its own;
    it is imported only when an id is asked for that nobody knows.
    """
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if "/" in point.name and point.name not in gymnasium.registry:
            try:
                register(point.name, point.value, source=point.dist.name if point.dist else "")
            except RegistrationError as error:  # another package's fault must not stop this one
                warnings.warn(f"{_origin(point)} is left out: {error}", stacklevel=2)


def _load_plugin_modules() -> list[str]:
    """Import the modules that installed packages name; return what cannot be imported, and why."""
    broken = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if "/" not in point.name:
            try:
                point.load()
            except Exception as error:
                broken.append(
                    f"{_origin(point)} cannot be imported: {type(error).__name__}: {error}"
                )
    return broken


def _origin(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "?"
    return f"the entry point {point.name} = {point.value} of the installed package {package}"


def _import_module(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception as error:
        raise RegistrationError(
            f"cannot import the module {name!r}: {type(error).__name__}: {error}"
        ) from error


def _import_file(path: Path) -> None:
    """Import a Python file once, under a name made from its path."""
    try:
        path = path.resolve(strict=True)
    except OSError as error:
        raise RegistrationError(f"{path}: there is no such file") from error
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    name = f"_reasonenv_{path.stem}_{digest}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise RegistrationError(
            f"{path}: importing it failed: {type(error).__name__}: {error}"
        ) from error


def register_all(specs: Iterable[tuple[EnvInfo, str, Mapping[str, Any]]]) -> None:
    """Register environments given as (info, entry point, kwargs); strings only, nothing heavy."""
    for info, entry_point, kwargs in specs:
        register(
            info.id,
            entry_point,
            description=info.description,
            kind=info.kind,
            source=info.source,
            licence=info.licence,
            unverified=info.unverified,
            **kwargs,
        )
