"""Tables of replies with the letter that a careful reader takes from them."""

import pytest

from reasonenv.checkers import extract_choice
from reasonenv.checkers.choice.explain import ANCHORS


def read(case):
    found = extract_choice(
        case["completion"],
        case["options"],
        labels=case.get("labels"),
        multiple=case.get("multiple", False),
    )
    return found if found.letters else None


def wrong(cases, label="expected"):
    """Return (id, labelled, read) of every case that is not read as labelled."""
    found = []
    for case in cases:
        expected = case[label]
        letters = tuple([expected] if isinstance(expected, str) else expected or ())
        read_as = read(case)
        if (read_as.letters if read_as else ()) != letters:
            found.append((case.get("id", case["completion"]), letters, read_as))
    return found


TABLES = [
    "dev",
    "simple",
    "own",
    "small_models",
    "second_list",
    "third_list",
    "fourth_list",
    "fifth_list",
    "sixth_list",
    "seventh_list",
    "eighth_list",
    "ninth_list",
    "tenth_list",
]


@pytest.mark.parametrize("table", TABLES)
def test_every_reply_is_read_as_labelled(cases, table):
    assert not wrong(cases(f"choice/{table}.jsonl"))


def test_every_place_that_a_verdict_names_can_be_told_in_words(cases):
    for table in TABLES:
        for case in cases(f"choice/{table}.jsonl"):
            found = extract_choice(case["completion"], case["options"], labels=case.get("labels"))
            assert found.detail.get("anchor") in ANCHORS


def test_what_models_really_wrote_is_read_as_labelled(shared_cases):
    assert not wrong(shared_cases("choice/real_dev.jsonl"), "label")


def test_the_copied_table_is_the_shared_one(cases, shared_cases):
    assert cases("choice/dev.jsonl") == shared_cases("choice/dev.jsonl")


def test_the_own_tables_hold_enough_kinds_and_languages(cases):
    own = cases("choice/own.jsonl")
    categories = {case["category"] for case in own}
    assert len(own) >= 200
    assert sum(category.startswith("language_") for category in categories) >= 15
    assert len(cases("choice/small_models.jsonl")) >= 100
