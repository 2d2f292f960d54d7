"""Extraction of programs: stored cases, properties, hostile text.

The programs of the stored cases are benign, so these tests (and only these) run them in a plain
subprocess; `extract_program` itself runs nothing.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.checkers.code.extract import MAX_COMPLETION_CHARS, Extracted, extract_program
from reasonenv.checkers.code.extraction.syntax import MAX_PROGRAM_CHARS, parse

DATA = Path(__file__).parents[1] / "data" / "code"
SHARED = Path(os.environ.get("REASONENV_SHARED", Path(__file__).resolve().parents[3] / "shared"))
TIME_LIMIT = 20.0
JUNK_CHARS = 250_000
JUNK_SECONDS = 10.0
"""Far above what two searches take (0.1 to 1 s of CPU time); quadratic ones would take minutes."""

ADD = "def add(a, b):\n    return a + b"


def _cases(name: str) -> list[Any]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def _normal(code: str) -> str:
    return "\n".join(line.rstrip() for line in code.strip().split("\n"))


def _run(program: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIME_LIMIT,
        check=False,
    )


def _passes(program: str, tests: list[Any], kind: str) -> bool:
    if kind == "stdio":
        return all(
            _run(program, test["input"]).stdout.split() == test["output"].split() for test in tests
        )
    script = "\n".join(
        [
            f"names = {{'__name__': 'candidate'}}; exec({program!r}, names)",
            *(f"exec({test!r}, dict(names))" for test in tests),
        ]
    )
    return _run(script).returncode == 0


def _agrees(case: dict[str, Any], found: Extracted) -> bool:
    expect = case["expect"]
    program = found.program
    if expect["status"] == "fail":
        return not found.ok or (bool(expect["tests"]) and not _passes(program or "", **_how(case)))
    if program is None:
        return bool(expect["fail_also_ok"])
    if not found.ok or any(text in program for text in expect["forbid"]):
        return False
    if expect["judge"] == "text":
        return _normal(program) in map(_normal, expect["accept"])
    return _passes(program, **_how(case))


def _how(case: dict[str, Any]) -> dict[str, Any]:
    return {"tests": case["expect"]["tests"], "kind": case["kind"]}


def _extract(case: dict[str, Any]) -> Extracted:
    return extract_program(case["completion"], case["entry_point"], case["prompt"], case["kind"])


@pytest.mark.parametrize("case", _cases("extraction_dev.jsonl"))
def test_a_case_made_before_the_extraction_is_read_as_it_says(case: dict[str, Any]) -> None:
    assert _agrees(case, _extract(case)), _extract(case)


@pytest.mark.parametrize("case", _cases("extraction_own.jsonl"))
def test_a_case_of_our_own_is_read_as_it_says(case: dict[str, Any]) -> None:
    assert _agrees(case, _extract(case)), _extract(case)


def test_programs_that_models_wrote_pass_their_tests() -> None:
    path = SHARED / "bench" / "code" / "real_dev.jsonl"
    if not path.exists():
        pytest.skip(f"no {path}")
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        found = extract_program(case["completion"], case["entry_point"], case["prompt"])
        checks = [f"{case['tests']}\ncheck({case['entry_point']})"]
        assert (found.ok and _passes(found.program or "", checks, "assert")) == case["expected"]


# -- properties -----------------------------------------------------------------------------------

_name = st.sampled_from(["x", "total", "_y", "item2"])
_string = st.sampled_from(
    [
        '"a"',
        "'it\\'s'",
        '"```"',
        "'~~~'",
        '"</think>"',
        "'<answer>'",
        'r"\\d+"',
        '">>> "',
        "'<|im_end|>'",
    ]
)
_statement = st.one_of(
    st.builds("{} = {}".format, _name, _string),
    st.builds("{} = [{},\n    1]".format, _name, _string),
    st.builds("for {} in range(3):\n    {} = {}".format, _name, _name, _string),
    st.builds("if True:\n    pass\nelse:\n    {} = 1".format, _name),
    st.builds(
        'def {}(n):\n    """Do.\n\n    ```python\n    {}(1)\n    ```\n    """'.format, _name, _name
    ),
    st.builds(
        'TEXT = """\n{}\n"""'.format, st.sampled_from(["```", "~~~", "```python", "a\n```\nb"])
    ),
    st.builds("# {}".format, st.sampled_from(["don't", 'a """ b', "x = (", "`y`"])),
    st.just("import math\n\n"),
    st.just("class A:\n    def add(self):\n        return 1\n"),
)
_programs = st.lists(_statement, max_size=5).map(lambda parts: "\n".join([*parts, ADD]))
_words = [
    "I",
    "don't",
    "think",
    "so:",
    "it's",
    "(or",
    "well)",
    "the",
    "`add`",
    "function",
    "1.",
    '"ok"',
]
_line = st.lists(st.sampled_from(_words), min_size=1, max_size=8).map(" ".join)
_prose = st.lists(st.one_of(_line, st.just("")), max_size=5).map("\n".join)
_info = st.sampled_from(["python", "py", "python3", "Python", "", " python", "python title='a.py'"])


