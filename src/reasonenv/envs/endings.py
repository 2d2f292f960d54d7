"""When an episode ends, for environments and for whoever runs many episodes at once."""

from __future__ import annotations

from reasonenv.types import Judged, Status

__all__ = ["ending"]


def ending(judged: Judged, max_turns: int) -> tuple[bool, bool]:
    """Return whether an episode ends with this completion: (terminated, truncated).

    Args:
        judged: a completion, with the turns before it.
        max_turns: completions in one episode.
    """
    rollout, verdict = judged.rollout, judged.verdict
    last_turn = len(rollout.turns) + 1 >= max_turns
    # With one turn only, no answer is an answer: Gymnasium's checker refuses to see
    # environments that truncate after their first step.
    answered = max_turns == 1 or verdict.status is not Status.NO_ANSWER
    final = verdict.status is Status.CORRECT or (last_turn and answered)
    terminated = final and not rollout.truncated
    # An unscored turn ends the episode: whatever feedback said would be made up.
    unscored = not verdict.status.is_evidence
    truncated = not terminated and (last_turn or rollout.truncated or unscored)
    return terminated, truncated
