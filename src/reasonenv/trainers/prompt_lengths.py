"""`within_limit`: the problems whose prompts are short enough to train on.

TRL 1.16 has no limit on prompts. A few very long ones decide how much memory a step takes.
"""

from __future__ import annotations

import warnings

from reasonenv.errors import RecipeError
from reasonenv.models.prompts import PromptFormat
from reasonenv.problems import ProblemList, Problems
from reasonenv.types import Problem

__all__ = ["within_limit"]


def within_limit(problems: Problems, prompt: PromptFormat, limit: int) -> tuple[ProblemList, int]:
    """Return the problems whose prompts have at most `limit` tokens, and how many have more.

    Args:
        problems: a list of them.
        prompt: writes their prompts, for one tokenizer.
        limit: in tokens, what the chat template adds included.

    Raises:
        RecipeError: problems that are made on demand, or none is short enough.
    """
    if not isinstance(problems, ProblemList):
        raise RecipeError(
            f"max_prompt_tokens={limit}: the problems are made on demand, and have no list to drop "
            "long ones from; leave it out, and set their size by env_args.options"
        )
    lengths = [_tokens(prompt, problem, limit) for problem in problems]
    kept = [one for one, length in zip(problems, lengths, strict=True) if length <= limit]
    if not kept:
        raise RecipeError(
            f"max_prompt_tokens={limit}: every prompt is longer, the shortest has "
            f"{min(lengths)} tokens; raise it, or leave it out"
        )
    dropped = len(lengths) - len(kept)
    if 2 * dropped > len(lengths):
        warnings.warn(
            f"max_prompt_tokens={limit} drops {dropped} of {len(lengths)} problems", stacklevel=3
        )
    return ProblemList(kept, problems.name), dropped


def _tokens(prompt: PromptFormat, problem: Problem, enough: int) -> int:
    """Return how many tokens a prompt has, or an upper bound that is at most `enough`.

    No token is shorter than a byte, but one may be set before the text.
    """
    text = prompt.text(problem)
    bound = len(text.encode("utf-8", "surrogatepass")) + 1
    return bound if bound <= enough else len(prompt.ids(text))
