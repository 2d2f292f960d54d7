"""`LanguageConsistency`: whether a completion keeps to one language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.types import Group

__all__ = ["LANGUAGES", "LanguageConsistency"]

# Unicode's blocks of each script, as the inside of a regular expression's class.
_SCRIPTS = {
    "latin": r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff",
    "cyrillic": r"\u0400-\u052f",
    "greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "arabic": r"\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff",
    "hebrew": r"\u0590-\u05ff",
    "devanagari": r"\u0900-\u097f",
    "thai": r"\u0e00-\u0e7f",
    "han": r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
    "kana": r"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "hangul": r"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff",
}

LANGUAGES: dict[str, tuple[tuple[str, ...], str]] = {
    "ar": (("arabic",), ""),
    "de": (("latin",), "und der das ist nicht wir für sich auf eine einen auch dann wird haben"),
    "el": (("greek",), ""),
    "en": (("latin",), "the and is of we that this it are with which then from have there"),
    "es": (("latin",), "el los las que por una con para como del entonces tenemos más se"),
    "fr": (("latin",), "le les et est nous des du dans une donc qui avec alors ainsi avons"),
    "he": (("hebrew",), ""),
    "hi": (("devanagari",), ""),
    "it": (("latin",), "il le che di è gli una della sono con quindi nel abbiamo anche questo"),
    "ja": (("han", "kana"), ""),
    "ko": (("hangul",), ""),
    "pt": (("latin",), "os que é uma não com para então temos mais são da em por ao"),
    "ru": (("cyrillic",), "и не что это мы как на из для тогда если получаем имеем где чтобы"),
    "th": (("thai",), ""),
    "uk": (("cyrillic",), "і й не що це ми як на із для тоді якщо отримуємо маємо де щоб"),
    "zh": (("han",), ""),
}
"""Language -> its scripts, and words that are frequent in it and tell it from its neighbours."""

# What is no language: LaTeX commands, tags, and names of one letter, with primes and indices.
_NO_WORDS = re.compile(r"\\[A-Za-z]+|</?\w{1,32}>")
_WORD = re.compile(r"[^\W\d_]+")
_WHOLE = ("han", "kana", "hangul", "thai")  # a letter of these is a word or a syllable


@dataclass(frozen=True, repr=False)
class LanguageConsistency(Term):
    """How far a completion keeps to one language: its script, and its frequent words.

    Formula: r = s * w. s = letters in the language's scripts / all letters; LaTeX commands, tags
    and words of a single letter (x, α) do not count, unless each letter of the script is a syllable
    or a word. w = the least, over the other languages of the same script, of (a + 1) / (a + b + 1),
    a and b = how often frequent words of the language, and of the other one, stand there, words
    that both share left out. r = 0 for a text without letters: silence keeps to no language.
    Range: [0, 1], right or wrong. Not potential-based.

    What it cannot see: sense (one word of the language, said or repeated, earns it all); languages
    of one script that `LANGUAGES` does not list; Chinese in a Japanese text without kana; program
    code, which is read as text of Latin script. Source: the language consistency reward of
    DeepSeek-R1 (arXiv 2501.12948: the share of words in the target language), by script and
    frequent words instead of a language model.

    Args:
        language: a two-letter code of `LANGUAGES`.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = [Rollout(Problem("2+2=", "4"), t) for t in ("the sum is four", "the sum 等于四")]
    >>> group = [Judged(one, Verdict("incorrect")) for one in said]
    >>> LanguageConsistency("en")(group).total.round(2).tolist()
    [1.0, 0.67]
    """

    language: str = "en"

    def __post_init__(self) -> None:
        if not isinstance(self.language, str) or self.language not in LANGUAGES:
            hint = did_you_mean(str(self.language), LANGUAGES)
            raise RewardError(f"LanguageConsistency knows no language {self.language!r}; {hint}")

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each member's share of the language."""
        return [self._share(judged.rollout.text) for judged in group]

    def _share(self, text: str) -> float:
        words = _WORD.findall(_NO_WORDS.sub(" ", text))
        inside, whole = _class(LANGUAGES[self.language][0]), _class(_WHOLE)
        letters = "".join(word for word in words if len(word) > 1 or whole.match(word))
        if not letters:
            return 0.0
        share = len(inside.findall(letters)) / len(letters)
        lowered = [word.lower() for word in words]
        likeliest = 1.0
        for mine, theirs in _rivals(self.language):
            own, other = (sum(word in known for word in lowered) for known in (mine, theirs))
            likeliest = min(likeliest, (own + 1) / (own + other + 1))
        return share * likeliest

    def range(self, correct: bool) -> Range:
        """Return [0, 1]."""
        return Range(0.0, 1.0)


@cache
def _class(scripts: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("[" + "".join(_SCRIPTS[script] for script in scripts) + "]")


@cache
def _rivals(language: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return, for each other language of the same script, the frequent words of each alone."""
    scripts, words = LANGUAGES[language]
    own = frozenset(words.split())
    found = []
    for other, (of_other, theirs) in LANGUAGES.items():
        if other != language and of_other == scripts and theirs:
            others = frozenset(theirs.split())
            found.append((own - others, others - own))
    return tuple(found)
