"""The options of the checker, each with the policy's default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from reasonenv.errors import did_you_mean

__all__ = ["DEFAULTS", "MathOptions"]

_PERCENT = ("strict", "lenient")


@dataclass(frozen=True, slots=True)
class MathOptions:
    """How two answers are compared; the defaults are the policy.

    Args:
        tolerance: relative, for problem sets whose golds are rounded; 0 is exact (P3).
        percent: "lenient" ignores a percent sign that only one side has (P4).
        units: whether a unit that only one side states is free (P5).
        must_be_evaluated: whether an answer that restates the sum, as `2^{10}` or `6/8`, is
            refused (P10u).
        renamed_constants: whether an arbitrary constant may have another name (P10).

    Raises:
        ValueError: a value outside its range.
    """

    tolerance: float = 0.0
    percent: str = "strict"
    units: bool = True
    must_be_evaluated: bool = False
    renamed_constants: bool = False

    def __post_init__(self) -> None:
        if self.percent not in _PERCENT:
            raise ValueError(f"percent is 'strict' or 'lenient', got {self.percent!r}")
        if not 0.0 <= self.tolerance < 1.0:
            raise ValueError(f"tolerance is relative, in [0, 1), got {self.tolerance!r}")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> MathOptions:
        """Return options from names and values.

        Raises:
            ValueError: a name that is no option (with the nearest one), or a bad value.
        """
        names = [field.name for field in fields(cls)]
        for name in values:
            if name not in names:
                hint = did_you_mean(name, names, otherwise="options")
                raise ValueError(f"the math checker has no option {name!r}; {hint}")
        return cls(**values)


DEFAULTS = MathOptions()
