"""Where an adapter is placed, how large it is, and what is refused."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from reasonenv import GRPOLearner
from reasonenv.errors import RecipeError
from reasonenv.models.loading import load_model
from reasonenv.trainers.displacement import adapter_parameters, layer_displacements
from reasonenv.trainers.placement import check_layers, decoder_layers, place
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.trl_config import check_sections, lora_config

from .conftest import small

pytestmark = pytest.mark.training

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 99,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
FAMILIES: dict[str, tuple[Any, str, str]] = {
    "qwen3": (
        transformers.Qwen3Config(num_hidden_layers=12, num_key_value_heads=1, head_dim=16, **SIZES),
        "model.layers",
        "Qwen3DecoderLayer",
    ),
    "llama": (
        transformers.LlamaConfig(num_hidden_layers=12, **SIZES),
        "model.layers",
        "LlamaDecoderLayer",
    ),
    "gpt2": (
        transformers.GPT2Config(n_embd=32, n_layer=12, n_head=2, vocab_size=99),
        "transformer.h",
        "GPT2Block",
    ),
    "opt": (
        transformers.OPTConfig(num_hidden_layers=12, ffn_dim=64, word_embed_proj_dim=32, **SIZES),
        "model.decoder.layers",
        "OPTDecoderLayer",
    ),
    "mixtral": (  # its experts must not be taken for layers
        transformers.MixtralConfig(
            num_hidden_layers=12, num_key_value_heads=1, num_local_experts=16, **SIZES
        ),
        "model.layers",
        "MixtralDecoderLayer",
    ),
}


def skeleton(family: str = "qwen3") -> Any:
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(FAMILIES[family][0])


def adapted_layers(model: Any, section: dict[str, Any]) -> list[int]:
    """Layers that PEFT really adapts with the placed section."""
    import peft

    placed = place(section, model)
    real = peft.get_peft_model(model, lora_config(placed.fields), low_cpu_mem_usage=True)
    names = [n for n, p in real.named_parameters() if p.requires_grad]
    assert names
    numbers = {int(part) for name in names for part in name.split(".") if part.isdigit()}
    trained = sum(p.numel() for p in real.parameters() if p.requires_grad)
    assert any(f"{trained:,}" in note for note in placed.notes)
    return sorted(numbers)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_layers_of_any_family_are_found_and_adapted(family: str) -> None:
    _, path, kind = FAMILIES[family]
    found = decoder_layers(skeleton(family))
    assert (found.path, found.count, found.kind) == (path, 12, kind)
    section = {"r": 2, "target_modules": "all-linear", "layers": "first:1+last:2"}
    assert adapted_layers(skeleton(family), section) == [0, 10, 11]


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ("all", list(range(12))),
        ("first:2", [0, 1]),
        ("last:1", [11]),
        ("first:2+last:2", [0, 1, 10, 11]),
        ("middle:4", [4, 5, 6, 7]),
        ("middle:5", [3, 4, 5, 6, 7]),
        ("first:8 + last:8", list(range(12))),
        ([0, 5, 11], [0, 5, 11]),
        ("middle:12", list(range(12))),
    ],
)
def test_layers_are_chosen_as_written(layers: Any, expected: list[int]) -> None:
    section = {"target_modules": ["q_proj", "down_proj"], "layers": layers}
    assert adapted_layers(skeleton(), section) == expected


def test_random_layers_depend_on_their_seed_alone() -> None:
    chosen = {
        seed: tuple(adapted_layers(skeleton(), {"target_modules": ["q_proj"], "layers": spec}))
        for seed, spec in ((n, f"random:4@{n}") for n in (0, 0, 1))
    }
    assert all(len(layers) == 4 for layers in chosen.values())
    assert chosen[0] != chosen[1]


@pytest.mark.parametrize(
    ("section", "fragments"),
    [
        ({"layers": "first:13"}, ["12 layers", "model.layers", "asks for 13", "1 to 12"]),
        ({"layers": [0, 12, 40]}, ["12, 40 are beyond", "0 to 11"]),
        ({"layers": "middle:0"}, ["asks for 0"]),
        ({"target_modules": ["q_proj", "v_prj"]}, ["'v_prj'", "did you mean `v_proj`"]),
        (
            {"layers": "first:1", "target_modules": ["lm_head", "q_proj"]},
            ["lm_head is not in the layers", "q_proj"],
        ),
        ({"layers": "first:1", "target_modules": ".*q_proj"}, ["all-linear or a list"]),
        ({"layers": "first:1", "layers_to_transform": [3]}, ["lora.layers sets it"]),
        ({"rank_pattern": {"q_prj": 2}}, ["lora.rank_pattern", "did you mean `q_proj`"]),
        ({"alpha_pattern": {"up": 2}}, ["lora.alpha_pattern", "'up'"]),
        ({"target_modules": "nowhere"}, ["nowhere"]),
        ({"match_parameters": "/no/such/run"}, ["/no/such/run", "no such folder"]),
    ],
)
def test_what_the_model_does_not_have_is_refused(
    section: dict[str, Any], fragments: list[str]
) -> None:
    with pytest.raises(RecipeError) as caught:
        place({"target_modules": "all-linear", **section}, skeleton())
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.parametrize("spec", ["frist:2", "first", "first:x", "top:8", "first:2,last:2", [], 3])
def test_layers_that_cannot_be_read_say_how_to_write_them(spec: Any) -> None:
    with pytest.raises(RecipeError, match="first:N"):
        check_layers(spec)


@pytest.mark.parametrize(
    ("lora", "fragment"),
    [
        ({"layers": "fist:2"}, "first:N"),
        ({"layers": [True]}, "list of numbers"),
        ({"layers": [-1]}, "list of numbers"),
        ({"loraplus_lr_ratio": 0.5}, "at least 1"),
        ({"match_parameters": 0}, "a number of parameters"),
        ({"layres": "all"}, "did you mean `layers`"),
    ],
)
def test_own_keys_are_checked_before_a_model_is_loaded(lora: dict[str, Any], fragment: str) -> None:
    with pytest.raises(RecipeError, match=fragment):
        check_sections(Recipe.make({"steps": 1, "lora": lora}))


@pytest.mark.parametrize("extra", [{}, {"use_dora": True}, {"bias": "lora_only"}])
@pytest.mark.parametrize("layers", ["first:2+last:2", "middle:4", "all"])
def test_ranks_are_chosen_for_equal_parameters(layers: str, extra: dict[str, Any]) -> None:
    section = {"target_modules": "all-linear", "layers": layers, "r": 4, "lora_alpha": 8, **extra}
    placed = place({**section, "match_parameters": 20_000}, skeleton())
    assert placed.fields is not None
    rank = placed.fields["r"]
    assert placed.fields["lora_alpha"] == 2 * rank
    found = [place({**section, "r": r}, skeleton()).notes[-1] for r in (rank - 1, rank, rank + 1)]
    below, at, above = (int(note.split()[0].replace(",", "")) for note in found)
    assert abs(at - 20_000) <= min(abs(below - 20_000), abs(above - 20_000))
    assert f"rank {rank} trains {at:,} parameters" in placed.notes[-1]


def test_rslora_keeps_its_own_scaling() -> None:
    section = {"target_modules": ["q_proj"], "r": 4, "lora_alpha": 8, "use_rslora": True}
    fields = place({**section, "match_parameters": 12 * 64 * 16}, skeleton()).fields
    assert fields is not None
    assert fields["r"] == 16
    assert fields["lora_alpha"] / math.sqrt(16) == pytest.approx(8 / math.sqrt(4))


def test_ranks_and_alphas_by_module_reach_peft() -> None:
    import peft

    section = {
        "target_modules": ["q_proj", "v_proj"],
        "r": 4,
        "rank_pattern": {"v_proj": 2, r"layers\.0\.self_attn\.q_proj": 8},
        "alpha_pattern": {"v_proj": 32},
    }
    model = peft.get_peft_model(
        skeleton(), lora_config(place(section, skeleton()).fields), low_cpu_mem_usage=True
    )
    ranks = {n: m.r["default"] for n, m in model.named_modules() if hasattr(m, "lora_A")}
    layers = "base_model.model.model.layers"
    assert ranks[f"{layers}.0.self_attn.q_proj"] == 8
    assert ranks[f"{layers}.1.self_attn.q_proj"] == 4
    assert ranks[f"{layers}.1.self_attn.v_proj"] == 2
    scales = {n: m.scaling["default"] for n, m in model.named_modules() if hasattr(m, "lora_A")}
    assert scales[f"{layers}.3.self_attn.v_proj"] == 16


ONE_LAYER = {"r": 4, "target_modules": "all-linear", "layers": [1]}


@pytest.fixture(scope="module")
def run_of_layer_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run whose adapter is in the tiny model's layer 1."""
    out = tmp_path_factory.mktemp("runs") / "one"
    fields = small(steps=2, eval={"problems": 0, "every": None})
    fields["lora"] = {**ONE_LAYER, "loraplus_lr_ratio": 4}
    GRPOLearner(out=out, **fields).train()
    return out


