"""A length penalty that is not gated teaches a policy to fail fast; gated by success it does not.

Half of the training problems are beyond the model. In their groups nobody is right, so that under
group scaling the length penalty is the whole advantage, however small its weight: the policy learns
that short is good, stops reasoning, and so loses the problems that it could solve. Inside
`gate(..., when=solved)` such groups teach nothing.

    python examples/rewards/fail_fast.py
"""

from arms import Experiment

LENGTH = "Overlong(72, cache=72)"  # tokens / 72

if __name__ == "__main__":
    Experiment(
        name="fail_fast",
        title="A length penalty of 0.2, half of the problems unsolvable",
        arms={
            "ungated": f"Correct() - 0.2 * {LENGTH}",
            "gated by success": f"Correct() - gate(0.2 * {LENGTH}, when=solved)",
        },
        watch={
            "eval_accuracy": "held-out accuracy",
            "eval_completions/mean_length": "tokens of a completion",
        },
        hard=0.5,
        steps=45,
    ).main()
