"""The one sentence that a study comes to, with its interval, whichever way it goes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reasonenv.studies.comparison import Compared, Trend

__all__ = ["finding", "said_interval", "said_value"]

_LEVEL = 0.05
_ZERO = 1e-12  # below which a figure is the rounding of a fit


def finding(measure: str, compared: Sequence[Compared], trends: Sequence[Trend]) -> str:
    """Return the sentence.

    With a numeric factor it is its trend, at equal steps and at equal rollouts; else the arm that
    is furthest from its baseline at equal rollouts, judged after Holm's correction over all arms.
    """
    known = [trend for trend in trends if trend.slope.seeds]
    if known:
        return _of_trends(measure, known)
    usable = [one for one in compared if one.difference.seeds and one.axis == "rollouts"]
    if not usable:
        return f"Nothing can be said about {measure}: no arm and its baseline both have a run."
    chosen = max(usable, key=lambda one: abs(one.difference.mean))
    steps = next((x for x in compared if x.axis == "steps" and x.arm == chosen.arm), None)
    return _of_pair(measure, chosen, len(usable)) + _at_equal_steps(chosen, steps)


def _of_trends(measure: str, trends: Sequence[Trend]) -> str:
    factor = trends[0].factor.rpartition(".")[2].removeprefix("$")
    parts, shown = [], []
    for trend in trends:
        low_high = trend.slope.interval
        parts.append(
            f"{said_value(trend.slope.mean, signed=True)} {said_interval(low_high)} at equal "
            f"{trend.axis} ({trend.budget:,.0f})"
        )
        shown.append(None if low_high is None else low_high[0] > 0 or low_high[1] < 0)
    seeds = min(trend.slope.seeds for trend in trends)
    levels = ", ".join(f"{level:g}" for level in trends[0].levels)
    same = len(parts) == 2 and len({(t.slope.mean, t.slope.interval) for t in trends}) == 1
    if same:
        first = trends[0]
        parts = [
            f"{said_value(first.slope.mean, signed=True)} {said_interval(first.slope.interval)} at "
            f"equal steps ({first.budget:,.0f}), which are equal rollouts here"
        ]
    if None in shown:
        verdict = "too few seeds say whether that is more than chance"
    elif all(shown):
        verdict = "the interval leaves 0 out"
    elif not any(shown):
        verdict = "no effect is shown: the interval holds 0"
    else:
        one = trends[shown.index(True)].axis
        verdict = f"the interval leaves 0 out at equal {one} alone"
    return (
        f"Each doubling of {factor} ({levels}) changes {measure} by {' and by '.join(parts)}, over "
        f"{_seeds(seeds)}; {verdict}."
    )


def _of_pair(measure: str, one: Compared, arms: int) -> str:
    low_high = one.difference.interval
    start = (
        f"{one.arm} reaches {measure} {said_value(one.arm_mean)} against "
        f"{said_value(one.baseline_mean)} of {one.baseline} at equal rollouts "
        f"({one.budget:,.0f}): {said_value(one.difference.mean, signed=True)} "
        f"{said_interval(low_high)} over {_seeds(one.difference.seeds)}"
    )
    if low_high is None:
        return f"{start}; too few seeds say whether that is more than chance."
    if one.corrected is None:
        return f"{start}; all seeds differ by the same number, so there is nothing to test."
    over = f" after Holm's correction over {arms} arms" if arms > 1 else ""
    furthest = " It is the arm furthest from its baseline." if arms > 1 else ""
    if one.corrected < _LEVEL:
        return f"{start}; p = {one.corrected:.2g}{over}.{furthest}"
    return f"{start}; no difference is shown (p = {one.corrected:.2g}{over}).{furthest}"


def _at_equal_steps(chosen: Compared, steps: Compared | None) -> str:
    """Return what the same pair shows at equal steps, where that is not the same comparison."""
    if steps is None or steps.difference == chosen.difference:
        return ""
    return (
        f" At equal steps ({steps.budget:,.0f}) the difference is "
        f"{said_value(steps.difference.mean, signed=True)} "
        f"{said_interval(steps.difference.interval)}."
    )


def said_value(value: float, *, signed: bool = False) -> str:
    """Return a figure with three digits; NaN as "not measured"."""
    if not math.isfinite(value):
        return "not measured"
    if abs(value) < _ZERO:
        value = 0.0
    return f"{value:+.3g}" if signed else f"{value:.3g}"


def said_interval(low_high: tuple[float, float] | None) -> str:
    """Return an interval in brackets, or why there is none.

    >>> said_interval((0.1, 0.25)), said_interval(None)
    ('[0.1 to 0.25]', '(too few seeds for an interval)')
    """
    if low_high is None:
        return "(too few seeds for an interval)"
    return f"[{low_high[0]:.3g} to {low_high[1]:.3g}]"


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count != 1)}"
