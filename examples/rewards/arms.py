"""What the three experiments share: train every arm over the same seeds, and draw the curves.

An experiment is a set of arms (a label and a reward's formula). All else is equal: model, problems,
steps, seeds. What is finished is not trained again, so an experiment that was stopped goes on.
"""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from reasonenv import MathEnv
from reasonenv.answer_format import AnswerFormat
from reasonenv.problems.base import ProceduralProblems
from reasonenv.problems.procedural import Arithmetic
from reasonenv.trainers import GRPOLearner, tiny
from reasonenv.trainers.storage import read_metrics

LAYOUT = AnswerFormat(instruction="")
T_95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36}  # by degrees of freedom
COLOURS = ("#4c78a8", "#e45756", "#54a24b")


@dataclass
class Experiment:
    """A question that rewards answer.

    Args:
        name: of its folder.
        title: of the picture.
        arms: label -> formula.
        watch: metric of an evaluation -> what the picture calls it.
        hard: the share of training problems that the model cannot solve: sums of four digits.
        steps: optimizer steps.
        held_out: problems of an evaluation.
    """

    name: str
    title: str
    arms: dict
    watch: dict
    hard: float = 0.0
    steps: int = 30
    held_out: int = 100

    def main(self):
        """Run from the command line."""
        parser = argparse.ArgumentParser(description=self.title)
        parser.add_argument("--out", type=Path, default=Path("runs") / self.name)
        parser.add_argument(
            "--model", type=Path, default=Path("runs/tagged"), help="made if absent"
        )
        parser.add_argument("--seeds", type=int, default=3)
        parser.add_argument("--steps", type=int, default=self.steps)
        parser.add_argument("--held-out", type=int, default=100, help="problems of an evaluation")
        options = parser.parse_args()
        self.steps, self.held_out = options.steps, options.held_out
        if not options.model.is_dir():
            print("making the `tagged` model: about ten minutes, once", flush=True)
            options.model.parent.mkdir(parents=True, exist_ok=True)
            tiny.save(*tiny.make("tagged"), options.model)
        curves = {
            label: [
                self.curve(options.out / f"{i}-{seed}", formula, seed, options.model)
                for seed in range(options.seeds)
            ]
            for i, (label, formula) in enumerate(self.arms.items())
        }
        self.tell(curves)
        self.draw(curves, options.out / f"{self.name}.png")
        print(f"wrote {options.out / self.name}.png")

    def problems(self, seed):
        """Return the training problems: sums that the model can learn, and some that it cannot."""
        draw = 400
        easy = ProceduralProblems(Arithmetic(), split="train", seed=seed, size=draw)
        hard = ProceduralProblems(Arithmetic(digits=5), split="train", seed=seed, size=draw)
        count = round(self.hard * draw)
        return [hard[i] for i in range(count)] + [easy[i] for i in range(draw - count)]

    def curve(self, run, formula, seed, model):
        """Train one arm with one seed, unless that was done, and return its evaluations."""
        if not (run / "adapter").is_dir():
            held_out = run.parent / "held_out.jsonl"
            if not held_out.is_file():
                held_out.parent.mkdir(parents=True, exist_ok=True)
                test = ProceduralProblems(Arithmetic(), split="test", seed=0, size=200)
                rows = [
                    {"prompt": p.prompt, "answer": p.answer}
                    for p in map(test.__getitem__, range(200))
                ]
                held_out.write_text("".join(json.dumps(row) + "\n" for row in rows))
            GRPOLearner(
                str(model),
                env=MathEnv(self.problems(seed), layout=LAYOUT),
                reward=formula,
                out=run,
                steps=self.steps,
                seed=seed,
                prompts_per_step=8,
                rows_per_forward=64,
                cpu_threads=1,
                grpo={
                    "num_generations": 8,
                    "max_completion_length": 72,
                    "temperature": 1.0,
                    "learning_rate": 3e-3,
                    "lr_scheduler_type": "constant_with_warmup",
                    "warmup_steps": 3,
                    "beta": 0.0,
                },
                lora={"r": 16, "lora_alpha": 32, "target_modules": "all-linear"},
                eval={"every": 10, "problems": self.held_out, "data": str(held_out)},
            ).train()
        return read_metrics(run, "eval")

    def tell(self, curves):
        """Print the last evaluation of each arm, mean and 95 % interval over seeds."""
        for metric, says in self.watch.items():
            for label, runs in curves.items():
                mean, half = interval([rows[-1][metric] for rows in runs])
                print(f"{says:28} {label:34} {mean:7.3f} +- {half:.3f}")

    def draw(self, curves, path):
        """Draw each watched metric over the steps: a thin line a seed, a thick one their mean."""
        figure = Figure(figsize=(5 * len(self.watch), 3.6), layout="constrained")
        axes = figure.subplots(1, len(self.watch), squeeze=False)[0]
        for ax, (metric, says) in zip(axes, self.watch.items(), strict=True):
            for colour, (label, runs) in zip(COLOURS, curves.items(), strict=False):
                steps = [row["step"] for row in runs[0]]
                values = np.array([[row[metric] for row in rows] for rows in runs])
                ax.plot(steps, values.T, color=colour, alpha=0.35, linewidth=1)
                ax.plot(steps, values.mean(axis=0), color=colour, linewidth=2.5, label=label)
            ax.set_xlabel("step")
            ax.set_title(says)
        axes[0].legend(fontsize=8)
        figure.suptitle(self.title)
        figure.savefig(path, dpi=120)


def interval(values):
    """Return mean and half width of the 95 % t interval; NaN for a single seed."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return float(values.mean()), math.nan
    spread = values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean()), float(T_95.get(len(values) - 1, 1.96) * spread)
