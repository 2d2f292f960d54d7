"""The extractors that `choice_extraction.py` compares, each served in a process of its own."""

from __future__ import annotations

import json
import re
import string
import sys
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace

OURS = "reasonenv"
PEERS = (
    "lm-eval multi_choice_regex",
    "opencompass first_option",
    "evalscope parse_answers",
    "inspect_ai parse_answers",
    "lighteval indices",
)
PATTERNS = ("last Answer: X", "answer is (X), else last capital")
"""Regular expressions in the way of simple-evals and of MMLU-Pro, written anew for any number."""
Row = tuple[str, Sequence[str]]
Extract = Callable[[str, Sequence[str]], str | None]
ExtractAll = Callable[[Sequence[Row]], list[str | None]]


def extractor(name: str) -> ExtractAll:
    """Return an extractor by its name; ImportError where it is not installed."""
    if name == PEERS[0]:
        return _lm_eval()  # takes a whole run at a time
    one = {
        OURS: _ours,
        PEERS[1]: _opencompass,
        PEERS[2]: _evalscope,
        PEERS[3]: _inspect,
        PEERS[4]: _lighteval,
        PATTERNS[0]: _last_answer,
        PATTERNS[1]: _answer_is,
    }[name]()

    def extract_all(rows: Sequence[Row]) -> list[str | None]:
        letters: list[str | None] = []
        for text, options in rows:
            try:
                letters.append(one(text, options))
            except Exception:
                letters.append(None)
        return letters

    return extract_all


def _ours() -> Extract:
    from reasonenv.checkers.choice import extract_choice

    return lambda text, options: extract_choice(text, options).letter


def _lm_eval() -> ExtractAll:
    from lm_eval.filters.extraction import MultiChoiceRegexFilter

    # the settings of its flexible few-shot tasks
    filter_ = MultiChoiceRegexFilter(
        regex_pattern=r"(\([A-Z]\))", group_select=-1, ignore_case=True, ignore_punctuation=True
    )

    def extract_all(rows: Sequence[Row]) -> list[str | None]:
        texts = [[text] for text, _ in rows]
        found = filter_.apply(texts, [{"choices": list(options)} for _, options in rows])
        return [
            _one(str(letter).strip("()"), options)
            for [letter], (_, options) in zip(found, rows, strict=True)
        ]

    return extract_all


def _opencompass() -> Extract:
    from opencompass.utils.text_postprocessors import first_option_postprocess

    return lambda text, options: (
        first_option_postprocess(text, string.ascii_uppercase[: len(options)]) or None
    )


def _parsed(parse: Callable[..., set[str]]) -> Extract:
    def extract(text: str, options: Sequence[str]) -> str | None:
        output = SimpleNamespace(completion=text)
        found = parse(SimpleNamespace(output=output, choices=list(options)), False)
        return next(iter(found)) if len(found) == 1 else None

    return extract


def _evalscope() -> Extract:
    from evalscope.utils.multi_choices import parse_answers

    return _parsed(parse_answers)


def _inspect() -> Extract:
    from inspect_ai.solver._multiple_choice import parse_answers

    return _parsed(parse_answers)


def _lighteval() -> Extract:
    from lighteval.metrics.utils import extractive_match_utils as utils
    from lighteval.utils.language import Language

    config = utils.IndicesExtractionConfig(prefix_for_extraction="NativeLetters")

    def extract(text: str, options: Sequence[str]) -> str | None:
        regexes = utils.get_extraction_regexes_inspect([config], Language.ENGLISH, len(options))
        found = utils.extract_target_from_pred(text, regexes, fallback_mode="first_match")
        return _one(str(found[0]).strip("() ."), options) if found else None

    return extract


def _last_answer() -> Extract:
    pattern = re.compile(r"(?i)answer\s{0,5}:\s{0,5}[$*(]{0,3}([A-Z])\b")

    def extract(text: str, options: Sequence[str]) -> str | None:
        found = pattern.findall(text)
        return _one(found[-1].upper(), options) if found else None

    return extract


def _answer_is() -> Extract:
    steps = (
        re.compile(r"answer is \(?([A-Z])\)?"),
        re.compile(r"[Aa]nswer:\s{0,5}\(?([A-Z])"),
        re.compile(r"\b([A-Z])\b"),
    )

    def extract(text: str, options: Sequence[str]) -> str | None:
        for step in steps:
            found = step.findall(text)
            if found:
                return _one(found[-1], options)
        return None

    return extract


def _one(letter: str, options: Sequence[str]) -> str | None:
    return letter if letter and letter in string.ascii_uppercase[: len(options)] else None


def serve(name: str) -> None:
    """Answer requests, one JSON object a line: `{"rows": [[text, options], ...], "blocks": n}`."""
    channel, sys.stdout = sys.stdout, sys.stderr  # what a peer prints is no answer
    try:
        extract = extractor(name)
    except Exception as error:
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), file=channel, flush=True)
        return
    print(json.dumps({}), file=channel, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        letters: list[str | None] = []
        best = float("inf")
        for _ in range(request["blocks"]):
            start = time.process_time()
            letters = extract(request["rows"])
            best = min(best, time.process_time() - start)
        print(json.dumps({"letters": letters, "seconds": best}), file=channel, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
