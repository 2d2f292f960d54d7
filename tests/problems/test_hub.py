"""Data sets: from the cache, from memory, and what happens where no hub answers."""

import subprocess
import sys
import time

import pytest

from reasonenv.errors import DataError, HubUnavailableError, MissingExtraError
from reasonenv.problems import Columns, from_data, from_rows, hub, load_hub
from reasonenv.types import Problem

datasets = pytest.importorskip("datasets")
huggingface_hub = pytest.importorskip("huggingface_hub")

ROWS = [{"question": f"{i}+1?", "answer": f"so\n#### {i + 1}"} for i in range(5)]


@pytest.fixture
def no_hub(monkeypatch, tmp_path):
    """An endpoint that refuses connections, and an empty cache."""
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    return tmp_path


def fill_cache(root, rows):
    """Put a prepared data set where `datasets` looks for it."""
    from datasets.arrow_writer import ArrowWriter

    folder = root / "acme___sums" / "main" / "0.0.0" / "abc"
    folder.mkdir(parents=True)
    with ArrowWriter(path=str(folder / "sums-train.arrow")) as writer:
        for row in rows:
            writer.write(row)
        count, size = writer.finalize()
    split = {"name": "train", "num_bytes": size, "num_examples": count, "dataset_name": "sums"}
    info = datasets.DatasetInfo(
        features=datasets.Dataset.from_list(rows).features,
        config_name="main",
        dataset_name="sums",
        version="0.0.0",
        splits={"train": split},
    )
    info.write_to_directory(str(folder))


def test_without_a_hub_the_error_comes_soon_and_says_which_file_to_give(no_hub):
    start = time.monotonic()
    with pytest.raises(HubUnavailableError) as caught:
        load_hub("openai/gsm8k", "main", "train", kind="math", name="gsm8k")
    assert time.monotonic() - start < 4
    message = str(caught.value)
    assert message.startswith("gsm8k: the data set openai/gsm8k (config main, split train)")
    for part in ("127.0.0.1:9", "data=FILE.jsonl", '"question"', "#### 42", str(no_hub), "HF_HOME"):
        assert part in message
    assert huggingface_hub.constants.HF_HUB_OFFLINE is False


def test_when_told_to_be_offline_the_error_says_so(no_hub, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnavailableError, match=r"HF_HUB_OFFLINE is set.*must be unset"):
        load_hub("openai/gsm8k", "main")


def test_a_hub_that_hangs_is_not_waited_for(no_hub, monkeypatch):
    monkeypatch.setattr("reasonenv.hub.PROBE_SECONDS", 0.2)
    monkeypatch.setattr(huggingface_hub, "get_session", lambda: time.sleep(3))
    start = time.monotonic()
    with pytest.raises(HubUnavailableError, match=r"did not answer within 0\.2 s"):
        load_hub("openai/gsm8k", "main")
    assert time.monotonic() - start < 2


def test_a_cached_data_set_needs_no_hub(no_hub):
    fill_cache(no_hub, ROWS)
    problems = load_hub("acme/sums", "main", "train", kind="math")
    assert [p.answer for p in problems] == ["1", "2", "3", "4", "5"]
    with pytest.raises(HubUnavailableError, match="other"):
        load_hub("acme/sums", "other", "train")
    with pytest.raises(HubUnavailableError, match="dev"):
        load_hub("acme/sums", "main", "dev")


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (datasets.exceptions.DatasetNotFoundError("no such"), DataError, "not on the hub.*no such"),
        (ValueError("BuilderConfig 'x' not found"), DataError, "cannot be loaded: BuilderConfig"),
        (ConnectionError("reset"), HubUnavailableError, "cannot come from the hub.*reset"),
    ],
)
def test_what_datasets_raises_becomes_an_error_of_ours(
    no_hub, monkeypatch, error, expected, message
):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(hub, "why_unreachable", lambda: "")
    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(expected, match=message):
        load_hub("acme/sums", "x")


def test_a_row_of_a_data_set_that_is_no_problem_is_named_by_its_number(no_hub):
    fill_cache(no_hub, [*ROWS, {"question": "q", "answer": " "}])
    with pytest.raises(DataError, match=r"acme/sums\[train\]: row 6: field \"answer\""):
        load_hub("acme/sums", "main", "train")


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r'pip install "reasonenv\[data\]"'):
        load_hub("openai/gsm8k")


def test_importing_the_package_imports_no_datasets():
    code = (
        "import sys, reasonenv.problems; print(sorted({'datasets', 'pyarrow'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_loaded_data_set_and_plain_rows_give_the_same_problems():
    loaded = datasets.Dataset.from_list(ROWS)
    assert list(from_data(loaded)) == list(from_data(ROWS)) == list(from_data(iter(ROWS)))


def test_a_data_set_of_several_splits_gives_the_one_asked_for():
    splits = datasets.DatasetDict(
        train=datasets.Dataset.from_list(ROWS[:3]), test=datasets.Dataset.from_list(ROWS[3:])
    )
    assert [p.answer for p in from_data(splits, split="test")] == ["4", "5"]
    with pytest.raises(DataError, match=r"no split 'tset'; did you mean `test`"):
        from_data(splits, split="tset")


def test_arc_as_datasets_hands_it_out_becomes_letters():
    row = {
        "id": "x",
        "question": "Star?",
        "choices": {"text": ["Mars", "Sirius"], "label": ["1", "2"]},
        "answerKey": "2",
    }
    problem = from_data(datasets.Dataset.from_list([row]), kind="choice")[0]
    assert (problem.answer, problem.metadata["options"]) == ("B", ("Mars", "Sirius"))


def test_problems_pass_through_and_may_stand_beside_rows():
    problem = Problem("q", "1")
    assert from_rows([problem, {"prompt": "r", "answer": "2"}])[0] is problem


def test_columns_apply_to_rows():
    rows = [{"Q": "1+1", "A": 2}]
    assert from_rows(rows, columns=Columns(prompt="Q", answer="A"))[0].answer == "2"
    assert from_rows(rows, columns={"prompt": "Q", "answer": "A"})[0].prompt == "1+1"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "data is a JSONL file.*got int"),
        ([3], "row 1: each row is a mapping of columns or a Problem, got a int"),
        ([], "no problem in it"),
    ],
)
def test_other_data_is_refused(data, message):
    with pytest.raises(DataError, match=message):
        from_data(data)