@st.composite
def _replies(draw: st.DrawFn) -> tuple[str, str]:
    """Return (program, a reply that holds it in a fence, in some prose)."""
    program = draw(_programs)
    fence = draw(st.sampled_from("`~")) * draw(st.integers(3, 6))
    first, other = draw(
        st.sampled_from(
            [("", ""), ("  ", "  "), ("- ", "  "), ("> ", "> "), ("\t", "\t"), ("1. > ", "   > ")]
        )
    )
    lines = [fence + draw(_info), *program.split("\n"), fence]
    block = "\n".join((other if at else first) + line for at, line in enumerate(lines))
    before, after = draw(_prose), draw(_prose)
    reply = "\n".join(part for part in (before, block, after) if part)
    if draw(st.booleans()):
        reply = f"<think>\n{draw(_prose)}\n</think>\n{reply}"
    if draw(st.booleans()):
        reply = reply.replace("\n", "\r\n")
    return program, reply


@given(_replies())
@settings(max_examples=300, deadline=None)
def test_a_fenced_program_comes_back_unchanged(pair: tuple[str, str]) -> None:
    program, reply = pair
    for entry_point, kind in (("add", "assert"), (None, "stdio")):
        assert extract_program(reply, entry_point, "", kind).program == program.strip("\n")


@given(_programs, st.sampled_from(["", "\n"]))
@settings(max_examples=100, deadline=None)
def test_a_bare_program_comes_back_unchanged(program: str, end: str) -> None:
    if re.search(r"^(```|~~~)", program, re.MULTILINE):
        return  # without a fence around it, such a line is one
    assert extract_program(program + end, "add").program == program.strip("\n")


_junk = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(
        st.sampled_from(
            [
                *"`~>'\"\\#()[]{}:=\n\n\t \x00\ud800\u00a0\u200b\ufeff\r",
                "```",
                "```python\n",
                "~~~\n",
                '"""',
                "'''",
                "def add(a, b):\n",
                "    return a + b\n",
                "add",
                "<think>",
                "</think>",
                "<answer>",
                "</answer>",
                ">>> ",
                "... ",
                "In [1]: ",
                "[PYTHON]",
                "<code>",
                "<|im_end|>",
                "class ",
                "@",
                "lambda: ",
                "import ",
                "from x import *\n",
                "- ",
                "1. ",
                "> ",
                "if a:\n",
                "else:\n",
                "\\N{",
            ]
        )
    ).map("".join),
)


@given(
    _junk, _junk, st.sampled_from(["add", "A.add", "", None]), st.sampled_from(["assert", "stdio"])
)
@settings(max_examples=500, deadline=None)
def test_no_text_raises(text: str, prompt: str, entry_point: str | None, kind: str) -> None:
    found = extract_program(text, entry_point, prompt, kind)
    assert found == extract_program(text, entry_point, prompt, kind)
    if found.ok:
        assert found.program is not None
        assert parse(found.program) is not None


@pytest.mark.parametrize(
    "unit",
    [
        "The sum of a and b is found by adding them.\n",
        "`",
        "```\n",
        "```python\n",
        "add = (\n",
        "(",
        "```python\nadd = (\n```\n",
        '```\n"""\n',
        '"""\n',
        "1+",
        "not ",
        "if a:\n",
        ">>> add(\n",
        "</think>",
        '"</think>" ',
        "<answer>",
        "<|im_end|>",
        "[PYTHON]\n",
        "`add` ",
        "> ```\n",
        "- ",
        "\x00",
        "\ud800",
        "\n",
        " ",
        "@a\n",
        'f"{',
        "def add(a): return a\n",
        "x ```python\nadd\n",
        "```markdown\n```python\nadd\n",
        "    return a\n",
        "lambda: ",
        "add(1,\n",
        "# add\n",
        "else:\n",
    ],
)
def test_junk_takes_linear_time(unit: str) -> None:
    text = unit * (JUNK_CHARS // len(unit))
    started = time.process_time()
    extract_program(text, "add", 'def add(a, b):\n    """Add."""\n')
    extract_program(text, None, "", "stdio")
    assert time.process_time() - started < JUNK_SECONDS


# -- what an extraction says ----------------------------------------------------------------------


def test_the_span_counts_lines_of_the_completion() -> None:
    text = f"<think>\r\nhm\r\n</think>\r\nSo:\r\n```python\r\n{ADD}\r\n```"
    found = extract_program(text, "add")
    assert found.span == (6, 7)
    assert text.replace("\r\n", "\n").split("\n")[5:7] == ADD.split("\n")


@pytest.mark.parametrize(
    ("completion", "status", "detail"),
    [
        (f"```python\n{ADD}\n```", "ok", "fence"),
        (f"<answer>\n```\n{ADD}\n```\n</answer>", "ok", "answer+fence"),
        (f"Sure, here it is:\n{ADD}\n", "ok", "prose"),
        (ADD, "ok", "whole"),
        ("```python\ndef plus(a, b):\n    return a + b\n```", "no_entry_point", "fence"),
        ("```python\ndef add(a, b):\n    return (a +", "unparsable", "fence"),
        ("    return a + b\n", "ok", "body"),
        ("<think>hm", "no_program", "unclosed reasoning"),
        ("", "no_program", ""),
        ("x = 1\n" * MAX_PROGRAM_CHARS, "too_long", "prose"),
        ("x" * (MAX_COMPLETION_CHARS + 1), "too_long", ""),
    ],
)
def test_the_status_and_the_rule_are_named(completion: str, status: str, detail: str) -> None:
    found = extract_program(completion, "add", 'def add(a, b):\n    """Add."""\n')
    assert (found.status, found.detail) == (status, detail)


def test_no_warning_of_a_program_reaches_the_caller(recwarn: pytest.WarningsRecorder) -> None:
    program = 'import re\ndef add(a, b):\n    return re.match("\\d\\.", a)'
    assert extract_program(f"```python\n{program}\n```", "add").program == program
    assert not recwarn.list
