"""Patterns as automata, held to Python's own matcher."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.errors import RewardError
from reasonenv.rewards.format_regex import PATTERNS
from reasonenv.rewards.linear_regex import compile_linear

SAMPLES = (
    r"(a|aa)*b", r"<a>.*?</a>\s*$", r"^[^a-c]+\d{2,4}x?$", r"(?:ab){0,3}|c+?", r"\w\W\s\S\D",
    r"a(?P<n>b)?c", r"(?s)a.b", r"(?s:a.)b", r"(?:)*", r"((a*)*)*", r"[\d\-x]*", r"[^\w<]*", r"a|",
    r"x{3}", r"(?:a{2,3}){2}", r"[]a]+", r"\A<a>+\Z", r"^a|^b", r"a{0}b", r"(?x) a  b # c",
)  # fmt: skip
ATOMS = st.sampled_from(["a", "b", ".", r"\d", "[ab]", "[^a]", "<", r"\."])
PATTERN = st.recursive(
    ATOMS,
    lambda inside: st.one_of(
        st.tuples(inside, inside).map("".join),
        st.tuples(inside, inside).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inside, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{,2}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)
TEXT = st.text(alphabet="ab<x1 .\n-]", max_size=10)


@pytest.mark.parametrize("pattern", SAMPLES)
@settings(max_examples=60)
@given(text=TEXT)
def test_a_pattern_fits_what_python_says_that_it_fits(pattern, text):
    wanted = re.compile(pattern, re.DOTALL).fullmatch(text)
    assert compile_linear(pattern).fullmatch(text) == bool(wanted)


@settings(max_examples=300)
@given(PATTERN, st.text(alphabet="ab<1", max_size=6))
def test_random_patterns_fit_the_same_texts(pattern, text):
    wanted = re.compile(pattern, re.DOTALL).fullmatch(text)
    assert compile_linear(pattern).fullmatch(text) == bool(wanted)


@pytest.mark.parametrize("pattern", ["(a|aa)*b", "(.*)*.*.*x", "(a*)*b", "(?:a?){30}a{30}b"])
def test_what_makes_backtracking_explode_takes_no_time(pattern):
    assert not compile_linear(pattern).fullmatch("a" * 100_000)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"(a)\1", "a backreference"),
        (r"(?P<n>a)(?P=n)", "a backreference"),
        (r"(a)?(?(1)b|c)", "a conditional group"),
        (r"(?=a)b", "lookahead"),
        (r"(?<!a)b", "lookahead or lookbehind"),
        (r"(?>a)b", "an atomic group"),
        (r"a*+b", "a possessive repeat"),
        (r"(?i)a", "knows? no flags|know no flags"),
        (r"a(?i:b)", "flags inside a group"),
        (r"a^b", "an anchor inside"),
        (r"\bx", "an anchor inside"),
        ("(", "no regular expression"),
        ("a{3000}", "more than 2000 times"),
        ("(?:a{100}){100}", "more than 2000 states"),
        ("(?:){9999999}", "more than 2000 times"),
        ("x" * 1001, "at most 1000 characters"),
    ],
)
def test_what_cannot_be_matched_in_linear_time_is_refused_by_name(pattern, said):
    with pytest.raises(RewardError, match=said):
        compile_linear(pattern)


def test_the_named_patterns_are_linear():
    for pattern in PATTERNS.values():
        assert not compile_linear(pattern).fullmatch("<think>" * 50_000)
