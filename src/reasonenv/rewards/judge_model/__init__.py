"""`JudgeModel`: a term whose value a language model gives, asked over HTTP.

* `term`: the term.
* `asking`: asks about many completions at once, and remembers.
* `chat`: one request to an OpenAI-compatible endpoint, with retries.
* `grading`: what the judge is told, and how its reply is read.
* `cache`, `budget`: answers on disk; what may be spent.
"""

from reasonenv.rewards.judge_model.budget import JudgeUsage
from reasonenv.rewards.judge_model.term import JudgeModel

__all__ = ["JudgeModel", "JudgeUsage"]
