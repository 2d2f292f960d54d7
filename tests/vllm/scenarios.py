"""What the tests of the engine run, each in a process of its own: vLLM starts once in a process.

`python scenarios.py NAME DTYPE FOLDER` prints one line of JSON, the last one.
"""

import json
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model

from reasonenv.errors import EngineError
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.trainers.engine.checksum import base_checksum
from reasonenv.trainers.engine.generation import EngineGeneration
from reasonenv.trainers.engine.probe import engine_logprobs, probe_adapter

TEXT = "<|user|>47+85=<|assistant|><answer>132</answer>"
SYNCS = 12


def generation(dtype, folder, *, model=None, mode="colocate", kind=EngineGeneration, **lora):
    """Return a generation on the tiny model with a random adapter."""
    from accelerate import Accelerator

    if model is None:
        config = {"r": 8, "lora_alpha": 16, "target_modules": "all-linear", **lora}
        torch.manual_seed(0)
        model = get_peft_model(
            load_model("tiny", dtype), LoraConfig(task_type="CAUSAL_LM", **config)
        )
        redraw(model, 0)
    arguments = {"dtype": dtype, "enforce_eager": True}
    given = {} if kind is not EngineGeneration else {"folder": folder, "arguments": arguments}
    return kind(
        model=model,
        accelerator=Accelerator(cpu=True),
        processing_class=load_tokenizer("tiny"),
        mode=mode,
        max_model_length=128,
        gpu_memory_utilization=0.3,
        **given,
    )


def redraw(model, seed, size=0.1):
    """Draw the adapter's B anew, as a training step would change it."""
    source = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".lora_B." in name:
                parameter.copy_(torch.randn(parameter.shape, generator=source) * size)


def ids():
    return load_tokenizer("tiny")(TEXT)["input_ids"]


def trainer_logprobs(model):
    with torch.no_grad():
        tokens = torch.tensor([ids()])
        found = model(tokens).logits.float().log_softmax(-1)[0, :-1]
        return found.gather(1, tokens[0, 1:, None])[:, 0].tolist()


def gap(made):
    ours, engine = trainer_logprobs(made.model), engine_logprobs(made, ids())
    return max(abs(a - b) for a, b in zip(ours, engine, strict=True))


def many_syncs(dtype, folder, **lora):
    """Sync a changing adapter: how far off the engine is, and whether the base is kept."""
    made = generation(dtype, folder, **lora)
    before, gaps = base_checksum(made.model), []
    for version in range(SYNCS):
        redraw(made.model, version)
        made.sync_weights()
        gaps.append(gap(made))
    with made.model.disable_adapter():
        base = trainer_logprobs(made.model)
    adapted = trainer_logprobs(made.model)
    return {
        "effect": max(abs(a - b) for a, b in zip(base, adapted, strict=True)),
        "gap": max(gaps),
        "base_kept": base_checksum(made.model) == before,
        "merged": made.why_merged,
        "left": [path.name for path in Path(folder).glob("*")],
    }


def patterns(dtype, folder):
    return many_syncs(
        dtype,
        folder,
        rank_pattern={"q_proj": 4, "down_proj": 12},
        alpha_pattern={"q_proj": 3, "v_proj": 40},
        use_rslora=True,
        target_modules=["q_proj", "v_proj", "down_proj"],
    )


def dora(dtype, folder):
    return many_syncs(dtype, folder, use_dora=True)


def biases(dtype, folder):
    return many_syncs(dtype, folder, bias="lora_only")


def head(dtype, folder):
    return many_syncs(dtype, folder, target_modules=["q_proj"], modules_to_save=["norm"])


def trl(dtype, folder):
    """TRL's own way, for comparison: merge into the base, send, unmerge."""
    from functools import partial

    import vllm._custom_ops
    from trl.generation import vllm_generation

    vllm._custom_ops._supports_onednn = False  # as a CPU needs to have weights loaded
    llm = vllm_generation.LLM
    vllm_generation.LLM = partial(llm, dtype=dtype, enforce_eager=True)
    made = generation(dtype, folder, kind=vllm_generation.VLLMGeneration)
    before = base_checksum(made.model)
    for version in range(SYNCS):
        redraw(made.model, version)
        made.sync_weights()
    return {"base_kept": base_checksum(made.model) == before}


