"""Reading the gold where it stands at the end of a worked solution.

* `GOLD_FORMS`: the ways in which data sets do it, by the name that `Columns.gold` takes.
* `read_gold`: the gold of a solution written in one of them.

This reads golds that data sets wrote, not answers of models: no leniency, the last mark counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from reasonenv.answer_format import last_boxed
from reasonenv.errors import DataError, did_you_mean

__all__ = ["GOLD_FORMS", "boxed_answer", "final_answer", "read_gold", "stated_answer"]

_GSM8K_MARK = "####"
_BARE_BOX = re.compile(r"\\boxed\s+([^\s{}$.,]+)")  # `\boxed 7`, as a few MATH solutions have it
_STATED = re.compile(r"the (?:final )?answer is:?", re.IGNORECASE)


def final_answer(solution: str, where: str = "answer") -> str:
    """Return what stands behind the last `####` of a GSM8K solution, without commas.

    Raises:
        DataError: nothing stands there.
    """
    lines = solution.rpartition(_GSM8K_MARK)[2].strip().splitlines()
    gold = lines[0].replace(",", "").strip() if lines else ""
    if not gold:
        raise DataError(f"{where}: the final answer stands behind the last ####, nothing does here")
    return gold


def boxed_answer(solution: str) -> str:
    r"""Return what the last box of a MATH-style solution holds, "" where there is none.

    >>> boxed_answer(r"So $x = \boxed{\frac{1}{2}}$.")
    '\\frac{1}{2}'
    """
    bare = list(_BARE_BOX.finditer(solution))
    if bare and bare[-1].start() > solution.rfind("\\boxed{"):
        return bare[-1][1]
    return (last_boxed(solution) or "").strip()


def stated_answer(solution: str) -> str:
    """Return what stands behind the last "The answer is" in its line, "" where nothing does.

    >>> stated_answer("5 + 5 = 10. The answer is: 10")
    '10'
    """
    stated = list(_STATED.finditer(solution))
    if not stated:
        return ""
    lines = solution[stated[-1].end() :].strip().splitlines()
    return lines[0].strip() if lines else ""


GOLD_FORMS: Mapping[str, Callable[[str], str] | None] = {
    "auto": None,
    "boxed": boxed_answer,
    "stated": stated_answer,
}
"""How a gold is read from a worked solution; None: `####` where there is one, else all of it."""

_EXPECTED = {"boxed": r"in the last \boxed{}", "stated": 'behind the last "The answer is"'}


def read_gold(solution: str, form: str, where: str = "answer", *, optional: bool = False) -> str:
    """Return the gold that stands in a text.

    Args:
        solution: a worked solution, or a bare gold.
        form: a name in `GOLD_FORMS`.
        where: file, line and field, with which error messages start.
        optional: whether "" is returned where the form finds none.

    Raises:
        DataError: an unknown form, or no gold where one is needed.
    """
    if form not in GOLD_FORMS:
        raise DataError(
            f"{where}: a gold is not read as {form!r}; {did_you_mean(form, GOLD_FORMS)}"
        )
    read = GOLD_FORMS[form]
    if read is None:
        return final_answer(solution, where) if _GSM8K_MARK in solution else solution
    gold = read(solution)
    if not gold and not optional:
        raise DataError(
            f"{where}: the gold stands {_EXPECTED[form]}, and there is none in "
            f"{solution[-80:]!r}; a row without a gold is left out where columns has no_gold=''"
        )
    return gold
