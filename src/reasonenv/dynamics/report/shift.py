"""The activation shift of a run by layer (fig. 5 of arXiv 2609.39321)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from reasonenv.dynamics.activations import MASKS, ActivationShift, activation_shift
from reasonenv.dynamics.report.panels import Cell, Panel, Series, lines
from reasonenv.dynamics.runs import RunFiles
from reasonenv.errors import DataError, ModelError
from reasonenv.extras import need

__all__ = ["run_shift", "shift_panel"]


def run_shift(run: RunFiles, base: str | Path | None, count: int) -> ActivationShift:
    """Return the shift on a run's stored completions: of its evaluations, else of its training.

    Args:
        run: with an adapter, or with a whole model and a base.
        base: the base model's folder; None: as the run says.
        count: completions, the last ones stored, of different problems first.

    Raises:
        DataError: no completions are stored.
        ModelError: a model cannot be loaded.
    """
    folder, origin = run.weights(), run.base(base)
    if folder is None or origin is None:
        raise ModelError("it takes the trained weights and the base model")
    texts = _texts(run, count)
    transformers = need("transformers", extra="train", by="reasonenv.dynamics")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(origin, local_files_only=True)
        model = _load(transformers, origin)
        reference = None
        if run.is_adapter(folder):
            peft = need("peft", extra="train", by="reasonenv.dynamics")
            model = peft.PeftModel.from_pretrained(model, str(folder))
        else:
            model, reference = _load(transformers, folder), model
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelError(f"a model cannot be loaded: {str(error).splitlines()[0]}") from error
    options = (run.recipe.get("grpo") or {}).get("chat_template_kwargs") or {}
    samples = [
        (tokenizer(_rendered(prompt, tokenizer, options), add_special_tokens=False)["input_ids"],
         tokenizer(completion, add_special_tokens=False)["input_ids"])
        for prompt, completion in texts
    ]  # fmt: skip
    return activation_shift(model, [(p, c) for p, c in samples if p], reference=reference)


def _rendered(prompt: str, tokenizer: Any, options: Mapping[str, Any]) -> str:
    """Return a stored prompt as the model saw it: messages go through the chat template."""
    try:
        messages = json.loads(prompt)
    except ValueError:
        return prompt
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        return prompt
    text: str = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, **options
    )
    return text


def _load(transformers: Any, folder: Path) -> Any:
    torch = need("torch", extra="train", by="reasonenv.dynamics")
    on_gpu = torch.cuda.is_available()
    dtype = torch.bfloat16 if on_gpu and torch.cuda.is_bf16_supported() else torch.float32
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, dtype=dtype
    )
    return model.to("cuda" if on_gpu else "cpu")


def _texts(run: RunFiles, count: int) -> list[tuple[str, str]]:
    for kind in ("eval", "train"):
        last: dict[str, dict[str, Any]] = {}
        for row in run.rollouts(kind):
            last.pop(row["problem_id"], None)
            last[row["problem_id"]] = row
        if last:
            rows = islice(reversed(last.values()), count)
            return [(row["prompt"], row["completion"]) for row in rows]
    raise DataError("the run stores no completions")


def shift_panel(shifts: Mapping[str, ActivationShift]) -> Panel:
    """Return the picture of one or several runs' shifts."""
    rows: list[list[Cell]] = []
    groups = []
    for mask in MASKS:
        series = []
        for run, shift in shifts.items():
            values = np.array(shift.shift[mask])
            if np.isfinite(values).any():
                series.append(Series(run, np.arange(len(values), dtype=float), values))
            rows += [[run, mask, layer, float(v)] for layer, v in enumerate(values)]
        groups.append((f"{mask} tokens" if mask != "last" else "last token", series))
    for run, shift in shifts.items():
        rows.append([run, "KL(trained || base), nats a completion token", None, shift.kl])
        rows.append([run, "KL(base || trained), nats a completion token", None, shift.kl_back])
        rows.append([run, "completions", None, shift.samples])
    return Panel(
        "activation-shift",
        "Activation shift by layer",
        "||dH|| / ||H|| of the hidden states, adapter on against off; 0 is the embedding. "
        "Study fig. 5, eq. 13",
        lines(groups, "layer", ""),
        ["run", "tokens", "layer", "shift"],
        rows,
        (10.0, 6.4),
    )
