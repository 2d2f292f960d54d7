"""What group size does to the signal: predicted from a problem's p, and measured on rollouts.

* `theory`: the closed forms for binary outcomes.
* `measured`: the same from rollouts, each group predicted from its problem's *other* samples.
"""

from reasonenv.dynamics.groups.measured import GroupSignal, Stratum, measure_groups
from reasonenv.dynamics.groups.theory import (
    advantage_variance,
    expected_deviation,
    mixed_probability,
    reweighting,
)

__all__ = [
    "GroupSignal",
    "Stratum",
    "advantage_variance",
    "expected_deviation",
    "measure_groups",
    "mixed_probability",
    "reweighting",
]
