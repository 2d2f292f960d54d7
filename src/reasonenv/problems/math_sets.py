"""The problem sets of mathematics in the catalogue.

Ids, splits, columns and licences were read in the data sets' own cards or in public code that loads
them; what could not be confirmed is named in `unverified`. A licence of the collection does not
cover contest problems whose owner grants none (AIME, AMC, HMMT, IMO): evaluate on them, ship none.

Each takes `data=FILE.jsonl` instead of the hub: rows with the columns of the data set itself, or
the plain form `{"question": ..., "answer": ...}`.
"""

from __future__ import annotations

from reasonenv.problems.columns import Columns
from reasonenv.problems.entries import CatalogueEntry

__all__ = ["MATH_SETS"]

_QUESTION = ("problem", "question", "prompt")
_EXACT = "exact final answer, in LaTeX,"
_INTEGER = "final integer"
# MATH's golds and their descendants drop a percent sign where the question says "what percent".
_MATH_STYLE = {"percent": "lenient"}
_BIG = 100_000  # rows of a large data set that its "train" is: each takes about 2 kB in memory

MATH_SETS: tuple[CatalogueEntry, ...] = (
    CatalogueEntry(
        name="gsm8k",
        title="GSM8K",
        kind="math",
        description="Grade-school word problems that take two to eight steps; integer answers.",
        dataset="openai/gsm8k",
        config="main",
        licence="MIT",
        source="Cobbe et al., Training Verifiers to Solve Math Word Problems, 2021",
    ),
    CatalogueEntry(
        name="gsm_plus",
        title="GSM-Plus",
        kind="math",
        description="GSM8K's test questions in eight variations; those without an answer left out.",
        dataset="qintongli/GSM-Plus",
        splits={"test": "test", "testmini": "testmini"},
        columns=Columns(
            prompt=("question", "prompt"),
            no_gold=("", "None"),  # "critical thinking": the question lacks what it would need
            leave_out=("seed_solution",),
        ),
        licence="CC BY-SA 4.0",
        source="Li et al., GSM-Plus, 2024",
        answer_is="final number",
        overlaps={"gsm8k": "variations of its test questions: no evidence beside GSM8K's own test"},
    ),
    CatalogueEntry(
        name="math500",
        title="MATH-500",
        kind="math",
        description="500 problems of the MATH test set: school contests, answers in LaTeX.",
        dataset="HuggingFaceH4/MATH-500",
        splits={"test": "test"},
        columns=Columns(prompt=_QUESTION, id=("unique_id", "id")),
        licence="none on its card (MATH, PRM800K: MIT)",
        source="Hendrycks et al., MATH, 2021; Lightman et al., Let's Verify Step by Step, 2023",
        answer_is=_EXACT,
        judge=_MATH_STYLE,
        overlaps={"openmath2": "made from MATH's training problems, which these are not among"},
    ),
    CatalogueEntry(
        name="aime_2024",
        title="AIME 2024",
        kind="math",
        description="The 30 problems of AIME I and II 2024; answers from 0 to 999.",
        dataset="HuggingFaceH4/aime_2024",
        splits={"test": "train"},
        columns=Columns(prompt=_QUESTION),
        licence="none on its card (problems: MAA)",
        source="MAA, American Invitational Mathematics Examination, 2024",
        answer_is=_INTEGER,
        overlaps={"numinamath_cot": "holds AMC and AIME problems: check for these before training"},
    ),
    CatalogueEntry(
        name="aime_2026",
        title="AIME 2026",
        kind="math",
        description="The 30 problems of AIME I and II 2026; answers from 0 to 999.",
        dataset="MathArena/aime_2026",
        splits={"test": "train"},
        columns=Columns(prompt=_QUESTION, id=("id",)),
        licence="CC BY-NC-SA 4.0 (problems: MAA)",
        source="Balunović et al., MathArena, 2025; MAA, 2026",
        answer_is=_INTEGER,
    ),
    CatalogueEntry(
        name="amc23",
        title="AMC 2023",
        kind="math",
        description="40 problems of AMC 12 2023 with numeric answers.",
        dataset="math-ai/amc23",
        splits={"test": "test"},
        columns=Columns(prompt=("question", "problem", "prompt")),
        licence="none found (problems: MAA)",
        source="MAA, American Mathematics Competitions, 2023",
        answer_is="final number",
        overlaps={"numinamath_cot": "holds AMC and AIME problems: check for these before training"},
        unverified="licence",
    ),
    CatalogueEntry(
        name="metamathqa",
        title="MetaMathQA",
        kind="math",
        description="Questions rewritten by a model from GSM8K's and MATH's training sets.",
        dataset="meta-math/MetaMathQA",
        splits={"train": f"train[:{_BIG}]", "train_all": "train"},
        columns=Columns(
            prompt=("query", *_QUESTION),
            answer=("response", "answer"),
            gold="stated",
            no_gold="",
            leave_out="response",  # else one question with two solutions would be two problems
        ),
        licence="MIT",
        source="Yu et al., MetaMath, 2023",
        answer_is=_EXACT,
        judge=_MATH_STYLE,
        overlaps={
            "gsm8k": "made from its training questions: as a test set it favours who trained there",
            "math500": "made from MATH's training problems, which those are not among",
        },
    ),
    CatalogueEntry(
        name="numinamath",
        title="NuminaMath-TIR",
        kind="math",
        description="Contest problems with solutions that use a tool; 99 of them for testing.",
        dataset="AI-MO/NuminaMath-TIR",
        columns=Columns(
            prompt=_QUESTION,
            answer=("solution", "answer"),
            gold="boxed",
            no_gold="",
            leave_out=("messages", "solution"),
        ),
        licence="Apache-2.0",
        source="Li et al., NuminaMath, 2024",
        answer_is=_EXACT,
        judge=_MATH_STYLE,
        overlaps={"numinamath_cot": "a selection of its problems with numeric answers"},
    ),
    CatalogueEntry(
        name="numinamath_cot",
        title="NuminaMath-CoT",
        kind="math",
        description="860,000 problems from school exercises to olympiads; proofs left out.",
        dataset="AI-MO/NuminaMath-CoT",
        splits={"train": f"train[:{_BIG}]", "train_all": "train", "test": "test"},
        columns=Columns(
            prompt=_QUESTION,
            answer=("solution", "answer"),
            gold="boxed",
            no_gold="",
            leave_out=("messages", "solution"),
        ),
        licence="Apache-2.0",
        source="Li et al., NuminaMath, 2024",
        answer_is=_EXACT,
        judge=_MATH_STYLE,
        overlaps={
            "gsm8k": "holds its training problems",
            "math500": "holds MATH problems: check for those before training",
            "aime_2024": "holds AMC and AIME problems: check for those before training",
            "amc23": "holds AMC and AIME problems: check for those before training",
        },
    ),
    CatalogueEntry(
        name="openmath2",
        title="OpenMathInstruct-2",
        kind="math",
        description="Problems written by Llama-3.1-405B from MATH's and GSM8K's training sets.",
        dataset="nvidia/OpenMathInstruct-2",
        splits={"train": f"train_1M[:{_BIG}]", "train_1M": "train_1M", "train_2M": "train_2M"},
        columns=Columns(
            prompt=_QUESTION,
            answer=("expected_answer", "answer"),
            leave_out="generated_solution",  # else one problem with two solutions would be two
        ),
        licence="CC BY 4.0",
        source="Toshniwal et al., OpenMathInstruct-2, 2024",
        answer_is=_EXACT,
        judge=_MATH_STYLE,
        overlaps={
            "gsm8k": "made from, and holding, its training questions; golds by majority vote",
            "math500": "made from MATH's training problems, which those are not among",
        },
    ),
    CatalogueEntry(
        name="imo_bench",
        title="IMO-AnswerBench",
        kind="math",
        description="400 olympiad problems with short answers, some of them in words.",
        dataset="Hwilner/imo-answerbench",  # a copy of imobench/answerbench.csv of the authors
        splits={"test": "train"},
        columns=Columns(
            prompt=("Problem", *_QUESTION),
            answer=("Short Answer", "answer"),
            id=("Problem ID", "id"),
        ),
        licence="CC BY 4.0",
        source="Luong et al., Towards Robust Mathematical Reasoning, 2025; "
        "github.com/google-deepmind/superhuman",
        answer_is=_EXACT,
    ),
    CatalogueEntry(
        name="hmmt_2025",
        title="HMMT February 2025",
        kind="math",
        description="The 30 problems of the Harvard-MIT tournament of February 2025.",
        dataset="MathArena/hmmt_feb_2025",
        splits={"test": "train"},
        columns=Columns(prompt=_QUESTION),
        licence="CC BY-NC-SA 4.0 (problems: HMMT)",
        source="Balunović et al., MathArena, 2025; HMMT, 2025",
        answer_is=_EXACT,
    ),
)
"""The entries, in the order of `reasonenv.problems.CATALOGUE`."""
