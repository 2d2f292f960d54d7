"""Whether a recipe goes with the environment's views and turns."""

from __future__ import annotations

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import RecipeError
from reasonenv.rewards import check_turns
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.turns import discount_of

__all__ = ["check_episodes", "check_views"]


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


def check_episodes(recipe: Recipe, env: ReasoningEnv) -> None:
    """Check the recipe against the environment's turns.

    Raises:
        RewardError: a reward pays turn by turn where that would do nothing.
        RecipeError: settings that do not go with several turns, or with turn-level advantages.
    """
    check_turns(
        env.reward, max_turns=env.max_turns, turn_level=recipe.turns.advantages != "episode"
    )
    if discount_of(env.reward) is None:
        return
    refused = {
        "advantage: gdpo": recipe.advantage == "gdpo",
        "grpo.off_policy_mask_threshold": recipe.grpo.get("off_policy_mask_threshold") is not None,
        "grpo.loss_type=vespo": recipe.grpo.get("loss_type") == "vespo",
    }
    for setting, given in refused.items():
        if given:
            raise RecipeError(
                f"{setting} takes one advantage for an episode, and the reward {env.reward!r} pays "
                "turn by turn: leave the setting out, or the potential-based parts"
            )
