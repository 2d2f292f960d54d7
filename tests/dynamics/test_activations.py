"""Activation shift and KL: the same figures as from whole hidden states and logits at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

from reasonenv.dynamics.activations import activation_shift  # noqa: E402
from reasonenv.errors import DataError, ModelError  # noqa: E402

from .conftest import shake, tiny  # noqa: E402

Make = Callable[..., tuple[Any, Path]]
SAMPLES = [([1, 2, 3], [4, 5]), ([6], [7, 8, 9, 10]), ([11, 12], []), ([2, 30], [31])]


def by_hand(after: Any, before: Any) -> tuple[dict[str, list[float]], float, float]:
    """Return shifts by mask, and both KL, one sample at a time without padding."""
    moved: dict[str, Any] = dict.fromkeys(("prompt", "completion", "last"), 0.0)
    norms: dict[str, Any] = dict(moved)
    kl, back, count = 0.0, 0.0, 0
    for prompt, completion in SAMPLES:
        ids = torch.tensor([prompt + completion])
        with torch.no_grad():
            one, other = (m(ids, output_hidden_states=True) for m in (after, before))
        states = [torch.stack(o.hidden_states)[:, 0].double() for o in (one, other)]
        n = len(prompt)
        spans = {"prompt": slice(0, n), "completion": slice(n, None)}
        if completion:
            spans["last"] = slice(len(prompt + completion) - 1, None)
        for name, span in spans.items():
            moved[name] += (states[0] - states[1])[:, span].square().sum((1, 2))
            norms[name] += states[1][:, span].square().sum((1, 2))
        p, q = (o.logits[0, n - 1 : -1].double().log_softmax(-1) for o in (one, other))
        kl += float((p.exp() * (p - q)).sum())
        back += float((q.exp() * (q - p)).sum())
        count += len(completion)
    shift = {name: (moved[name] / norms[name]).sqrt().tolist() for name in moved}
    return shift, kl / count, back / count


@pytest.mark.parametrize("size", [1, 3, 8])
def test_shift_and_kl_are_those_of_each_sample_alone(
    adapted: Make, base_folder: Path, size: int
) -> None:
    from transformers import AutoModelForCausalLM

    model, _ = adapted(scale=0.2)
    before = AutoModelForCausalLM.from_pretrained(base_folder).eval()
    model.train()
    found = activation_shift(model, SAMPLES, batch_size=size)
    assert model.training
    shift, kl, back = by_hand(model.eval(), before)
    for name, values in shift.items():
        assert list(found.shift[name]) == pytest.approx(values, rel=1e-3, abs=1e-6), name
    assert found.kl == pytest.approx(kl, rel=1e-3)
    assert found.kl_back == pytest.approx(back, rel=1e-3)
    assert found.kl > 0
    assert found.tokens == {"prompt": 8, "completion": 7, "last": 3}
    assert found.samples == 4
    assert found.layers == 4
    assert found.shift["prompt"][0] == 0


def test_two_whole_models_are_compared_by_a_reference() -> None:
    before, after = tiny(), shake(tiny(), 0.1, only="mlp")
    found = activation_shift(after, SAMPLES, reference=before)
    shift, kl, _ = by_hand(after, before)
    assert list(found.shift["completion"]) == pytest.approx(shift["completion"], rel=1e-3)
    assert found.kl == pytest.approx(kl, rel=1e-3)


def test_an_adapter_that_has_not_moved_shifts_nothing(adapted: Make) -> None:
    model, _ = adapted(scale=0.0)
    found = activation_shift(model, SAMPLES)
    assert all(value == 0 for values in found.shift.values() for value in values)
    assert found.kl == pytest.approx(0, abs=1e-9)


def test_prompts_without_completions_have_a_prompt_shift_alone(adapted: Make) -> None:
    model, _ = adapted()
    found = activation_shift(model, [([1, 2], [])], kl=True)
    assert found.shift["prompt"][-1] > 0
    assert math.isnan(found.shift["completion"][-1])
    assert math.isnan(found.kl)


def test_what_cannot_be_compared_is_said(adapted: Make) -> None:
    model, _ = adapted()
    with pytest.raises(DataError, match="no samples"):
        activation_shift(model, [])
    with pytest.raises(DataError, match="no prompt token"):
        activation_shift(model, [([], [1])])
    with pytest.raises(ModelError, match="give reference="):
        activation_shift(tiny(), SAMPLES)
    with pytest.raises(ModelError, match="not the same base"):
        activation_shift(tiny(), SAMPLES, reference=tiny(num_hidden_layers=1))
