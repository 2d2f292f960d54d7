"""A format reward that fades out: is the format kept once it is no longer paid for?

python examples/rewards/format_annealing.py
"""

from arms import Experiment

FORMAT = "Format('reasoning', 'answer')"

STEPS = 30
FADING = f"Scheduled(0.5 * {FORMAT}, Linear(1.0, 0.0, steps={STEPS // 2}))"

if __name__ == "__main__":
    Experiment(
        name="format_annealing",
        title="A format reward that stays, fades out, or was never there",
        arms={
            "stays": f"Correct() + 0.5 * {FORMAT}",
            "fades out": f"Correct() + {FADING}",
            "never there": f"Correct() + 0.0 * {FORMAT}",
        },
        watch={
            "eval_accuracy": "held-out accuracy",
            "eval_terms/format": "share in the format",
        },
        steps=STEPS,
    ).main()