def broken_sync(dtype, folder):
    """A sync that fails in the middle leaves engine and trainer as they were."""
    import reasonenv.trainers.engine.generation as module

    made = generation(dtype, folder)
    made.sync_weights()
    before, old = base_checksum(made.model), engine_logprobs(made, ids())
    redraw(made.model, 7)
    write = module.write_adapter

    def cut(*given):
        path = write(*given)
        with (path / "adapter_model.safetensors").open("r+b") as file:
            file.truncate(100)
        return path

    module.write_adapter = cut
    try:
        made.sync_weights()
        said = ""
    except EngineError as error:
        said = str(error)
    after = engine_logprobs(made, ids())
    module.write_adapter = write
    made.sync_weights()
    return {
        "said": said,
        "kept": after == old,
        "base_kept": base_checksum(made.model) == before,
        "gap_after_mending": gap(made),
    }


def probe(dtype, folder):
    """The probe passes on a good engine and raises on one that ignores the adapter."""
    made = generation(dtype, folder)
    factors = {n: p.clone() for n, p in made.model.named_parameters() if "lora_" in n}
    shift = probe_adapter(made, ids())
    same = all(torch.equal(p, factors[n]) for n, p in made.model.named_parameters() if n in factors)
    close = gap(made)
    deaf = type(made.llm).generate

    def ignores(*args, lora_request=None, **kwargs):
        return deaf(*args, **kwargs)

    type(made.llm).generate = ignores
    try:
        probe_adapter(made, ids())
        said = ""
    except EngineError as error:
        said = str(error)
    return {"shift": shift, "restored": same, "gap": close, "said": said}


def views(dtype, folder):
    """Each row of a group is asked its own prompt."""
    made = generation(dtype, folder)
    made.views = 2
    made.sync_weights()
    tokenizer = load_tokenizer("tiny")
    asked = [tokenizer(f"<|user|>{a}+11=<|assistant|>")["input_ids"] for a in (20, 30, 20, 30)]
    prompts, *_ = made.generate(asked, None, num_generations=4)
    return {"asked": asked, "prompts": [list(p) for p in prompts]}


def several_turns(dtype, folder):
    """Train with feedback: what the engine says of its tokens is what the trainer says of them."""
    from reasonenv.trainers import GRPOLearner, read_metrics, read_rollouts
    from reasonenv.trainers.bridge import Bridge

    ahead = []
    finished = Bridge.finished

    def noted(self, context, tokens):
        ahead.append(tuple(context) in self._contexts)
        finished(self, context, tokens)

    Bridge.finished = noted
    run = GRPOLearner(
        recipe="quickstart",
        steps=2,
        out=folder,
        prompts_per_step=4,
        env_args={"max_turns": 3, "layout": {"reasoning": None, "instruction": ""}},
        turns={"max_tokens": 256},
        eval={"problems": 0},
        lora={"r": 8, "lora_alpha": 16, "target_modules": "all-linear"},
        grpo={
            "num_generations": 4,
            "max_completion_length": 8,
            "bf16": False,
            "use_vllm": True,
            "vllm_mode": "colocate",
            "vllm_gpu_memory_utilization": 0.3,
            "vllm_max_model_length": 512,
        },
    ).train()
    rows = read_rollouts(run.run)
    logged = read_metrics(run.run, "train")
    return {
        "turns": [len(json.loads(row["turns"])) + 1 if row["turns"] else 1 for row in rows],
        "gap": max(row["sampling/sampling_logp_difference/max"] for row in logged),
        "told": len(ahead),
        "known": all(ahead),
    }


if __name__ == "__main__":
    name, dtype, folder = sys.argv[1:4]
    print(json.dumps(globals()[name](dtype, Path(folder))), flush=True)
