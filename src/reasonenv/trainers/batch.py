"""Batch arithmetic: how prompts, groups, processes and accumulation fit together.

Worked out before a model is loaded. A group must be complete on one rank, since rewards compare
its members there: so each rank's generation batch holds whole groups.
"""

from __future__ import annotations

from dataclasses import dataclass

from reasonenv.errors import BatchArithmeticError

__all__ = ["BatchPlan", "plan_batches"]


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The sizes of one training step, all of them whole numbers that fit.

    Attributes:
        processes: ranks.
        group_size: G, completions of one draw of a problem.
        per_device: completions in one forward pass of one rank.
        accumulation: forward passes of one optimizer step.
        steps_per_generation: forward passes that one generation feeds.
        iterations: optimizer passes over one generation.
        eval_per_device: completions in one evaluation batch of one rank.
    """

    processes: int
    group_size: int
    per_device: int
    accumulation: int
    steps_per_generation: int
    iterations: int
    eval_per_device: int

    @property
    def completions_per_generation(self) -> int:
        """Completions that all ranks sample together."""
        return self.processes * self.per_device * self.steps_per_generation

    @property
    def prompts_per_generation(self) -> int:
        """Problems drawn for one generation, over all ranks."""
        return self.completions_per_generation // self.group_size

    @property
    def completions_per_step(self) -> int:
        """Completions behind one optimizer step, over all ranks."""
        return self.processes * self.per_device * self.accumulation

    @property
    def steps_per_cycle(self) -> int:
        """Optimizer steps between two generations; checkpoints fall on its multiples."""
        return max(1, self.steps_per_generation * self.iterations // self.accumulation)

    def generations(self, steps: int) -> int:
        """Return how many generations `steps` optimizer steps take."""
        return -(-steps // self.steps_per_cycle)

    def describe(self) -> str:
        """Return the arithmetic in one line of words."""
        cycle = self.steps_per_cycle
        return (
            f"{_count(self.prompts_per_generation, 'prompt')} x {self.group_size} completions = "
            f"{self.completions_per_generation} a generation, on "
            f"{_count(self.processes, 'process', 'es')}: {self.per_device} a forward pass, "
            f"{self.accumulation} accumulated, {_count(cycle, 'optimizer step')} a generation"
        )


def plan_batches(
    *,
    processes: int,
    group_size: int,
    prompts_per_step: int | None = None,
    rows_per_forward: int = 8,
    per_device: int | None = None,
    accumulation: int | None = None,
    steps_per_generation: int | None = None,
    iterations: int = 1,
    eval_samples: int = 1,
    eval_problems: int = 0,
    eval_per_device: int | None = None,
) -> BatchPlan:
    """Work out a step's sizes.

    Args:
        processes: ranks.
        group_size: G, at least 2.
        prompts_per_step: problems behind one optimizer step over all ranks, whatever their
            number; None: `per_device` and `accumulation` are per rank, as in TRL.
        rows_per_forward: the most completions in one forward pass where `per_device` is None.
        per_device: completions in one forward pass of one rank.
        accumulation: forward passes of one optimizer step.
        steps_per_generation: forward passes that one generation feeds; `accumulation` if None.
        iterations: optimizer passes over one generation.
        eval_samples: completions of each problem in evaluation.
        eval_problems: problems in evaluation, over all ranks.
        eval_per_device: completions in one evaluation batch of one rank.

    Raises:
        BatchArithmeticError: the sizes do not fit; the message names values that do.
    """
    for name, value, least in (
        ("processes", processes, 1),
        ("grpo.num_generations", group_size, 2),
        ("prompts_per_step", prompts_per_step, 1),
        ("rows_per_forward", rows_per_forward, 1),
        ("grpo.per_device_train_batch_size", per_device, 1),
        ("grpo.gradient_accumulation_steps", accumulation, 1),
        ("grpo.steps_per_generation", steps_per_generation, 1),
        ("grpo.num_iterations", iterations, 1),
        ("eval.samples", eval_samples, 1),
    ):
        if value is not None and value < least:
            raise BatchArithmeticError(f"{name}={value}: the least valid value is {least}")
    if prompts_per_step is not None:
        per_device, accumulation = _from_prompts(
            prompts_per_step, processes, group_size, rows_per_forward, per_device, accumulation
        )
    per_device, accumulation = per_device or 8, accumulation or 1
    per_generation = steps_per_generation or accumulation
    if per_device * per_generation % group_size:
        valid = [n for n in range(1, 16 * group_size) if n * per_generation % group_size == 0]
        raise BatchArithmeticError(
            f"a rank's generation batch of {per_device} x {per_generation} = "
            f"{per_device * per_generation} completions holds no whole number of groups of "
            f"{group_size}: valid grpo.per_device_train_batch_size with "
            f"{per_generation} passes: {_list(valid)}"
        )
    if per_generation * iterations % accumulation:
        raise BatchArithmeticError(
            f"grpo.steps_per_generation={per_generation} x num_iterations={iterations} is no "
            f"multiple of gradient_accumulation_steps={accumulation}, so a generation would end "
            f"inside an optimizer step: valid steps_per_generation: multiples of {accumulation}"
        )
    if eval_per_device is None:
        share = -(-max(eval_problems, 1) * eval_samples // processes)
        most = min(max(rows_per_forward, per_device, eval_samples), max(share, eval_samples))
        eval_per_device = most - most % eval_samples
    if eval_per_device % eval_samples:
        raise BatchArithmeticError(
            f"grpo.per_device_eval_batch_size={eval_per_device} is no multiple of "
            f"eval.samples={eval_samples}: valid: {eval_samples}, {2 * eval_samples}, ..."
        )
    return BatchPlan(
        processes=processes,
        group_size=group_size,
        per_device=per_device,
        accumulation=accumulation,
        steps_per_generation=per_generation,
        iterations=iterations,
        eval_per_device=eval_per_device,
    )


def _from_prompts(
    prompts: int,
    processes: int,
    group_size: int,
    rows_per_forward: int,
    per_device: int | None,
    accumulation: int | None,
) -> tuple[int, int]:
    """Return (per_device, accumulation) that make up `prompts` groups over all ranks."""
    if prompts % processes:
        below = prompts - prompts % processes
        raise BatchArithmeticError(
            f"prompts_per_step={prompts} cannot be shared by {processes} processes, each with "
            f"whole groups: valid: multiples of {processes}, such as "
            f"{_list([n for n in (below, below + processes) if n])}"
        )
    rows = prompts // processes * group_size
    if per_device is None and accumulation is None:
        per_device = max(n for n in _divisors(rows) if n <= rows_per_forward)
    if per_device is None and accumulation is not None:
        if rows % accumulation:
            raise BatchArithmeticError(
                f"{rows} completions a rank ({prompts} prompts x {group_size} / {processes}) are "
                f"not divisible by grpo.gradient_accumulation_steps={accumulation}: valid: "
                f"{_list(_divisors(rows))}"
            )
        per_device = rows // accumulation
    assert per_device is not None
    if rows % per_device or (accumulation is not None and per_device * accumulation != rows):
        given = f"grpo.per_device_train_batch_size={per_device}"
        if accumulation is not None:
            given += f" x gradient_accumulation_steps={accumulation} = {per_device * accumulation}"
        raise BatchArithmeticError(
            f"{given} does not make the {rows} completions a rank of prompts_per_step={prompts} "
            f"x num_generations={group_size} / {processes} processes: valid "
            f"per_device_train_batch_size: {_list(_divisors(rows))} (leave "
            "gradient_accumulation_steps out)"
        )
    return per_device, rows // per_device


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{plural * (number != 1)}"


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def _list(values: list[int]) -> str:
    shown = ", ".join(map(str, values[:12]))
    return shown + ", ..." * (len(values) > 12)
