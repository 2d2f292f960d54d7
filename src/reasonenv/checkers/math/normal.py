r"""One normal form for the many ways to write the same answer.

`normalise` undoes what carries no meaning: Markdown, math delimiters, fonts and sizes, spacing,
Unicode look-alikes, brace-less arguments. It keeps what does carry meaning: braces of exponents,
brackets, commas, the case of names. `\text{...}` stays marked until `plain` unwraps it, since a
word in it may be a unit while a bare letter is a variable.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normalise", "plain", "words_only"]

_BRACKET = re.compile(r"\\.|[{}()]", re.DOTALL)
_MAX_WRAPPERS = 20
"""Of boxes or braces around the whole answer: each costs one more pass over it."""

_TABLE: dict[int, str] = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full width
    **{ord(c): "-" for c in "−–—‐‑‒﹣"},
    **{ord(c): " " for c in "\t\n\r\f\v\u00a0\u2002\u2003\u2004\u2005\u2009\u200a\u202f\u3000"},
    **{ord(c): "" for c in "\u200b\u200c\u200d\u2060\ufeff"},
    **{ord(c): "*" for c in "×⋅·∙"},
    **{ord(c): f"^{{{i}}}" for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{ord(c): f"_{{{i}}}" for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    ord("÷"): "/",
    ord("⁄"): "/",
    ord("π"): r"\pi ",
    ord("∞"): r"\infty ",
    ord("±"): r"\pm ",
    ord("≤"): r"\leq ",
    ord("≥"): r"\geq ",
    ord("≠"): r"\neq ",
    ord("∪"): r"\cup ",
    ord("∈"): r"\in ",
    ord("∅"): r"\emptyset ",
    ord("º"): "°",
    ord("√"): r"\sqrt ",
    ord("，"): ",",
    ord("。"): ".",
}
for _code in (*range(0xBC, 0xBF), *range(0x2150, 0x215F)):  # ½ ¾ ⅓ ...
    _top, _, _bottom = unicodedata.normalize("NFKC", chr(_code)).partition("⁄")
    _TABLE[_code] = f"\\frac{{{_top}}}{{{_bottom}}}"

_NEGATIVE_POWER = re.compile(r"⁻(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_POWER = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]{2,}")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_BOLD = re.compile(r"(?<![\w)}\]*])(\*{1,3}|`)(?=[^\s*`])([^*`]{1,2000})\1(?![\w*])")
_DELIMITERS = re.compile(r"\\[()]|\\\[|\\\](?!\d)|(?<!\\)\$+|\\\$|[€£¥]")
_NOISE = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits"
    r"|mathstrut|phantom\{\})(?![A-Za-z])\s*"
)
_SPACING = re.compile(
    r"(?<!\\)\\[,;:! ]|\\(?:quad|qquad|thinspace|enspace|space)(?![A-Za-z])|~|\\\n"
)
_TEXT = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal|up)?|mbox|hbox|math(?:rm|bf|it|sf|tt)?|operatorname"
    r"|boldsymbol|bm|emph|textnormal|underline)\s*\{([^{}]*)\}"
)
_COLOR = re.compile(r"\\(?:color|textcolor)\s*\{[a-zA-Z]{1,20}\}")
_RENAMED = (
    (re.compile(r"\\[dtc]frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\(?:lbrace)(?![A-Za-z])"), r"\\{"),
    (re.compile(r"\\(?:rbrace)(?![A-Za-z])"), r"\\}"),
    (re.compile(r"\\(?:cdot|times|ast)(?![A-Za-z])\s*"), "*"),
    (re.compile(r"\\div(?![A-Za-z])\s*"), "/"),
    (re.compile(r"\\le(?![A-Za-z])|<="), r"\\leq "),
    (re.compile(r"\\ge(?![A-Za-z])|>="), r"\\geq "),
    (re.compile(r"\\ne(?![A-Za-z])|!="), r"\\neq "),
    (re.compile(r"\\mp(?![A-Za-z])"), r"\\pm "),
    (re.compile(r"\\varnothing(?![A-Za-z])"), r"\\emptyset"),
    (re.compile(r"\\[lr]vert(?![A-Za-z])"), "|"),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\^\s*(?:\\circ(?![A-Za-z])|\{\s*\\circ\s*\})"), "°"),
    (re.compile(r"\\degree(?![A-Za-z])"), "°"),
)
_GROUP_SEPARATOR = r"(?:,\\!\s?|\{,\}|\\[,;:]|,|[ \u00a0\u202f\u2009])"
_THOUSANDS = re.compile(
    rf"(?<![\d.,(\[])(?<!\\\{{)([1-9]\d{{0,2}})({_GROUP_SEPARATOR})\d{{3}}"
    rf"(?:{_GROUP_SEPARATOR}\d{{3}})*(?![\d\])])(?!{_GROUP_SEPARATOR}\d)"
)
_FRAC_DIGITS = re.compile(r"\\frac\s*(\d)\s*(\d)")
_FRAC_FIRST = re.compile(r"\\frac\s*(\w)\s*(?=\{)")
_FRAC_SECOND = re.compile(r"(\\frac\s*\{[^{}]*\})\s*([0-9A-Za-z])")
_OVER = re.compile(r"\{([^{}\\]*)\\over(?![A-Za-z])([^{}\\]*)\}")
_SQRT_BARE = re.compile(r"\\sqrt\s*(\d+|[A-Za-z])")
_SQRT_PLAIN = re.compile(r"(?<![\\A-Za-z])sqrt\s*\(([^()]*)\)")
_SCRIPT = re.compile(r"([\^_])\s*(-?\d+|[A-Za-z])")
_PERCENT_WORD = re.compile(
    r"(?<=[\d})])\s*(?:\\text\{\s*)?(?:percentage points?|percent(?:age)?|pct)\b\.?(\s*\})?", re.I
)
_SPACE_RUN = re.compile(r" +")
_LOOSE_SPACE = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")
_LOOSE_SPACE_BUT_UNITS = re.compile(r"(?<![A-Za-z0-9})]) |(?<=[})]) (?![a-z]{3})| (?![A-Za-z0-9])")
_CHOICE_LETTER = re.compile(r"\(?[A-Z]?\)?")
_TEXT_MARK = re.compile(r"\\text\{([^{}]*)\}")


def normalise(text: str) -> str:
    r"""Return the normal form of an answer, with words still marked as `\text{...}`.

    Idempotent enough to compare two sides; linear in the length of `text`.

    >>> normalise(r"$\dfrac12$."), normalise("**1,234.50**"), normalise("x²")
    ('\\frac{1}{2}', '1234.50', 'x^{2}')
    """
    text = _NEGATIVE_POWER.sub(lambda m: "^{-" + m[1].translate(_SUPERSCRIPTS) + "}", text)
    text = _POWER.sub(lambda m: "^{" + m[0].translate(_SUPERSCRIPTS) + "}", text)
    text = _join_thousands(text)
    text = text.translate(_TABLE).strip()
    text = _BOLD.sub(r"\2", text)
    text = _unwrap_box(_DELIMITERS.sub("", text).strip())
    text = _NOISE.sub("", _COLOR.sub("", text))
    for pattern, name in _RENAMED:
        text = pattern.sub(name, text)
    text = _SPACING.sub(" ", text)
    text = _TEXT.sub(r"\\text{\1}", text)
    text = _TEXT_MARK.sub(_unwrap_value, text)
    text = _join_thousands(text)
    text = _PERCENT_WORD.sub("%", text)
    text = text.replace("**", "^")
    text = _OVER.sub(r"\\frac{\1}{\2}", text)
    text = _FRAC_DIGITS.sub(r"\\frac{\1}{\2}", text)
    text = _FRAC_FIRST.sub(r"\\frac{\1}", text)
    text = _FRAC_SECOND.sub(r"\1{\2}", text)
    text = _SQRT_PLAIN.sub(r"\\sqrt{\1}", text)
    text = _SQRT_BARE.sub(r"\\sqrt{\1}", text)
    text = _SCRIPT.sub(r"\1{\2}", text)
    text = _LOOSE_SPACE_BUT_UNITS.sub("", _SPACE_RUN.sub(" ", text))
    text = text.strip(" .")
    return _unwrap_group(text)


def plain(normal: str) -> str:
    r"""Return a normal form with its `\text{...}` marks removed.

    >>> plain(normalise(r"\text{ east }"))
    'east'
    """
    text = _TEXT_MARK.sub(r" \1 ", normal)
    return _LOOSE_SPACE.sub("", _SPACE_RUN.sub(" ", text)).strip(" .")


def words_only(text: str) -> str | None:
    """Return the case-free form of an answer made of words, None where it is not.

    Only words of three letters and more (and yes/no) lose their case: `AB` may name a segment.

    >>> words_only("The Wednesday"), words_only("No"), words_only("AB")
    ('wednesday', 'no', None)
    """
    words = text.replace(",", " ").split()
    if not words or not all(word.replace("-", "").replace("'", "").isalnum() for word in words):
        return None
    if words[0].lower() in ("the", "a", "an") and len(words) > 1:
        words = words[1:]
    letters = [word for word in words if not word.isdigit()]
    if not letters or not any(len(w) >= 3 or w.lower() == "no" for w in letters):
        return None
    return " ".join(words).casefold()


def _join_thousands(text: str) -> str:
    return _THOUSANDS.sub(lambda m: "".join(c for c in m[0] if c.isdigit()), text)


def _unwrap_value(found: re.Match[str]) -> str:
    """Unwrap a font command around a value: only words keep their mark, as they may be units."""
    inner = found[1].strip()
    is_value = _CHOICE_LETTER.fullmatch(inner) or any(c.isdigit() for c in inner)
    return f" {inner} " if is_value else found[0]


def _unwrap_box(text: str) -> str:
    for _ in range(_MAX_WRAPPERS):
        if not text.startswith(("\\boxed{", "\\fbox{")):
            break
        opener = text.index("{")
        if not _closes_at_end(text, opener):
            break
        text = text[opener + 1 : -1].strip()
    return text


def _unwrap_group(text: str) -> str:
    """Drop brackets around the whole: `{42}` and `(42)` are 42; `{1,2}` and `(1,2)` keep them."""
    for _ in range(_MAX_WRAPPERS):
        if text[:1] not in ("{", "(") or "," in text or ";" in text or not _closes_at_end(text, 0):
            break
        text = text[1:-1].strip(" .")
    return text


def _closes_at_end(text: str, opener: int) -> bool:
    """Whether the bracket at `opener` closes with the last character."""
    pair = {"{": "{}", "(": "()"}[text[opener]]
    if not text.endswith(pair[1]):
        return False
    depth = 0
    for found in _BRACKET.finditer(text, opener):
        depth += {pair[0]: 1, pair[1]: -1}.get(found[0], 0)
        if depth == 0:
            return found.end() == len(text)
    return False
