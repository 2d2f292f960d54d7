"""`UnscoredGuard`: halts a run whose checkers fail, instead of training on what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reasonenv.errors import TooManyUnscoredError
from reasonenv.trainers.signals import UNVALUED, why_unscored

__all__ = ["UnscoredGuard"]


@dataclass
class UnscoredGuard:
    """Counts generations in a row whose share of unscored rollouts is above a limit.

    It sees the rollouts gathered from all ranks, so every rank comes to the same decision.

    Args:
        limit: share of a generation's rollouts, 0 to 1, that may be unscored.
        patience: generations in a row above the limit before the run halts.
        streak: how many there were last; part of a checkpoint.
    """

    limit: float = 0.5
    patience: int = 3
    streak: int = 0

    def see(self, rows: Sequence[Mapping[str, Any]], step: int) -> None:
        """Take one generation's gathered rows into account.

        Raises:
            TooManyUnscoredError: the limit was exceeded `patience` times in a row.
        """
        reasons = [why_unscored(row) for row in rows]
        failed = Counter(reason for reason in reasons if reason is not None)
        share = failed.total() / max(len(rows), 1)
        self.streak = self.streak + 1 if share > self.limit else 0
        if self.streak >= self.patience:
            which = ", ".join(f"{count} x {status}" for status, count in failed.most_common())
            commonest = failed.most_common(1)[0][0]
            example = rows[reasons.index(commonest)]
            what = "the reward's judge" if commonest == UNVALUED else "the checker or the sandbox"
            raise TooManyUnscoredError(
                f"step {step}: for {self.streak} generations in a row more than {self.limit:.0%} "
                f"of the rollouts could not be judged (last: {share:.0%}; {which}), so the run "
                f"halts. An example, problem {example['problem_id']}: {example['detail']}. Mend "
                f"{what} and go on with --resume, or raise unscored.limit"
            )
