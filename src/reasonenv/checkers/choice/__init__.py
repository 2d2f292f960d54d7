"""Judging a multiple choice answer: which single option has the reply finally committed to?

* `ChoiceJudge`: a problem and a completion in, a `Verdict` out.
* `extract_choice(completion, options)`: the letter, or why there is none.
* `explain(completion, options, gold)`: the same in words.

Inside, downwards: `extract` (the last statement decides), `statements` (where they stand) with
`marked`, `spoken` and `predicates` (how each kind reads), `plain` (the short way), `closing` and
`prose` (replies that state nothing), `context` (whose statement it is), `slots` and `positions`
(what one slot names), `options`, `labels` and `listing` (one problem, prepared once; its options
told again), `cues` and `words` (the cue words of all languages), `page` and `fold` (what a reader
sees). Nothing is guessed.
"""

from reasonenv.checkers.choice.explain import explain
from reasonenv.checkers.choice.extract import ChoiceAnswer, extract_choice
from reasonenv.checkers.choice.judge import ChoiceJudge

__all__ = ["ChoiceAnswer", "ChoiceJudge", "explain", "extract_choice"]
