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
from reasonenv.problems.choice_sets import CHOICE_SETS
from reasonenv.problems.code_sets import CODE_SETS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
SHARED = Path(os.environ.get("REASONENV_SHARED", ROOT.parent / "shared")) / "data"


def test_every_entry_says_what_a_reader_of_the_catalogue_wants_to_know():
    other = {entry.name for entry in (*CODE_SETS, *CHOICE_SETS)}
    assert set(CATALOGUE) - other == {
        *("arithmetic", "countdown", "jsonl"),
        *("gsm8k", "gsm_plus", "math500", "aime_2024", "aime_2026", "amc23", "metamathqa"),
        *("numinamath", "numinamath_cot", "openmath2", "imo_bench", "hmmt_2025"),
    }
    for name, entry in CATALOGUE.items():
        assert entry.name == name
        assert entry.kind in KINDS
        assert entry.title
        assert entry.description.endswith(".")
        assert entry.answer_is
        assert entry.source if entry.dataset else entry.licence == "n/a"
        assert set(entry.overlaps) <= set(CATALOGUE) - {name}
        assert pickle.loads(pickle.dumps(entry)) == entry


def test_what_is_made_from_anothers_training_problems_says_so():
    for name in ("metamathqa", "openmath2"):
        assert "made from" in CATALOGUE[name].overlaps["gsm8k"]
        assert "made from" in CATALOGUE[name].overlaps["math500"]
    assert "variations of its test" in CATALOGUE["gsm_plus"].overlaps["gsm8k"]