def test_a_run_trains_the_chosen_layers_alone_and_says_so(run_of_layer_one: Path) -> None:
    from safetensors.torch import load_file

    from reasonenv.trainers import Run

    tensors = load_file(run_of_layer_one / "adapter" / "adapter_model.safetensors")
    assert {name.split(".layers.")[1][0] for name in tensors} == {"1"}
    notes = Run.open(run_of_layer_one).facts["placement"]["notes"]
    assert "layers 1 of 2 (Qwen3DecoderLayer in model.layers)" in notes[0]


@pytest.mark.parametrize("extra", [{}, {"use_dora": True}, {"use_rslora": True}])
def test_displacement_is_that_of_the_merged_weights(extra: dict[str, Any], tmp_path: Path) -> None:
    import peft

    base = load_model("tiny")
    before = {n: p.detach().clone() for n, p in base.named_parameters()}
    section = {
        "target_modules": "all-linear",
        "r": 4,
        "rank_pattern": {"q_proj": 2},
        "alpha_pattern": {"v_proj": 3},
        **extra,
    }
    model = peft.get_peft_model(base, lora_config(section))
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.add_(0.05 * torch.randn_like(parameter))
    model.save_pretrained(tmp_path)
    got = layer_displacements(tmp_path, load_model("tiny"), "model.layers", 2)
    merged = dict(model.merge_and_unload().named_parameters())
    for layer in (0, 1):
        names = [n for n in before if n.startswith(f"model.layers.{layer}.") and "proj.weight" in n]
        moved = sum((merged[n] - before[n]).double().square().sum() for n in names)
        weight = sum(before[n].double().square().sum() for n in names)
        assert got[layer] == pytest.approx(float((moved / weight).sqrt()), rel=1e-4)


