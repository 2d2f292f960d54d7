"""Rewards as plain data, and the catalogue of terms that formulas and configs may name.

A config is what `to_config` returns: `{"sum": [{"term": "Correct"}, ...]}`. `formula` reads what
`repr` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from importlib.metadata import entry_points
from typing import Any

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.algebra import Number, add, as_node, multiply
from reasonenv.rewards.base import Reward, Term
from reasonenv.rewards.catalogue import CATALOGUE_TERMS
from reasonenv.rewards.choice import CHOICE_TERMS
from reasonenv.rewards.code import CODE_TERMS
from reasonenv.rewards.curriculum import Curriculum, Stage
from reasonenv.rewards.custom import FunctionTerm, load_function_term
from reasonenv.rewards.gates import gate
from reasonenv.rewards.layout import Format, NumericPresent, TagCount, _Tagged
from reasonenv.rewards.length import KimiLength, Overlong, ShortestCorrect
from reasonenv.rewards.lexicographic import lexicographic
from reasonenv.rewards.normalized import GroupNormalized
from reasonenv.rewards.outcome import Correct, Score
from reasonenv.rewards.scheduled import Scheduled
from reasonenv.rewards.schedules import SCHEDULES, Schedule
from reasonenv.rewards.shapers import clip, rescale
from reasonenv.rewards.shaping import PotentialBased
from reasonenv.rewards.trl_style import from_trl

__all__ = ["ENTRY_POINT_GROUP", "TERMS", "find_term", "from_config", "make_term", "parse", "tuples"]

ENTRY_POINT_GROUP = "reasonenv.rewards"
"""Where installed packages name their terms: `"Polite" = "acme_rewards:Polite"`."""

TERMS: dict[str, type[Term]] = {
    cls.__name__: cls
    for cls in (
        Correct,
        Format,
        KimiLength,
        NumericPresent,
        Overlong,
        Score,
        ShortestCorrect,
        TagCount,
    )
} | {cls.__name__: cls for cls in (*CHOICE_TERMS, *CODE_TERMS, *CATALOGUE_TERMS)}


MAX_DEPTH = 100
"""How deep a formula or a config may nest; a sum of as many terms nests as deep."""

_SHOWN = 200  # characters of a formula or a config that a message quotes

_FIELDS: dict[str, tuple[str, ...]] = {
    "sum": ("sum",),
    "scale": ("scale", "of"),
    "product": ("product",),
    "constant": ("constant",),
    "gate": ("gate", "when"),
    "clip": ("clip", "low", "high"),
    "rescale": ("rescale", "from", "to"),
    "scheduled": ("scheduled", "by"),
    "potential": ("potential", "gamma"),
    "group_normalized": ("group_normalized", "group_size"),
    "lexicographic": ("lexicographic", "share"),
    "curriculum": ("curriculum", "name"),
}
"""What a config of each kind holds, terms apart."""


def from_config(config: Reward | str | float | Mapping[str, Any]) -> Reward:
    """Return the reward that a formula, a number or a `to_config()` describes.

    Raises:
        RewardError: it describes none; the message names the place.

    >>> from_config("Correct(2.0) + 0.5 * Format('answer')").to_config()["sum"][0]
    {'term': 'Correct', 'value': 2.0}
    """
    return _from_config(config, MAX_DEPTH)


def parse(formula: str) -> Reward:
    """Return the reward that a formula spells: what `repr` prints; see `formula`.

    Raises:
        RewardError: it is no formula; the message shows the part that is not.

    >>> parse("Correct() - 0.5 * Overlong(512, cache=128)").range(correct=False)
    Range(low=-0.5, high=0.0)
    """
    from reasonenv.rewards.formula import read

    return read(formula)


def _from_config(config: Any, depth: int) -> Reward:
    if isinstance(config, Reward):
        return config
    if isinstance(config, str):
        return parse(config)
    if isinstance(config, int | float):
        return as_node(config)
    if depth == 0:
        raise RewardError(f"a reward nests at most {MAX_DEPTH} deep")
    kinds = ("term", *_FIELDS)
    found = [kind for kind in kinds if kind in config] if isinstance(config, Mapping) else []
    if len(found) != 1:
        raise RewardError(
            f"a reward is a formula or holds one of {', '.join(kinds)}; got {short(config)}"
        )
    kind = found[0]
    try:
        return _term(config) if kind == "term" else _node(kind, config, depth - 1)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RewardError(f"cannot make a reward of {short(config)}: {error}") from error


def _node(kind: str, config: Mapping[str, Any], depth: int) -> Reward:
    _only(config, _FIELDS[kind], kind)
    if kind in ("sum", "product"):
        below = _several(kind, config[kind])
        return reduce(add if kind == "sum" else multiply, [_from_config(c, depth) for c in below])
    if kind in _BUILD:
        return _BUILD[kind](config, lambda inner: _from_config(inner, depth))
    return Number(float(config["constant"]))


_Read = Callable[[Any], Reward]


def _lexicographic(config: Mapping[str, Any], read: _Read) -> Reward:
    task, tie_breaker = _several("lexicographic", config["lexicographic"])
    return lexicographic(read(task), read(tie_breaker), config.get("share", 0.5))


def _potential(config: Mapping[str, Any], read: _Read) -> Reward:
    phi: Any = read(config["potential"])
    return PotentialBased(phi, config.get("gamma", 1.0))


def _curriculum(config: Mapping[str, Any], read: _Read) -> Reward:
    stages: list[Stage | Reward] = []
    for given in _several("curriculum", config["curriculum"]):
        if isinstance(given, Mapping) and "stage" in given:
            _only(given, ("stage", "until", "below", "patience", "at_least"), "stage")
            more = {key: value for key, value in given.items() if key != "stage"}
            stages.append(Stage(read(given["stage"]), **more))
        else:
            stages.append(read(given))
    return Curriculum(*stages, name=config.get("name", "curriculum"))


def _schedule(config: Any) -> Schedule:
    name = config.get("schedule") if isinstance(config, Mapping) else None
    if not isinstance(name, str) or name not in SCHEDULES:
        hint = did_you_mean(str(name), SCHEDULES)
        raise RewardError(f"no schedule is called {name!r} in {short(config)}; {hint}")
    more = {key: tuples(value) for key, value in config.items() if key != "schedule"}
    schedule: Schedule = make(name, SCHEDULES[name], (), more)
    return schedule


_BUILD: dict[str, Callable[[Mapping[str, Any], _Read], Reward]] = {
    "scale": lambda c, read: multiply(float(c["scale"]), read(c["of"])),
    "gate": lambda c, read: gate(read(c["gate"]), when=c["when"]),
    "clip": lambda c, read: clip(read(c["clip"]), c["low"], c["high"]),
    "rescale": lambda c, read: rescale(
        read(c["rescale"]), tuples(c.get("from")), tuples(c.get("to", (0.0, 1.0)))
    ),
    "scheduled": lambda c, read: Scheduled(read(c["scheduled"]), _schedule(c["by"])),
    "potential": _potential,
    "group_normalized": lambda c, read: GroupNormalized(
        read(c["group_normalized"]), c.get("group_size")
    ),
    "lexicographic": _lexicographic,
    "curriculum": _curriculum,
}
"""How each kind that is more than its fields is made."""


def _only(config: Mapping[str, Any], valid: Sequence[str], kind: str) -> None:
    for key in config:
        if key not in valid:
            raise RewardError(f"{short(config)} has {key!r}; a {kind} holds {', '.join(valid)}")


def _several(kind: str, below: Any) -> Sequence[Any]:
    if isinstance(below, str) or not isinstance(below, Sequence) or len(below) < 2:
        raise RewardError(f"a {kind} is a list of at least two rewards, got {short(below)}")
    return below


def _term(config: Mapping[str, Any]) -> Term:
    arguments = {key: value for key, value in config.items() if key != "term"}
    name = config["term"]
    if isinstance(name, str) and ":" in name:
        if arguments:
            raise RewardError(f"{name}: a function's term takes no arguments, got {arguments!r}")
        return load_function_term(name)
    if name == "from_trl":
        term: Term = make(name, from_trl, (), {k: tuples(v) for k, v in arguments.items()})
        return term
    tags = arguments.pop("tags", ())
    if isinstance(tags, str):
        raise RewardError(f"{name}: tags is a list of tag names, got {tags!r}")
    return make_term(name, tuple(tags), arguments)


def make_term(name: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Term:
    """Return the term of this name, of the catalogue or of an installed package.

    Raises:
        RewardError: there is none, or it refuses the arguments.
    """
    cls = find_term(name)
    if isinstance(cls, FunctionTerm):
        if args or kwargs:
            raise RewardError(f"{name}: a function's term takes no arguments")
        return cls
    if not isinstance(kwargs.get("name", ""), str):
        raise RewardError(f"{name}: name is a text, got {kwargs['name']!r}")
    arguments = {key: tuples(value) for key, value in kwargs.items()}
    made: Term = make(name, cls, tuple(tuples(arg) for arg in args), arguments)
    return made


def find_term(name: Any, also: Sequence[str] = ()) -> type[Term] | FunctionTerm:
    """Return the term of this name, of the catalogue or of an installed package.

    Raises:
        RewardError: there is none; the nearest name is given, of terms or of those in `also`.
    """
    found = (TERMS.get(name) if isinstance(name, str) else None) or _installed(str(name))
    if found is None:
        known = {*TERMS, *also, *(p.name for p in entry_points(group=ENTRY_POINT_GROUP))}
        raise RewardError(f"no reward term is called {name!r}; {did_you_mean(str(name), known)}")
    return found


def make(name: str, cls: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a term or a schedule; arguments that it does not take are named with those it does.

    Raises:
        RewardError: it refuses the arguments.
    """
    try:
        return cls(*args, **kwargs)
    except TypeError as error:
        takes = ", ".join(getattr(cls, "__match_args__", ()))
        if isinstance(cls, type) and issubclass(cls, _Tagged):
            takes = "tag names"
        raise RewardError(f"{name}: {error}; it takes: {takes or 'nothing'}") from error


def _installed(name: str) -> type[Term] | FunctionTerm | None:
    """Return the term that an installed package names so, None where there is none."""
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        origin = f"the entry point {point.name} = {point.value} ({ENTRY_POINT_GROUP})"
        try:
            found = point.load()
        except Exception as error:
            raise RewardError(
                f"{origin} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        if isinstance(found, FunctionTerm):
            return found
        if not (isinstance(found, type) and issubclass(found, Term)):
            raise RewardError(f"{origin} is no term: it names a Term class or an @term function")
        if found.__name__ != name:
            raise RewardError(
                f"{origin}: the class is called {found.__name__}, and a term's config names its "
                "class: give the entry point that name"
            )
        return found
    return None


def tuples(value: Any) -> Any:
    """Return an argument with every list in it as a tuple: terms are hashable."""
    return tuple(tuples(item) for item in value) if isinstance(value, list | tuple) else value


def short(given: Any) -> str:
    """Return a thing as a message quotes it."""
    text = repr(given)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
