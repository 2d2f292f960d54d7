"""A strong preference for brevity, added to the task or used to break its ties.

Added with weight 4, brevity outbids the task (with 2 it did not): the policy ends in completions of
a few tokens that are never right. In `lexicographic(task, tie_breaker)` no weight can do that:
brevity orders the right answers among themselves, and the wrong ones.

    python examples/rewards/tie_breaker.py
"""

from arms import Experiment

LENGTH = "Overlong(72, cache=72)"  # tokens / 72

if __name__ == "__main__":
    Experiment(
        name="tie_breaker",
        title="Brevity as an addend and as a tie-breaker",
        arms={
            "additive, weight 4": f"Correct() - 4.0 * {LENGTH}",
            "lexicographic": f"lexicographic(Correct(), -1.0 * {LENGTH})",
        },
        watch={
            "eval_accuracy": "held-out accuracy",
            "eval_completions/mean_length": "tokens of a completion",
        },
    ).main()