def test_top_layers_are_those_that_a_run_moved_most(run_of_layer_one: Path) -> None:
    lora = {"r": 2, "target_modules": "all-linear", "layers": f"top:1@{run_of_layer_one}"}
    text = GRPOLearner(**{**small(), "lora": lora}).describe()
    assert "layers 1 of 2" in text


def test_a_resumed_run_needs_no_longer_the_run_that_its_layers_came_from(
    run_of_layer_one: Path, tmp_path: Path
) -> None:
    other, out = tmp_path / "other", tmp_path / "run"
    shutil.copytree(run_of_layer_one, other)
    fields = small(steps=1, eval={"problems": 0, "every": None})
    fields["lora"] = {"r": 2, "target_modules": "all-linear", "layers": f"top:1@{other}"}
    GRPOLearner(out=out, **fields).train()
    shutil.rmtree(other)
    assert GRPOLearner.resume(out, steps=2).step == 2


def test_an_adapter_as_large_as_a_runs_is_described(run_of_layer_one: Path) -> None:
    lora = {
        "target_modules": "all-linear",
        "layers": [0],
        "match_parameters": str(run_of_layer_one),
    }
    count = adapter_parameters(run_of_layer_one)
    text = GRPOLearner(**{**small(), "lora": lora}).describe()
    assert f"rank 4 trains {count:,} parameters" in text
    assert "(+0.0%)" in text


def test_a_run_without_an_adapter_or_of_another_model_is_refused(
    run_of_layer_one: Path, tmp_path: Path
) -> None:
    with pytest.raises(RecipeError, match="holds no adapter"):
        adapter_parameters(tmp_path)
    real = transformers.AutoModelForCausalLM.from_config(FAMILIES["qwen3"][0])
    with pytest.raises(RecipeError, match="another model"):
        layer_displacements(run_of_layer_one, real, "model.layers", 12)


def test_lora_plus_gives_the_b_factors_a_larger_rate(tmp_path: Path) -> None:
    from .test_silent import make_trainer

    trainer = make_trainer(tmp_path, skip="auto", learning_rate=1e-3, weight_decay=0.1)
    trainer._loraplus = 16.0
    optimizer = trainer.create_optimizer()
    names = {id(p): n for n, p in trainer.model.named_parameters()}
    rates = {
        names[id(p)].split(".lora_")[1][0]: (group["lr"], group["weight_decay"])
        for group in optimizer.param_groups
        for p in group["params"]
    }
    assert rates == {"A": (1e-3, 0.1), "B": (pytest.approx(1.6e-2), 0.1)}
