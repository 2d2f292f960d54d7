"""Whether the engine really samples from the adapter that is trained."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from reasonenv.errors import EngineError
from reasonenv.trainers.engine.generation import EngineGeneration

__all__ = ["compare_with_trainer", "engine_logprobs", "probe_adapter"]

_LEAST_SHIFT = 1e-3  # nats, on at least one token of the probed text
_LARGEST_GAP = 0.5  # nats, mean over the probed text: bfloat16 on both sides makes a tenth of it
_PERTURBATION = 0.05  # standard deviation of B while the engine is probed


def engine_logprobs(generation: EngineGeneration, ids: Sequence[int]) -> list[float]:
    """Return the engine's log-probability of each token after the first, shape (len(ids) - 1,)."""
    ids = list(ids)
    if generation.mode == "server":
        client = generation.vllm_client
        found = client.get_sequence_logprobs([ids], [1], top_logprobs=1)
        return [float(values[0]) for values in found["actual_logprobs"][0]]
    from vllm import SamplingParams

    asked = SamplingParams(max_tokens=1, temperature=1.0, prompt_logprobs=0)
    (output,) = generation.llm.generate([{"prompt_token_ids": ids}], asked, use_tqdm=False)
    pairs = zip(ids[1:], output.prompt_logprobs[1:], strict=True)
    return [float(position[token].logprob) for token, position in pairs]


def probe_adapter(generation: EngineGeneration, ids: Sequence[int]) -> float:
    """Perturb the adapter, and return how far the engine's log-probabilities follow, in nats.

    The adapter is as it was afterwards, in the trainer and in the engine.

    Args:
        generation: of a trainer. Every rank calls this; those that have no engine get NaN.
        ids: tokens of any text of the domain, at least two.

    Raises:
        EngineError: they do not follow: the engine samples from something else.
    """
    factors = [p for name, p in generation.model.named_parameters() if ".lora_B." in name]
    kept = [factor.detach().clone() for factor in factors]
    asks = generation.mode == "colocate" or generation.accelerator.is_main_process
    generation.sync_weights()
    before = engine_logprobs(generation, ids) if asks else []
    source = torch.Generator().manual_seed(0)
    try:
        with torch.no_grad():
            for factor in factors:
                noise = torch.randn(factor.shape, generator=source) * _PERTURBATION
                factor.add_(noise.to(factor))
        generation.sync_weights()
        after = engine_logprobs(generation, ids) if asks else []
    finally:
        with torch.no_grad():
            for factor, value in zip(factors, kept, strict=True):
                factor.copy_(value)
    generation.sync_weights()
    if not asks:
        return float("nan")
    shift = max(abs(a - b) for a, b in zip(before, after, strict=True))
    if not shift > _LEAST_SHIFT:
        raise EngineError(
            f"the engine's log-probabilities do not follow the adapter (largest shift {shift:.1e} "
            "nats after a large perturbation): it samples from the base model or from an old "
            "version; with a server, see that it serves the trained model and allows adapters"
        )
    return shift


def compare_with_trainer(generation: EngineGeneration, ids: Sequence[int]) -> float:
    """Return how far the engine's log-probabilities are from the trainer's, in nats (mean).

    Args:
        generation: of a trainer whose weights are not sharded; synced.
        ids: tokens of any text of the domain, at least two.

    Raises:
        EngineError: so far that the engine must serve another model.
    """
    model = generation.model
    with torch.no_grad():
        tokens = torch.tensor([list(ids)], device=model.device)
        logs = model(tokens).logits[0, :-1].float().log_softmax(-1)
        ours = logs.gather(1, tokens[0, 1:, None])[:, 0].tolist()
    theirs = engine_logprobs(generation, ids)
    gap = float(sum(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / len(ours))
    if not gap < _LARGEST_GAP:
        raise EngineError(
            f"the engine's log-probabilities are {gap:.2f} nats from the trainer's on the same "
            "text: it serves another model than the recipe's"
        )
    return gap
