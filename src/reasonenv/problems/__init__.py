"""Where problems come from: JSONL files, Hugging Face data sets, procedural generators.

* `load`: problems by name: "gsm8k", "math500", "arc_challenge", "arithmetic" ..., or "jsonl" for a
  file of one's own; `CATALOGUE` says what is known about each (`catalogue.py`, `math_sets.py`).
* `Problems`: what a source is; `ProblemList` and `ProceduralProblems` are the two ways to hold one
  (`base.py`), `Arithmetic` and `Countdown` the generators (`procedural.py`), and `Quiz` that of
  multiple choice (`choice_quiz.py`).
* `Rendering`: how draws of a multiple-choice question ask it (`choice_rendering.py`); `choices.py`
  says which questions can be asked.
* `load_jsonl`, `load_hub`, `from_data`: a file, a data set on the hub, what is in memory already.
* `Columns`, `to_problem`, `to_row`: from a row to a problem and back (`columns.py`); golds that
  stand at the end of a worked solution are read in `golds.py`.
* `mix`: several sets in given shares (`mixture.py`).
* `hold_out`, `sample`, `overlap`: parting a source, drawing from it, comparing two (`split.py`).

Nothing here imports `datasets` before a data set is asked for from the hub.
"""

from reasonenv.problems.base import (
    Generate,
    ProblemList,
    Problems,
    ProceduralProblems,
    as_problems,
    drop_repeats,
    first_distinct,
    iterate,
    split_of,
)
from reasonenv.problems.catalogue import CATALOGUE, entry_of, load
from reasonenv.problems.choice_quiz import Quiz
from reasonenv.problems.choice_rendering import Rendering
from reasonenv.problems.columns import KINDS, Columns, to_problem, to_row
from reasonenv.problems.entries import CatalogueEntry
from reasonenv.problems.hub import load_hub
from reasonenv.problems.jsonl import load_jsonl
from reasonenv.problems.mixture import mix, parts_of
from reasonenv.problems.one_liners import OneLiners
from reasonenv.problems.procedural import Arithmetic, Countdown
from reasonenv.problems.rows import from_data, from_rows
from reasonenv.problems.split import hold_out, overlap, sample

__all__ = [
    "CATALOGUE",
    "KINDS",
    "Arithmetic",
    "CatalogueEntry",
    "Columns",
    "Countdown",
    "Generate",
    "OneLiners",
    "ProblemList",
    "Problems",
    "ProceduralProblems",
    "Quiz",
    "Rendering",
    "as_problems",
    "drop_repeats",
    "entry_of",
    "first_distinct",
    "from_data",
    "from_rows",
    "hold_out",
    "iterate",
    "load",
    "load_hub",
    "load_jsonl",
    "mix",
    "overlap",
    "parts_of",
    "sample",
    "split_of",
    "to_problem",
    "to_row",
]
