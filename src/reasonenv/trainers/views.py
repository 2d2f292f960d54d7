"""Whether a recipe can ask the members of a group under several views of their problem."""

from __future__ import annotations

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import RecipeError
from reasonenv.trainers.recipe import Recipe

__all__ = ["check_views"]


def check_views(recipe: Recipe, env: ReasoningEnv) -> None:
    """Check the environment's `views` and `eval_views` against the sizes of groups.

    Raises:
        RecipeError: a group does not hold each view equally often.
    """
    size = int(recipe.grpo.get("num_generations", 8))
    for name, views, count, what in (
        ("views", env.views, size, "grpo.num_generations"),
        ("eval_views", env.eval_views, recipe.eval.samples, "eval.samples"),
    ):
        if count % views:
            valid = ", ".join(str(n) for n in range(1, count + 1) if count % n == 0)
            raise RecipeError(
                f"env_args.{name}={views} does not divide {what}={count}, so a group would not "
                f"hold each view equally often: valid: {valid}"
            )
