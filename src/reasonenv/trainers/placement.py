"""Which modules and layers an adapter is placed in, and how many parameters it trains.

Beside the keys of `peft.LoraConfig`, a recipe's `lora:` section takes three of ours:

* `layers`: `all`, `first:2+last:2`, `middle:8`, `[0, 1, 26, 27]`, `random:8@SEED`, or
  `top:8@RUN`, the layers that a finished run moved most (`trainers.displacement`);
* `match_parameters`: a number, or a finished run: the rank is chosen so that as many parameters
  are trained, as nearly as ranks allow. The ratio alpha / r (alpha / sqrt(r) with rsLoRA) stays;
* `loraplus_lr_ratio`: learning rate of the B factors over that of the A factors (LoRA+).

Everything is worked out on the model's skeleton, which has shapes and no weights.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.errors import RecipeError, did_you_mean
from reasonenv.extras import need
from reasonenv.models.loading import load_model, load_skeleton
from reasonenv.trainers.displacement import adapter_parameters, layer_displacements
from reasonenv.trainers.recipe import Recipe

__all__ = [
    "OWN_KEYS",
    "Layers",
    "Placement",
    "check_layers",
    "decoder_layers",
    "place",
    "placement_of",
]

OWN_KEYS = frozenset({"layers", "match_parameters", "loraplus_lr_ratio"})
"""Keys of the `lora:` section that are not PEFT's."""

_LAYERS = (
    "write all, first:N, last:N, middle:N, random:N@SEED, top:N@RUN, several of them joined by +, "
    "or a list of numbers"
)
_PIECE = re.compile(r"(first|last|middle):(\d+)\Z|(random):(\d+)@(\d+)\Z|(top):(\d+)@(.+)\Z")


@dataclass(frozen=True, slots=True)
class Layers:
    """A model's decoder layers, as they were found.

    Attributes:
        path: of their list, such as "model.layers".
        count: how many there are.
        kind: the class of a layer.
        pattern: what PEFT finds their numbers by (`layers_pattern`).
    """

    path: str
    count: int
    kind: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Placement:
    """What the `lora:` section comes to for one model.

    Attributes:
        fields: of `peft.LoraConfig`; None trains all weights.
        notes: what was found and chosen, in words.
        loraplus_lr_ratio: None: one learning rate.
    """

    fields: dict[str, Any] | None
    notes: tuple[str, ...] = ()
    loraplus_lr_ratio: float | None = None


def check_layers(spec: Any) -> None:
    """Check how `lora.layers` is written; no model is needed.

    Raises:
        RecipeError: it is not valid.
    """
    if isinstance(spec, str) and (spec == "all" or all(map(_PIECE.match, _pieces(spec)))):
        return
    numbers = list(spec) if isinstance(spec, list | tuple) else []
    if numbers and all(type(n) is int and n >= 0 for n in numbers):
        return
    raise RecipeError(f"lora.layers={spec!r}: {_LAYERS}")


def decoder_layers(model: Any) -> Layers:
    """Find a model's decoder layers: the outermost `ModuleList` that holds most parameters.

    Raises:
        RecipeError: the model has no list of layers.
    """
    torch = need("torch", extra="train", by="reasonenv.trainers")
    lists = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module)
    }
    outer = {
        name: module
        for name, module in lists.items()
        if not any(name.startswith(f"{other}.") for other in lists)
    }
    if not outer:
        raise RecipeError(
            f"lora.layers: {type(model).__name__} holds no list of layers; name its modules in "
            "lora.target_modules instead"
        )
    path = max(outer, key=lambda name: sum(p.numel() for p in outer[name].parameters()))
    last = path.rpartition(".")[2]
    alone = sum(name.rpartition(".")[2] == last for name in outer) == 1
    # PEFT puts the pattern into a regular expression, with at least one part of the path before it.
    pattern = last if alone else re.escape(path.partition(".")[2] or path)
    return Layers(path, len(outer[path]), type(outer[path][0]).__name__, pattern)


