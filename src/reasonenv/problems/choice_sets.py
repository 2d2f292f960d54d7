"""The multiple-choice sets of the catalogue.

Ids, configurations, splits, columns and licences were read in the data sets' own cards or in public
code that loads them; what could not be confirmed is named in `unverified`.

Each takes `data=FILE.jsonl` instead of the hub: rows with the columns of the data set itself
(`choice_rows.py`), or the plain form `{"question": ..., "options": [...], "answer": "B"}`.
Questions whose options or gold cannot be used (two options with one text, say) are left out with a
warning that counts them.
"""

from __future__ import annotations

from typing import Any

from reasonenv.problems.choice_quiz import Quiz
from reasonenv.problems.columns import Columns
from reasonenv.problems.entries import CatalogueEntry

__all__ = ["BBH_SUBSETS", "CHOICE_SETS", "MMLU_STEM"]

MMLU_STEM = (
    "abstract_algebra",
    "astronomy",
    "college_biology",
    "college_chemistry",
    "college_computer_science",
    "college_mathematics",
    "college_physics",
    "computer_security",
    "conceptual_physics",
    "electrical_engineering",
    "elementary_mathematics",
    "high_school_biology",
    "high_school_chemistry",
    "high_school_computer_science",
    "high_school_mathematics",
    "high_school_physics",
    "high_school_statistics",
    "machine_learning",
)
"""The 18 subjects that MMLU's authors group as STEM; some harnesses add anatomy as a 19th."""

BBH_SUBSETS = (
    "date_understanding",
    "logical_deduction_five_objects",
    "reasoning_about_colored_objects",
    "tracking_shuffled_objects_five_objects",
)
"""Four tasks of BIG-Bench Hard with lettered options; `options={"config": [...]}` takes others."""

_ALL = {"train": "train", "validation": "validation", "test": "test"}
_GATED = (
    "The data set is gated: sign in at huggingface.co, accept the conditions on its page "
    "(https://huggingface.co/datasets/Idavidrein/gpqa), then `hf auth login`. Its authors ask that "
    "no question be shown in plain text where it could be trained on: keep no copy in a "
    "repository, and train on none."
)


def _columns(**names: Any) -> Columns:
    return Columns(unusable="leave_out", **names)


CHOICE_SETS: tuple[CatalogueEntry, ...] = (
    CatalogueEntry(
        name="arc_challenge",
        title="ARC-Challenge",
        kind="choice",
        description="Grade-school science questions with three to five options, closed book.",
        dataset="allenai/ai2_arc",
        config="ARC-Challenge",
        splits=_ALL,
        columns=_columns(),
        licence="CC BY-SA 4.0",
        source="Clark et al., Think you have Solved Question Answering? Try ARC, 2018",
        overlaps={"arc_easy": "the other half of the same exams, by difficulty"},
    ),
    CatalogueEntry(
        name="arc_easy",
        title="ARC-Easy",
        kind="choice",
        description="The grade-school science questions that simple look-up answers.",
        dataset="allenai/ai2_arc",
        config="ARC-Easy",
        splits=_ALL,
        columns=_columns(),
        licence="CC BY-SA 4.0",
        source="Clark et al., Think you have Solved Question Answering? Try ARC, 2018",
        overlaps={"arc_challenge": "the other half of the same exams, by difficulty"},
    ),
    CatalogueEntry(
        name="mmlu_stem",
        title="MMLU-STEM",
        kind="choice",
        description="The 18 STEM subjects of MMLU, four options each, for evaluation.",
        dataset="cais/mmlu",
        config=MMLU_STEM,
        splits={"test": "test", "validation": "validation", "dev": "dev"},
        columns=_columns(counts_from=0),
        licence="MIT",
        source="Hendrycks et al., Measuring Massive Multitask Language Understanding, 2021",
    ),
    CatalogueEntry(
        name="bbh",
        title="BIG-Bench Hard (four tasks)",
        kind="choice",
        description="Four tasks of BIG-Bench Hard with lettered options, for evaluation.",
        # The older copies (lukaemon/bbh ...) are loading scripts, which `datasets` 4 refuses.
        dataset="SaylorTwift/bbh",
        config=BBH_SUBSETS,
        splits={"test": "test"},
        columns=_columns(),
        licence="MIT",
        source="Suzgun et al., Challenging BIG-Bench Tasks, 2022",
        unverified="config (which four tasks the study took)",
    ),
    CatalogueEntry(
        name="logiqa",
        title="LogiQA",
        kind="choice",
        description="Logic questions of a civil servants' exam, a passage and four options each.",
        # The data set itself is a loading script; the hub keeps its rows as Parquet beside it.
        dataset="lucasmccabe/logiqa",
        revision="refs/convert/parquet",
        splits=_ALL,
        columns=_columns(),
        licence="none found",
        source="Liu et al., LogiQA, 2020",
        unverified="licence",
    ),
    CatalogueEntry(
        name="gpqa_main",
        title="GPQA (main)",
        kind="choice",
        description="448 graduate-level science questions, for evaluation; gated.",
        dataset="Idavidrein/gpqa",
        config="gpqa_main",
        splits={"test": "train"},
        columns=_columns(),
        licence="CC BY 4.0",
        source="Rein et al., GPQA: A Graduate-Level Google-Proof Q&A Benchmark, 2023",
        overlaps={"gpqa_diamond": "holds all of its questions"},
        access=_GATED,
    ),
    CatalogueEntry(
        name="gpqa_diamond",
        title="GPQA Diamond",
        kind="choice",
        description="The 198 questions of GPQA that experts agree on, for evaluation; gated.",
        dataset="Idavidrein/gpqa",
        config="gpqa_diamond",
        splits={"test": "train"},
        columns=_columns(),
        licence="CC BY 4.0",
        source="Rein et al., GPQA: A Graduate-Level Google-Proof Q&A Benchmark, 2023",
        overlaps={"gpqa_main": "198 of its 448 questions"},
        access=_GATED,
    ),
    CatalogueEntry(
        name="openbookqa",
        title="OpenBookQA",
        kind="choice",
        description="Elementary science questions with four options, asked without the book.",
        dataset="allenai/openbookqa",
        config="main",
        splits=_ALL,
        columns=_columns(prompt=("question_stem", "question", "prompt")),
        licence="unknown on its card",
        source="Mihaylov et al., Can a Suit of Armor Conduct Electricity?, 2018",
        unverified="licence",
    ),
    CatalogueEntry(
        name="sciq",
        title="SciQ",
        kind="choice",
        description="Crowdsourced science exam questions, three distractors each, closed book.",
        dataset="allenai/sciq",
        splits=_ALL,
        columns=_columns(leave_out=("support",)),
        licence="CC BY-NC 3.0",
        source="Welbl et al., Crowdsourcing Multiple Choice Science Questions, 2017",
    ),
    CatalogueEntry(
        name="mmlu_pro",
        title="MMLU-Pro",
        kind="choice",
        description="Harder MMLU questions with up to ten options, for evaluation.",
        dataset="TIGER-Lab/MMLU-Pro",
        splits={"test": "test", "validation": "validation"},
        columns=_columns(id=("question_id", "id"), leave_out=("answer_index", "cot_content")),
        licence="MIT",
        source="Wang et al., MMLU-Pro, 2024",
        overlaps={"mmlu_stem": "many of its questions are MMLU's with more options"},
    ),
    CatalogueEntry(
        name="quiz",
        title="Quiz",
        kind="choice",
        description="Sums, orders, odd ones out and letters in words, with options, on demand.",
        generator=Quiz,
    ),
)
