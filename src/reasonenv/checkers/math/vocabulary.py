"""The words and commands that the tokenizer and the parser know, each in one spelling."""

from __future__ import annotations

from reasonenv.checkers.math.words import words_of

__all__ = [
    "FUNCTIONS",
    "GREEK",
    "JOINERS",
    "KNOWN_FUNCTIONS",
    "LETTER_LIKE",
    "OPERATORS",
    "PERCENT_WORDS",
    "RELATIONS",
    "SKIPPED",
    "TEXT_COMMANDS",
]


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split())


FUNCTIONS = _table(
    "sin=sin cos=cos tan=tan cot=cot sec=sec csc=csc sinh=sinh cosh=cosh tanh=tanh coth=coth "
    "sech=sech csch=csch "
    "arcsin=arcsin arccos=arccos arctan=arctan asin=arcsin acos=arccos atan=arctan tg=tan "
    "ctg=cot arctg=arctan arccot=arccot arcsec=arcsec arccsc=arccsc arsinh=arcsinh "
    "arcsinh=arcsinh asinh=arcsinh arccosh=arccosh arcosh=arccosh acosh=arccosh "
    "arctanh=arctanh artanh=arctanh atanh=arctanh ln=ln log=log lg=lg exp=exp "
    "gcd=gcd lcm=lcm max=max min=min det=det arg=arg"
)
"""Named functions and their one spelling."""

KNOWN_FUNCTIONS = frozenset(FUNCTIONS.values()) | frozenset(
    words_of(
        "sqrt root abs norm floor ceil "
        "factorial doublefactorial binomial percent degree mod arccot "
        "arcsec arccsc arccoth arcsech arccsch"
    )
)
"""Names of calls that are no unknown function."""

GREEK = frozenset(
    words_of(
        "alpha beta gamma delta epsilon varepsilon zeta eta "
        "theta vartheta iota kappa lambda mu nu xi "
        "rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma "
        "Upsilon Phi Psi Omega Pi"
    )
)
LETTER_LIKE = GREEK | frozenset(
    words_of(
        "ell hbar aleph Re Im clubsuit spadesuit heartsuit diamondsuit star bigstar square Box "
        "checkmark partial nabla imath jmath wp top bot natural flat sharp dagger"
    )
)
"""Commands that stand for themselves, as a letter does."""

OPERATORS = _table(
    "cdot=* times=* ast=* div=/ over=over choose=choose pm=+- mp=-+ le=<= leq=<= leqslant=<= "
    "ge=>= geq=>= geqslant=>= lt=< gt=> ne=!= neq=!= approx=~~ simeq=~~ sim=~ equiv=== "
    "in=in isin=in "
    "cup=cup bigcup=cup cap=cap bigcap=cap setminus=setminus backslash=setminus mid=| vert=| "
    "lvert=|l rvert=|r Vert=|| lVert=||l rVert=||r lfloor=lfloor rfloor=rfloor lceil=lceil "
    "rceil=rceil langle=langle rangle=rangle lbrace=\\{ rbrace=\\} lbrack=[ rbrack=] lparen=( "
    "rparen=) colon=: bmod=mod mod=mod pmod=pmod degree=deg degrees=deg circ=circ prime=' "
    "land=and wedge=and lor=or vee=or"
)
"""Commands that are operators or brackets, as the token they become."""

RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!=", "~~", "in", "==", "~"))

SKIPPED = frozenset(
    words_of(
        "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm "
        "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits mathstrut strut quad "
        "qquad thinspace enspace space medspace thickspace negthinspace "
        "nonumber notag bf it rm sf tt "
        "cal Large large LARGE huge Huge small normalsize centering boldmath relax hfill hline "
        "mathbf mathrm mathit mathsf mathtt mathcal mathscr mathfrak boldsymbol bm pmb symbf "
        "operatorname text textbf textit textrm textnormal mbox hbox emph underline vec hat tilde "
        "overrightarrow boxed fbox ensuremath"
    )
)
"""Commands that change only how something looks; their argument stays."""

TEXT_COMMANDS = (
    "text(?:bf|it|rm|sf|tt|sc|normal|up|md)?|mbox|hbox|math(?:rm|bf|it|sf|tt|normal)"
    "|operatorname\\*?"
    "|boldsymbol|bm|pmb|emph|underline"
)
"""A pattern of the commands whose brace-less content may be words."""

JOINERS = frozenset(("and", "or"))
PERCENT_WORDS = frozenset(("percent", "percentage", "pct", "percents"))