def place(
    section: Mapping[str, Any] | None,
    skeleton: Any,
    displacements: Callable[[str], Sequence[float]] | None = None,
) -> Placement:
    """Work out the `lora:` section for a model.

    Args:
        section: of the recipe.
        skeleton: the model, with shapes at least; it is left as it is.
        displacements: gives each layer's displacement in a finished run, for `top:N@RUN`.

    Raises:
        RecipeError: a module or a layer that the model does not have, or a run without adapter.
    """
    if section is None:
        return Placement(None)
    fields = {key: value for key, value in section.items() if key not in OWN_KEYS}
    _check_modules(fields.get("target_modules"), skeleton)
    notes: list[str] = []
    spec = section.get("layers", "all")
    check_layers(spec)
    if spec != "all":
        found = decoder_layers(skeleton)
        chosen = _select(spec, found, displacements)
        fields |= _at_layers(fields, skeleton, found, chosen)
        notes.append(
            f"layers {_ranges(chosen)} of {found.count} ({found.kind} in {found.path}), modules "
            f"{', '.join(sorted(fields['target_modules']))}"
        )
    for key in ("rank_pattern", "alpha_pattern"):
        _check_pattern(key, fields, skeleton)
    trained = count_parameters(skeleton, fields)
    if section.get("match_parameters") is not None:
        fields, note = _matched(section["match_parameters"], fields, skeleton)
        notes.append(note)
    else:
        notes.append(f"{trained:,} parameters are trained")
    return Placement(fields, tuple(notes), section.get("loraplus_lr_ratio"))


def placement_of(recipe: Recipe, base: Any = None) -> Placement:
    """Work out the `lora:` section of a recipe for its model.

    Args:
        recipe: checked by `check_sections`.
        base: the loaded model, where there is one; only `top:N@RUN` needs weights.

    Raises:
        RecipeError: the section does not fit the model.
        ModelError: the model cannot be loaded.
    """
    if recipe.lora is None:
        return Placement(None)
    skeleton = load_skeleton(recipe.model)

    def displacements(run: str) -> list[float]:
        model = load_model(recipe.model, recipe.dtype) if base is None else base
        found = decoder_layers(skeleton)
        return layer_displacements(run, model, found.path, found.count)

    try:
        return place(recipe.lora, skeleton, displacements)
    except RecipeError as error:
        raise RecipeError(f"the recipe does not fit {recipe.model}: {error}") from error


def count_parameters(skeleton: Any, fields: Mapping[str, Any]) -> int:
    """Return how many parameters an adapter with these settings trains.

    Raises:
        RecipeError: PEFT finds no module for it.
    """
    torch = need("torch", extra="train", by="reasonenv.trainers")
    peft = need("peft", extra="train", by="reasonenv.trainers")
    bare = copy.deepcopy(skeleton).to(torch.device("meta"))
    plain = {"task_type": "CAUSAL_LM", **fields, "init_lora_weights": True}
    try:
        model = peft.get_peft_model(bare, peft.LoraConfig(**plain), low_cpu_mem_usage=True)
    except (TypeError, ValueError) as error:
        raise RecipeError(f"lora: PEFT refuses this section: {error}") from error
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def _matched(
    wanted: int | str, fields: dict[str, Any], skeleton: Any
) -> tuple[dict[str, Any], str]:
    """Return the fields with the rank whose parameters are nearest to what is wanted."""
    target = adapter_parameters(wanted) if isinstance(wanted, str) else int(wanted)
    one, two = (count_parameters(skeleton, {**fields, "r": r}) for r in (1, 2))
    slope = two - one
    if not slope:
        raise RecipeError(
            "lora.match_parameters: lora.rank_pattern fixes the rank of every module, so none is "
            "left to choose"
        )
    rank = max(1, round(1 + (target - one) / slope))
    given, alpha = fields.get("r", 8), fields.get("lora_alpha", 8)
    scale = math.sqrt(rank / given) if fields.get("use_rslora") else rank / given
    matched = {**fields, "r": rank, "lora_alpha": alpha * scale}
    if matched["lora_alpha"] == round(matched["lora_alpha"]):
        matched["lora_alpha"] = round(matched["lora_alpha"])
    trained = count_parameters(skeleton, matched)
    whose = f"{wanted} has" if isinstance(wanted, str) else "asked for are"
    return matched, (
        f"rank {rank} trains {trained:,} parameters, {whose} {target:,} "
        f"({trained / target - 1:+.1%}); lora_alpha {matched['lora_alpha']:g} keeps the scaling"
    )


