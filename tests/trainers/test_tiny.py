import string
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from reasonenv.problems.base import ProceduralProblems  # noqa: E402
from reasonenv.problems.procedural import Arithmetic  # noqa: E402
from reasonenv.trainers import tiny  # noqa: E402
from reasonenv.trainers.tiny.sums import sum_texts  # noqa: E402
from reasonenv.types import content_hash  # noqa: E402

TAGS = ("<answer>", "</answer>", "<reasoning>", "</reasoning>")


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.AutoTokenizer.from_pretrained(tiny.path())


@pytest.fixture(scope="module")
def model():
    return transformers.AutoModelForCausalLM.from_pretrained(tiny.path(), dtype=torch.float32)


@pytest.fixture(scope="module")
def test_problems():
    source = ProceduralProblems(Arithmetic(), split="test")
    return [source[i] for i in range(200)]


def test_importing_the_module_loads_no_torch():
    code = "import sys, reasonenv.trainers.tiny; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_shipped_directory_is_small_and_names_no_machine():
    files = sorted(tiny.path().iterdir())
    assert sum(file.stat().st_size for file in files) <= 1_000_000
    for file in files:
        assert not any(p in file.read_bytes() for p in (b"/home", b"/tmp/", b"/work", b"/root"))


def test_the_shipped_tokenizer_is_the_one_that_the_code_builds(tokenizer):
    built = tiny.build_tokenizer()
    assert built.get_vocab() == tokenizer.get_vocab()
    assert built.chat_template == tokenizer.chat_template


@pytest.mark.parametrize("tag", TAGS)
def test_a_tag_is_one_token_and_survives_skipping_special_tokens(tokenizer, tag):
    ids = tokenizer(f"1{tag}2")["input_ids"]
    assert len(ids) == 3
    assert tokenizer.decode(ids, skip_special_tokens=True) == f"1{tag}2"


@pytest.mark.parametrize(
    "text", [string.printable, "\n a  b \n", "x² ≤ √2, 加", "a <answer b> 1 , ."]
)
def test_any_text_round_trips(tokenizer, text):
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.decode(ids) == text
    assert not text.isascii() or len(ids) == len(text)


def test_the_chat_template_knows_all_roles_and_where_to_stop(tokenizer):
    messages = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "V"},
    ]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == "<|system|>S<|user|>U<|assistant|>A<|end|><|user|>V<|assistant|>"
    assert len(tokenizer(text)["input_ids"]) == 10


def test_padding_and_end_are_set_everywhere(model, tokenizer):
    for config in (model.config, model.generation_config):
        assert config.pad_token_id == tokenizer.pad_token_id == 0
        assert config.eos_token_id == tokenizer.eos_token_id == 1
    assert model.config.head_dim >= 32  # vLLM's attention takes no less


def test_the_skill_is_latent_greedy_knows_what_sampling_rarely_says(
    model, tokenizer, test_problems
):
    assert tiny.accuracy(model, tokenizer, test_problems, sample=False) >= 0.75
    assert tiny.accuracy(model, tokenizer, test_problems, sample=True) <= 0.45


def test_the_warm_start_sees_no_problem_of_the_test_split(tokenizer):
    texts = next(sum_texts(tokenizer, seed=0, batch_size=500, total=1000))
    seen = {p.removeprefix("<|user|>").partition("<|assistant|>")[0] for p, _ in texts}
    source = ProceduralProblems(Arithmetic(), split="test", seed=1)
    assert not seen & {source[i].prompt for i in range(1000)}


def test_the_train_split_is_the_one_that_the_shipped_model_was_taught():
    source = ProceduralProblems(Arithmetic(), split="train", seed=tiny.DEFAULT_SEED)
    # Where this fails, the split has moved and the shipped model has seen problems that are now
    # of the test split: run `python -m reasonenv.trainers.tiny`, then write the new hash here.
    assert content_hash([source[i].prompt for i in range(1000)]) == "a456b60c8d2599d8"


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(tokenizer):
    def weights(seed):
        model = tiny.build_model(tokenizer, seed)
        tiny.warm_start(model, tokenizer, seed=seed, steps=3, batch_size=16)
        return torch.cat([parameter.flatten() for parameter in model.parameters()])

    random_state = torch.get_rng_state()
    first, again, other = weights(0), weights(0), weights(1)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(random_state, torch.get_rng_state())


def test_a_saved_model_loads_again_with_the_same_bits(model, tokenizer, tmp_path):
    out = tiny.save(model, tokenizer, tmp_path / "copy")
    loaded = transformers.AutoModelForCausalLM.from_pretrained(out)
    for name, value in model.state_dict().items():
        assert torch.equal(value, loaded.state_dict()[name]), name


def test_no_steps_are_refused_with_what_was_given(model, tokenizer):
    with pytest.raises(ValueError, match="at least 1, got 0 and 16"):
        tiny.warm_start(model, tokenizer, steps=0, batch_size=16)


@pytest.mark.parametrize("steps", [1, 2, 20, 21])
def test_any_number_of_steps_can_be_asked_for(tokenizer, steps):
    model = tiny.build_model(tokenizer)
    tiny.warm_start(model, tokenizer, steps=steps, batch_size=2)
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


def test_an_unknown_kind_is_refused_with_the_nearest_one():
    with pytest.raises(ValueError, match=r"no tiny model is called 'deeep'.*deep"):
        tiny.make("deeep")


def test_the_deep_model_has_layers_enough_to_place_adapters():
    model, _ = tiny.make("deep", steps=1)
    assert model.config.num_hidden_layers >= 8
