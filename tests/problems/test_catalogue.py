"""Sources by name."""

import os
import pickle
from pathlib import Path

import pytest

from reasonenv.errors import DataError, HubUnavailableError
from reasonenv.problems import (
    CATALOGUE,
    KINDS,
    Arithmetic,
    CatalogueEntry,
    Countdown,
    ProceduralProblems,
    catalogue,
    load,
    overlap,
)
from reasonenv.problems.code_sets import CODE_SETS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
SHARED = Path(os.environ.get("REASONENV_SHARED", ROOT.parent / "shared")) / "data"


def test_every_entry_says_what_a_reader_of_the_catalogue_wants_to_know():
    code = {entry.name for entry in CODE_SETS}
    assert {"gsm8k", "arc_challenge", "arithmetic", "countdown", "jsonl"} == set(CATALOGUE) - code
    for name, entry in CATALOGUE.items():
        assert entry.name == name
        assert entry.kind in KINDS
        assert entry.title
        assert entry.description.endswith(".")
        assert entry.answer_is
        assert entry.source if entry.dataset else entry.licence == "n/a"
        assert pickle.loads(pickle.dumps(entry)) == entry


def test_procedural_names_give_procedural_problems_with_their_options():
    assert load("arithmetic", digits=3, seed=4) == ProceduralProblems(
        Arithmetic(digits=3), "train", 4, 100_000, "arithmetic"
    )
    assert load("countdown", "test", size=7, numbers=4) == ProceduralProblems(
        Countdown(numbers=4), "test", 0, 7, "countdown"
    )


def test_gsm8k_reads_a_local_file_in_its_place():
    problems = load("gsm8k", data=DATA / "gsm8k_own.jsonl")
    assert len(problems) == 24
    assert problems[0].answer == "39"


def test_arc_reads_a_local_file_in_its_place():
    assert load("arc_challenge", data=str(DATA / "arc_own.jsonl"))[0].answer == "A"


def test_jsonl_lets_each_row_decide_what_it_is(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text(
        '{"prompt": "6*7", "answer": "42"}\n{"prompt": "?", "options": ["x", "y"], "answer": "B"}\n'
    )
    assert [p.answer for p in load("jsonl", data=path)] == ["42", "B"]


def test_jsonl_needs_a_file():
    with pytest.raises(DataError, match=r"jsonl: needs data=FILE\.jsonl.*\"prompt\""):
        load("jsonl")


def test_a_file_of_choices_is_no_gsm8k():
    with pytest.raises(DataError, match=r"arc_own\.jsonl:1: field \"choices\".*multiple-choice"):
        load("gsm8k", data=DATA / "arc_own.jsonl")


def test_a_size_draws_the_same_problems_for_the_same_seed():
    path = DATA / "gsm8k_own.jsonl"
    five = load("gsm8k", data=path, size=5)
    assert list(five) == list(load("gsm8k", data=path, size=5))
    assert list(five) != list(load("gsm8k", data=path, size=5, seed=1))
    assert len(load("gsm8k", data=path, size=500)) == 24


def test_data_may_hold_several_splits():
    data = {"train": DATA / "gsm8k_own.jsonl", "test": [{"question": "1+1", "answer": "2"}]}
    assert len(load("gsm8k", "train", data=data)) == 24
    assert len(load("gsm8k", "test", data=data)) == 1


def test_data_takes_the_place_of_a_generator():
    assert load("arithmetic", data=[{"prompt": "1+1=", "answer": "2"}])[0].answer == "2"


def test_columns_may_be_named():
    rows = [{"Problem": "1+1", "Result": 2}]
    problems = load("gsm8k", data=rows, columns={"prompt": "Problem", "answer": "Result"})
    assert problems[0].prompt == "1+1"


def test_an_entry_of_ones_own_is_loaded_like_a_built_in_one(monkeypatch):
    asked = []
    monkeypatch.setattr(catalogue, "load_hub", lambda *args, **kwargs: asked.append((args, kwargs)))
    entry = CatalogueEntry(
        "mine", "Mine", "math", "Sums.", dataset="acme/sums", config="v2", splits={"train": "all"}
    )
    load(entry)
    (args, kwargs), *_ = asked
    assert args == ("acme/sums", "v2", "all")
    assert kwargs["kind"] == "math"
    with pytest.raises(DataError, match="mine: there is no split 'test'; valid: train"):
        load(entry, "test")


def test_without_a_hub_gsm8k_says_what_to_do(monkeypatch, tmp_path):
    datasets = pytest.importorskip("datasets")
    huggingface_hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    with pytest.raises(HubUnavailableError, match=r"gsm8k: .*openai/gsm8k.*data=FILE\.jsonl"):
        load("gsm8k")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name_or_entry": "gsm8"}, "called 'gsm8'; did you mean `gsm8k`"),
        ({"name_or_entry": 3}, "called 3; valid: apps, arc"),
        ({"name_or_entry": "gsm8k", "split": None}, "no split None; valid: test, train"),
        ({"name_or_entry": "zzz"}, "valid: .*arc_challenge, arithmetic, .*gsm8k, .*jsonl"),
        ({"name_or_entry": "arithmetic", "digit": 3}, "'digit'; did you mean `digits`"),
        (
            {"name_or_entry": "arithmetic", "digits": 0},
            "arithmetic, with digits=0: digits from 1 to 18",
        ),
        ({"name_or_entry": "arithmetic", "digits": "2"}, "arithmetic, with digits='2': "),
        ({"name_or_entry": "arithmetic", "split": "validation"}, "got 'validation'"),
        ({"name_or_entry": "gsm8k", "digits": 3}, "gsm8k: digits: .*gsm8k is not procedural"),
        ({"name_or_entry": "arithmetic", "data": [], "digits": 3}, "data is given"),
        (
            {"name_or_entry": "gsm8k", "split": "validation"},
            "no split 'validation'; valid: test, t",
        ),
    ],
)
def test_what_cannot_be_loaded_says_why(arguments, message):
    with pytest.raises(DataError, match=message):
        load(**arguments)


def test_an_entry_of_an_unknown_kind_is_refused():
    with pytest.raises(DataError, match="mine: there is no kind of task 'maths'; did you mean `ma"):
        CatalogueEntry("mine", "Mine", "maths", "Sums.")


needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared data files")


@needs_shared
@pytest.mark.parametrize(
    ("name", "file", "rows"),
    [
        ("gsm8k", "gsm8k_train.jsonl", 1000),
        ("gsm8k", "gsm8k_test.jsonl", 300),
        ("jsonl", "math500.jsonl", 500),
        ("jsonl", "aime24.jsonl", 30),
        ("arc_challenge", "arc_challenge.jsonl", 1172),
        ("arc_challenge", "openbookqa.jsonl", 500),
        ("jsonl", "mmlu_stem.jsonl", 1080),
        ("jsonl", "aqua_rat.jsonl", 254),
        ("jsonl", "sat_math.jsonl", 28),
        ("jsonl", "bbh_mcq.jsonl", 640),
    ],
)
def test_the_shared_files_are_read_in_full(name, file, rows):
    problems = load(name, data=SHARED / file)
    assert len(problems) == rows
    for problem in problems:
        if options := problem.metadata.get("options"):
            assert options["ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(problem.answer)]


@needs_shared
def test_the_shared_gsm8k_splits_have_no_question_in_common():
    train = load("gsm8k", data=SHARED / "gsm8k_train.jsonl")
    assert overlap(train, load("gsm8k", data=SHARED / "gsm8k_test.jsonl")) == set()
