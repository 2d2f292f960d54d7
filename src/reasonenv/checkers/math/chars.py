"""Folding Unicode to the ASCII and LaTeX spelling of the same character; nothing else."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["fold"]

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣʸ", "0123456789+-=()nixy", strict=True))
_SUB = dict(
    zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-=()aehijklmnoprstuvx", strict=True)
)
_SUPERS = re.compile(f"[{''.join(_SUPER)}]+")
_SUBS = re.compile(f"[{''.join(_SUB)}]+")

_MATHEMATICAL = re.compile("[\U0001d400-\U0001d7ff]+")

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon",
    "ζ": "zeta", "η": "eta", "θ": "theta", "ϑ": "theta", "ι": "iota", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma",
    "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega", "π": "pi",
}  # fmt: skip
_COMMANDS = {
    "∞": "infty", "±": "pm", "∓": "mp", "≤": "leq", "≥": "geq", "⩽": "leq", "⩾": "geq",
    "≦": "leq", "≧": "geq",
    "≠": "neq", "≈": "approx", "≡": "equiv", "∈": "in", "∉": "notin", "∪": "cup", "∩": "cap",
    "∖": "setminus", "∅": "emptyset", "⌀": "emptyset", "√": "sqrt", "∣": "mid", "⌊": "lfloor",
    "⌋": "rfloor", "⌈": "lceil", "⌉": "rceil", "⟨": "langle", "⟩": "rangle", "∧": "land",
    "∨": "lor", "∠": "angle", "△": "triangle", "→": "to", "…": "ldots", "×": "times",
    "÷": "div", "⋅": "cdot", "·": "cdot", "∙": "cdot", "•": "cdot", "∘": "circ",
}  # fmt: skip
_TABLE: dict[int, str] = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full width
    **{ord(c): "-" for c in "−–—‐‑‒﹣➖"},
    **dict.fromkeys((0xA0, *range(0x2002, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **{ord(c): "" for c in "\u200b\u200c\u200d\u2060\ufeff\ufe0f\u2061\u2062"},
    **{ord(c): rf"\{name} " for c, name in (_GREEK | _COMMANDS).items()},
    ord("∛"): r"\sqrt[3]",
    ord("∜"): r"\sqrt[4]",
    ord("⁄"): "/",
    ord("∕"): "/",
    ord("º"): "°",
    ord("˚"): "°",
    ord("′"): "'",
    ord("’"): "'",
    ord("‘"): "'",
    ord("“"): '"',
    ord("”"): '"',
    ord("，"): ",",
    ord("、"): ",",
    ord("；"): ";",
    ord("："): ":",
    ord("。"): ".",
    ord("∶"): ":",
    ord("ℝ"): r"\mathbb{R}",
    ord("ℤ"): r"\mathbb{Z}",
    ord("ℕ"): r"\mathbb{N}",
    ord("ℚ"): r"\mathbb{Q}",
    ord("ℂ"): r"\mathbb{C}",
    ord("∗"): "*",
    ord("⟯"): ")",
    ord("％"): "%",
}  # fmt: skip
for _code in (0xBC, 0xBD, 0xBE, *range(0x2150, 0x215F)):  # ½ ¾ ⅓ ...
    _top, _, _bottom = unicodedata.normalize("NFKC", chr(_code)).partition("⁄")
    _TABLE[_code] = f"\\frac{{{_top}}}{{{_bottom}}}"


def fold(text: str) -> str:
    r"""Return `text` with look-alikes, Greek, powers and signs in one spelling; linear.

    >>> fold("−x²≤½")
    '-x^{2}\\leq \\frac{1}{2}'
    """
    if text.isascii():
        return text
    text = _MATHEMATICAL.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    text = _SUPERS.sub(lambda m: "^{" + "".join(_SUPER[c] for c in m[0]) + "}", text)
    text = _SUBS.sub(lambda m: "_{" + "".join(_SUB[c] for c in m[0]) + "}", text)
    return text.translate(_TABLE)