def _select(
    spec: str | Sequence[int],
    found: Layers,
    displacements: Callable[[str], Sequence[float]] | None,
) -> list[int]:
    chosen: set[int] = set()
    pieces = _pieces(spec) if isinstance(spec, str) else []
    if not isinstance(spec, str):
        beyond = sorted(n for n in spec if n >= found.count)
        if beyond:
            raise RecipeError(
                f"lora.layers={list(spec)}: the model has {found.count} layers ({found.path}), "
                f"so {_listed(beyond)} {'is' if len(beyond) == 1 else 'are'} beyond it: valid: "
                f"0 to {found.count - 1}"
            )
        chosen |= set(spec)
    for piece in pieces:
        match = _PIECE.match(piece)
        assert match is not None
        kind, number, *rest = (part for part in match.groups() if part is not None)
        size, count = int(number), found.count
        if not 1 <= size <= count:
            raise RecipeError(
                f"lora.layers={spec!r}: the model has {count} layers ({found.path}), so {piece} "
                f"asks for {size}: valid: 1 to {count}"
            )
        if kind == "random":
            rng = np.random.default_rng(int(rest[0]))
            chosen |= {int(n) for n in rng.permutation(count)[:size]}
        elif kind == "top":
            assert displacements is not None
            moved = np.asarray(displacements(rest[0]))
            if len(moved) != count:
                raise RecipeError(
                    f"lora.layers={spec!r}: the run's model has {len(moved)} layers, this one "
                    f"{count}: give a run of the same model"
                )
            chosen |= {int(n) for n in np.argsort(-moved, kind="stable")[:size]}
        else:
            start = {"first": 0, "last": count - size, "middle": (count - size) // 2}[kind]
            chosen |= set(range(start, start + size))
    return sorted(chosen)


def _at_layers(
    fields: Mapping[str, Any], skeleton: Any, found: Layers, chosen: list[int]
) -> dict[str, Any]:
    """Return PEFT's fields that place the adapter in these layers only."""
    for key in ("layers_to_transform", "layers_pattern"):
        if fields.get(key) is not None:
            raise RecipeError(f"lora.{key}: lora.layers sets it; give one of the two")
    inside = {
        name.removeprefix(f"{found.path}.").partition(".")[2]
        for name in _linear(skeleton)
        if name.startswith(f"{found.path}.")
    }
    names = fields.get("target_modules")
    if names == "all-linear":
        names = sorted({name.rpartition(".")[2] for name in inside})
    elif names is None:
        peft = need("peft.utils.constants", extra="train", by="reasonenv.trainers")
        known = peft.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
        names = sorted(known.get(getattr(skeleton.config, "model_type", ""), ()))
    if isinstance(names, str) or not names:
        raise RecipeError(
            f"lora.layers places modules by name: give lora.target_modules as all-linear or a "
            f"list, got {fields.get('target_modules')!r}"
        )
    outside = [n for n in names if not any(_ends_with(name, n) for name in inside)]
    if outside:
        raise RecipeError(
            f"lora.target_modules: {_listed(outside)} {'is' if len(outside) == 1 else 'are'} not "
            f"in the layers ({found.path}), which lora.layers chooses from: valid: "
            f"{_listed(sorted({n.rpartition('.')[2] for n in inside}))}"
        )
    return {
        "target_modules": list(names),
        "layers_to_transform": chosen,
        "layers_pattern": found.pattern,
    }


def _check_modules(names: Any, skeleton: Any) -> None:
    """PEFT ignores a listed module that is not there as long as another one is."""
    if not isinstance(names, list | tuple | set):
        return
    every = [name for name, _ in skeleton.named_modules() if name]
    for wanted in names:
        if not any(_ends_with(name, wanted) for name in every):
            known = {name.rpartition(".")[2] for name in _linear(skeleton)}
            raise RecipeError(
                f"lora.target_modules: the model has no module {wanted!r}; "
                f"{did_you_mean(str(wanted), known)}"
            )


def _check_pattern(key: str, fields: Mapping[str, Any], skeleton: Any) -> None:
    """PEFT ignores a pattern that fits no module."""
    for pattern in fields.get(key) or {}:
        names = list(_linear(skeleton))
        if not any(re.match(rf"(.*\.)?({pattern})$", name) for name in names):
            known = {name.rpartition(".")[2] for name in names}
            raise RecipeError(
                f"lora.{key}: no module fits {pattern!r}; {did_you_mean(pattern, known)}"
            )


def _linear(model: Any) -> Iterable[str]:
    """Yield the names of modules that an adapter can be placed in."""
    for name, module in model.named_modules():
        if type(module).__name__ in ("Linear", "Conv1D"):
            yield name


def _pieces(spec: str) -> list[str]:
    """Split at the plus signs before a keyword: a run's path may hold some, too."""
    return [
        piece.strip() for piece in re.split(r"\+(?=\s*(?:first|last|middle|random|top):)", spec)
    ]


def _ends_with(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith(f".{wanted}")


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def _ranges(numbers: Sequence[int]) -> str:
    """Return 0, 1, 2, 5 as "0-2, 5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
