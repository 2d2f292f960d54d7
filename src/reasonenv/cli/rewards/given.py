"""The argument that every `reasonenv rewards` command takes: a reward, however it is named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from reasonenv.rewards import Reward
    from reasonenv.trainers.recipe import Recipe

__all__ = ["REWARD", "reward_of"]

REWARD = Annotated[
    str,
    typer.Argument(
        metavar="REWARD",
        help="A formula, such as 'Correct() + 0.1 * Format(\"answer\")' or 'study.gsm8k()'; a "
        "recipe; a run directory; or an environment, for its own reward.",
    ),
]


def reward_of(given: str) -> Reward:
    """Return the reward of a formula, a recipe, a run directory or an environment.

    Raises:
        ReasonEnvError: it is none of them.
    """
    from reasonenv.rewards import from_config, parse

    if "(" in given and not Path(given).exists():
        return parse(given)
    if (Path(given) / "run.json").is_file():
        from reasonenv.trainers.run import Run

        formula = Run(Path(given)).facts.get("reward")  # also where it was the environment's own
        if formula is not None:
            return from_config(formula)
    recipe = _recipe(given)
    if recipe is None:
        return _environment(given)
    if recipe.reward is not None:
        return from_config(recipe.reward)
    return _environment(recipe.env, **recipe.env_args)


def _recipe(given: str) -> Recipe | None:
    from reasonenv.trainers.recipe import Recipe, recipe_names

    path = Path(given)
    if (path / "recipe.yaml").is_file():
        return Recipe.load(path / "recipe.yaml")
    if path.suffix in (".yaml", ".yml") or given in recipe_names():
        return Recipe.load(given)
    return None


def _environment(env: str, **arguments: object) -> Reward:
    import reasonenv

    return reasonenv.make(env, **arguments).reward