ROWS = {  # one made-up row in the columns of each data set: (row, gold, metadata that is kept)
    "gsm_plus": (
        {
            "question": "3 pens at 2?",
            "solution": "6",
            "answer": "6.0",
            "perturbation_type": "numerical substitution",
            "seed_question": "2 pens at 2?",
            "seed_solution": "4",
            "seed_answer": "4",
        },
        "6.0",
        {"solution", "perturbation_type", "seed_question", "seed_answer"},
    ),
    "math500": (
        {
            "problem": "Half?",
            "solution": "\\boxed{.5}",
            "answer": "\\frac{1}{2}",
            "subject": "Algebra",
            "level": 1,
            "unique_id": "test/algebra/1.json",
        },
        "\\frac{1}{2}",
        {"solution", "subject", "level"},
    ),
    "aime_2024": (
        {"id": 60, "problem": "?", "solution": "s", "answer": "204", "url": "u", "year": "2024"},
        "204",
        {"solution", "url", "year"},
    ),
    "aime_2026": ({"problem_idx": 1, "answer": 277, "problem": "?"}, "277", {"problem_idx"}),
    "amc23": ({"id": 0, "question": "?", "answer": "27", "url": "u"}, "27", {"url"}),
    "metamathqa": (
        {
            "type": "GSM_AnsAug",
            "query": "5+5?",
            "original_question": "4+5?",
            "response": "5 + 5 = 10. The answer is 9, no.\nThe answer is: 10",
        },
        "10",
        {"type", "original_question"},
    ),
    "numinamath": (
        {"problem": "?", "solution": "First \\boxed{2}, so \\boxed{\\frac{1}{2}}.", "messages": []},
        "\\frac{1}{2}",
        set(),
    ),
    "numinamath_cot": (
        {"source": "cn_k12", "problem": "?", "solution": "$\\boxed 7$", "messages": []},
        "7",
        {"source"},
    ),
    "openmath2": (
        {
            "problem": "?",
            "generated_solution": "\\boxed{3}",
            "expected_answer": "3",
            "problem_source": "augmented_math",
        },
        "3",
        {"problem_source"},
    ),
    "imo_bench": (
        {
            "Problem ID": "imo-bench-algebra-001",
            "Problem": "?",
            "Short Answer": "3",
            "Category": "Algebra",
            "Subcategory": "Operation",
            "Source": "IMO Shortlist 2021",
        },
        "3",
        {"Category", "Subcategory", "Source"},
    ),
    "hmmt_2025": (
        {"problem_idx": 1, "problem": "?", "answer": "103", "problem_type": ["Number Theory"]},
        "103",
        {"problem_idx", "problem_type"},
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_in_the_data_sets_own_columns_is_read(name):
    row, gold, kept = ROWS[name]
    problem = load(name, data=[row])[0]
    assert problem.answer == gold
    assert set(problem.metadata) == kept


@pytest.mark.parametrize("name", ROWS)
def test_a_plain_row_is_read_in_place_of_the_data_set(name):
    problem = load(name, data=[{"id": "p1", "question": "6*7?", "answer": "42"}])[0]
    assert (problem.id, problem.prompt, problem.answer) == ("p1", "6*7?", "42")


def test_ids_of_the_data_set_are_kept():
    assert load("math500", data=[ROWS["math500"][0]])[0].id == "test/algebra/1.json"
    assert load("imo_bench", data=[ROWS["imo_bench"][0]])[0].id == "imo-bench-algebra-001"


def test_two_solutions_of_one_question_are_one_problem():
    row = ROWS["metamathqa"][0]
    other = {**row, "response": "Ten. The answer is: 10"}
    with pytest.warns(UserWarning, match="1 of 2 problems repeat"):
        assert len(load("metamathqa", data=[row, other])) == 1


def test_rows_without_a_gold_are_left_out_and_counted():
    rows = [
        {"question": "How much?", "answer": "None"},
        {"question": "How many?", "answer": None},
        {"question": "1+1?", "answer": "2"},
    ]
    with pytest.warns(UserWarning, match=r"2 rows without a gold are left out \(.*row 1"):
        assert [p.answer for p in load("gsm_plus", data=rows)] == ["2"]
    proofs = [
        {"problem": "Show it.", "solution": "QED"},
        {"problem": "?", "solution": "\\boxed{1}"},
    ]
    with pytest.warns(UserWarning, match="1 rows without a gold are left out"):
        assert len(load("numinamath_cot", data=proofs)) == 1


def test_a_large_set_asks_the_hub_for_a_part_only(monkeypatch):
    asked = []
    monkeypatch.setattr(catalogue, "load_hub", lambda *args, **kwargs: asked.append(args))
    for name in ("metamathqa", "numinamath_cot", "openmath2"):
        load(name)
    assert [split for *_, split in asked] == [
        "train[:100000]",
        "train[:100000]",
        "train_1M[:100000]",
    ]


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
        ({"name_or_entry": 3}, "called 3; valid: aime_2024, "),
        ({"name_or_entry": "gsm8k", "split": None}, "no split None; valid: test, train"),
        ({"name_or_entry": "zzz"}, "valid: .*arc_challenge, arc_easy, .*gsm8k, .*jsonl"),
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
        ("math500", "math500.jsonl", 500),
        ("numinamath", "math500.jsonl", 500),  # its golds are read from the solutions
        ("aime_2024", "aime24.jsonl", 30),
        ("amc23", "amc23.jsonl", 40),
        ("openbookqa", "openbookqa.jsonl", 500),
        ("jsonl", "sat_math.jsonl", 28),
    ],
)
def test_the_shared_files_are_read_in_full(name, file, rows):
    problems = load(name, data=SHARED / file)
    assert len(problems) == rows
    for problem in problems:
        if options := problem.metadata.get("options"):
            assert options["ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(problem.answer)]


@needs_shared
@pytest.mark.parametrize(
    ("name", "file", "rows", "unusable"),
    [
        ("arc_challenge", "arc_challenge.jsonl", 1172, 5),
        ("arc_easy", "arc_easy.jsonl", 600, 3),
        ("mmlu_stem", "mmlu_stem.jsonl", 1080, 7),
        ("bbh", "bbh_mcq.jsonl", 640, 1),
    ],
)
def test_the_shared_choice_files_are_read_but_for_unusable_questions(name, file, rows, unusable):
    with pytest.warns(UserWarning, match=rf"{unusable} questions .* left out \(.* of problem"):
        problems = load(name, data=SHARED / file)
    assert len(problems) == rows - unusable


@needs_shared
def test_a_file_of_ones_own_with_an_unusable_question_is_refused():
    path = SHARED / "aqua_rat.jsonl"
    with pytest.raises(DataError, match=r"of problem aqua.*same text.*'unusable': 'leave_out'"):
        load("jsonl", data=path)
    with pytest.warns(UserWarning, match="7 questions"):
        assert len(load("jsonl", data=path, columns={"unusable": "leave_out"})) == 247


@needs_shared
def test_the_shared_gsm8k_splits_have_no_question_in_common():
    train = load("gsm8k", data=SHARED / "gsm8k_train.jsonl")
    assert overlap(train, load("gsm8k", data=SHARED / "gsm8k_test.jsonl")) == set()


@needs_shared
def test_the_golds_of_math_read_from_solutions_are_its_own():
    """MATH's answers are the last boxes of its solutions."""
    own = load("math500", data=SHARED / "math500.jsonl")
    read = load("numinamath", data=SHARED / "math500.jsonl")
    assert [p.answer for p in own] == [p.answer for p in read]
