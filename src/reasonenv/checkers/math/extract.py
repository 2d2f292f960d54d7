r"""The final answer of a whole completion (policy P1): where to look, and in which order.

Thinking is cut first. Then, in the lenient mode: a JSON object that ends the reply, the last
`\boxed{}` (adjacent boxes are one list), `<answer>`, the last `#### X` / `answer: X` / `the answer
is X`, and at last what the closing line states. A place that is begun and not finished, or that
negates, means no answer: earlier places are never a fallback for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.math.limits import EXTRACT_CHARS
from reasonenv.checkers.math.read import read
from reasonenv.checkers.math.tree import Text, Unreadable
from reasonenv.checkers.text import after_thinking, brace_pairs, cut_at_stop_token

__all__ = ["Extracted", "extract_answer"]

MAX_LINE_CHARS = 2_000
"""Of a line that may state an answer; a longer one is prose or junk."""
MAX_BARE_WORDS = 3
"""Of a closing line that is an answer by itself and no number."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The final answer (None: there is none) and the place it came from, or why there is none."""

    answer: str | None
    place: str


_CALCULATOR = re.compile(r"<<[\d\s.+*/()$%=-]{1,80}>>")
"""GSM8K's marks: `<<76+46=122>>122`."""
_BOX = re.compile(r"\\f?box(?:ed)?(?![A-Za-z])")
_BARE_BOXED = re.compile(r"[-+]?\w[\w.,/]*")
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot be)|n['’]t)\b[\s$\\(\[*:]{0,8}\Z", re.IGNORECASE
)
NOT_CONTEXT_CHARS = 24
"""Before a box, searched for a negation."""
_BETWEEN_BOXES = re.compile(
    r"(?:[\s,;$]|\\[\s,;!()\[\]]|\\q?quad|\\text\{\s*,?\s*(?:and|or)\s*\}|\b(?:and|or)\b)*"
)
MAX_GAP_CHARS = 60
"""Between two boxes that are one list."""

_JSON_KEY = re.compile(
    r"(?:[{,]\s*[\"']|^[ \t]*)(?P<key>(?:final[_ ]?)?answer)(?=[\"'])", re.IGNORECASE | re.MULTILINE
)
_JSON_ANSWER = re.compile(
    r"[\"']\s*:\s*(?:\"((?:[^\"\\]|\\.)*)\"|\[\s*([^\[\]{}\"]*)\]"
    r"|([-+]?[\d.]+(?:[eE][-+]?\d+)?))"
    r"\s*(?:,\s*\"[^\"{}]*\"\s*:[^{}]*)?,?\s*\}\s*(?:```)?(?P<after>[^\d{}\\]*)\Z",
    re.DOTALL,
)
JSON_TAIL_CHARS = 4_000
"""From the end: where the answer field of a JSON object must begin."""

_CUE = re.compile(
    r"(?P<hash>^[ \t]*####[ \t]*(?=[^\s#]))"
    r"|(?P<head>^[ \t#*_]*(?:the )?(?:final )?answer[*_:]*[ \t]*$)"
    r"|(?P<word>(?<![A-Za-z0-9])(?:answers?|ans|correct (?:option|choice))(?![A-Za-z0-9])"
    r"[*_]{0,3}[ \t]{0,3}"
    r"(?:(?P<verb>is|are)(?P<not>n['’]t|[ \t]+not)?\b[*_]{0,3}[ \t]{0,3}:?|[:=][*_]{0,3}))",
    re.IGNORECASE | re.MULTILINE,
)
_SOMEONE_ELSES = re.compile(
    r"\b(?:reference|expected|gold|given|stored|recorded|official|key|wrong|incorrect|previous|"
    r"first|initial|possible|student'?s?|your|their|his|her|intermediate|if|suppose|"
    r"not true|false)\b[^.!?\n]{0,40}\Z",
    re.IGNORECASE,
)
_OPENER = (
    r"(?:and|so|thus|therefore|hence|finally|then|now|ok|okay|consequently|accordingly|overall|"
    r"in conclusion|to conclude|in summary|as a result|it follows that|this (?:means|shows|gives) "
    r"(?:that )?|which (?:means|shows|gives) (?:that )?|(?:we|I) (?:get|find|obtain|conclude|"
    r"see|have|know) (?:that )?|we can (?:conclude|see) (?:that )?|that|this|here)"
)
_ADJECTIVE = (
    r"(?:final|correct|right|exact|numerical|numeric|simplified|complete|full|only|unique|best|"
    r"short|required|desired|requested|overall|integer|multiple choice|math|[A-Z])"
)
_ASSERTED = re.compile(
    rf"(?:(?:{_OPENER}\s*)*|(?:after|by|from|with|using|in|on|for|at|to|(?!assum|suppos|pretend|"
    r"imagin|doubt|deny|guess|say|claim|believ|think)[a-z]+ing)\b.*)"
    rf"(?:\b(?:the|my|our|an|its))?(?:\s*\b{_ADJECTIVE}\b)*\s*",
    re.IGNORECASE,
)
_NOT_ASSERTED = re.compile(
    r"\b(?:doubt|deny|assum|suppos|imagin|pretend|hypothe|think|thought|believ|guess|claim|say|"
    r"said|says|tell|told|argue|suggest|expect|hope|wish|mistake|wrong|incorrect|false|untrue|"
    r"unlikely|nobody|no one|none|few|might|may|could|would|should|can(?:no|['’])t|if|unless|"
    r"whether|perhaps|maybe|possibl|probabl|nearly|almost|reject|rule out|contradict)",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|never|neither|nor|no|hardly)\b|n['’]t\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:—–-]\s")
MAX_CUES = 100
"""From the end of a completion: a reply that needs more to find its answer has none."""
CUE_CONTEXT_CHARS = 200
"""Before a cue, read for what its sentence says of it."""
OTHERS_CONTEXT_CHARS = 60
"""Before a cue, searched for words that put the answer in another's mouth."""

_RETRACTED = re.compile(
    r"^\W*(?:correction|oops|no[,.!:;]|(?:wrong|incorrect)[.!])|[.!?\n]\W*(?:correction|oops)\b"
    r"|\b(?:(?:that|this|it)(?: is|'s|’s)|I was|I am) (?:wrong|incorrect|not right|mistaken)\b"
    r"|\bscratch that\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"[.!?\n][\s*_$)\]}]*(?:no|nope|wrong|incorrect|false|actually|correction|sorry|oops|wait|hmm|"
    r"rather|(?:but|however|still|yet|though)\b[^\n]*\d)\b",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\b(?:but|though|although|wrong|incorrect|false|untrue|mistak\w*|no|never|actually|truly|rather|"
    r"instead|sorry|oops|wait|correction|unless|until|however|yet|if|when|at (?:least|most|best|"
    r"worst)|give or take|more or less|or (?:so|less|more|thereabouts)|roughly|approximately|"
    r"about|around|ish|plus or minus|on a|up to|probably|presumably|apparently|supposedly|"
    r"allegedly|hypothetically)\b|(?<!, )(?<!,)\bnot\b|n['’]t\b",
    re.IGNORECASE,
)
_IS_WRONG = re.compile(r"[\s$)\]*]{0,6}(?:is|was) (?:wrong|incorrect|not)\b", re.IGNORECASE)
_CORRECTED = re.compile(
    r"\bno,? wait\b|\bwait, |\bactually,? (?:it|the answer)"
    r"|\bI (?:do not|don['’]t) (?:think|believe) so",
    re.IGNORECASE,
)
RETRACTION_CHARS = 120
"""After the last statement, searched for words that take it back."""

_SENTENCE_END = re.compile(r"[.!?。](?=[*_`\"')\]$]{0,4}(?:\s|$))")
_PROSE_TAIL = re.compile(
    r",\s+(?!and\b|or\b)[A-Za-z]{2,}"
    r"|\s(?:because|since|which|so|as|altogether|in total|in all|total)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"^[*_`$\s]*\?|\b(?:could|might|possibl[ey]|perhaps|maybe|alternatively|or)\b[^.\n]*\d",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|never|no longer|used to|could|may|might|maybe|perhaps|possibl[ey]|"
    r"either|if|suppose|guess|unless|cannot|"
    r"reference|expected|gold|grader|checker|claims?|says?|said|mark|correct;|was|were|n't)\b|n['’]t\b",
    re.IGNORECASE,
)
_VALUE_AND_WORDS = re.compile(
    r"\s*((?:\$[^$\n]{1,200}\$|\\\([^\n]{1,200}?\\\)|\$?\d[\d,.]*))((?:\s+[A-Za-z'’-]+){2,12})\s*\Z"
)
_DOUBT_AFTER = re.compile(
    r"\b(?:or|and|not|to|of|minus|plus|times|per|than|less|more|percent|percentage|hundred|"
    r"thousand|million|billion|trillion|dozen|half|third|quarter|squared?|cubed?|cubic|maybe|perhaps|"
    r"mod|modulo|base|factorial|is|if|pi|degrees?)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:thus|so|hence|therefore|then|finally|and|we (?:get|have|find|obtain))\b[,:]?\s*){1,3}",
    re.IGNORECASE,
)
_STATES = re.compile(r"\b(?:is|are|equals|be|costs?|makes?|gives?|earns?|pays?|has|have)\b:?\s+")
_CONCLUDES = re.compile(r"\b(?:that|get|find|obtain|have)\b:?\s+(?=\$|\\\(|[A-Za-z]\s*=)")
_VALUE_START = re.compile(r"[*_`\s]{0,6}(?:[A-Za-z]\s?=|[-+−$\\(\[{\d.€£½-¾√π])")
_WORD = re.compile(r"[A-Za-z]{4,}")
_PICTURE_TAIL = re.compile("\\s*[\U0001f000-\U0001faff\u2705]+\\Z")
_INFINITIVE = re.compile(r"\bto\s+\Z")
_SUM = re.compile(r"[\d$(](?:[\d\s.,$()+*/×÷·−–-])*=")
_CHAINED = re.compile(r"(?:\\lim|\||\\left\||[A-Za-z]\()[^=<>,;]{0,80}(?:=[^=<>,;]{1,80})+")


def extract_answer(
    completion: str, answer_format: AnswerFormat | None = None, strict: bool = False
) -> Extracted:
    """Return the final answer of a completion.

    Args:
        completion: prefill and completion.
        answer_format: where the prompt demanded the answer: looked at first; its reasoning tag is
            thinking.
        strict: whether only that place counts.

    Returns:
        The answer as written, or None with the reason. Linear in the length of `completion`.
    """
    reasoning = answer_format.reasoning if answer_format else None
    text = after_thinking(completion, reasoning)
    if text is None:
        return Extracted(None, "thinking never ends")
    text = _CALCULATOR.sub("", cut_at_stop_token(text)[-EXTRACT_CHARS:])
    if answer_format is not None:
        demanded = answer_format.extract(text)
        if demanded is not None and "\\box" in demanded:
            demanded = _boxed(demanded).answer
        if demanded is not None:
            return Extracted(demanded, "format")
        if strict:
            return Extracted(None, "nothing in the demanded place")
    for place in (_json, _boxed, _tagged, _cued, _closing):
        found = place(text)
        if found.place:
            return found
    return Extracted(None, "no answer stated")


_NOTHING = Extracted(None, "")


def _json(text: str) -> Extracted:
    keys = list(_JSON_KEY.finditer(text, max(0, len(text) - JSON_TAIL_CHARS)))
    found = _JSON_ANSWER.match(text, keys[-1].end("key")) if keys else None
    if not found:
        return _NOTHING
    value = next(group for group in found.groups()[:3] if group is not None)
    # Models write LaTeX in JSON with one backslash or two; only the doubled one is an escape.
    return Extracted(value.replace("\\\\", "\\").replace('\\"', '"').strip(), "json")


def _boxed(text: str) -> Extracted:
    boxes = list(_BOX.finditer(text))
    if not boxes:
        return _NOTHING
    closers = brace_pairs(text)
    spans: list[tuple[int, int, str]] = []  # start, end, content
    for box in boxes:
        if spans and box.start() < spans[-1][1]:
            continue  # a box in a box
        opener = box.end()
        while opener < len(text) and text[opener] in " \t":
            opener += 1
        if text[opener : opener + 1] == "{":
            closer = closers.get(opener)
            if closer is None:
                spans.append((box.start(), len(text), ""))
                break
            spans.append((box.start(), closer + 1, text[opener + 1 : closer].strip()))
        else:
            bare = _BARE_BOXED.match(text, opener) if opener > box.end() else None
            if bare is None:  # the macro's name in prose: "put it in \boxed as requested"
                continue
            if not any(c.isdigit() for c in bare[0]) and len(bare[0]) > 1:
                continue
            spans.append((box.start(), bare.end(), bare[0].rstrip(".,")))
    if not spans:
        return _NOTHING
    contents = [spans[-1][2]]
    for before, after in zip(spans[-2::-1], spans[:0:-1], strict=False):
        gap = text[before[1] : after[0]]
        if len(gap) > MAX_GAP_CHARS or not _BETWEEN_BOXES.fullmatch(gap):
            break
        if before[2] not in contents:
            contents.append(before[2])
    if not contents[0]:
        return Extracted(None, "the last box is empty or never closes")
    start, end, _ = spans[-1]
    if _NOT_BEFORE.search(text[max(0, start - NOT_CONTEXT_CHARS) : start]):
        return Extracted(None, "the last statement is negated")
    if _is_retracted(text, end) or _IS_WRONG.match(text, end):
        return Extracted(None, "the last statement is taken back")
    return Extracted(", ".join(reversed(contents)), "box")


def _is_retracted(text: str, end: int) -> bool:
    return _RETRACTED.search(text, end, end + RETRACTION_CHARS) is not None


def _tagged(text: str) -> Extracted:
    lowered = text.lower()
    opener, closer = lowered.rfind("<answer>"), lowered.rfind("</answer>")
    if opener < 0 and closer < 0:
        return _NOTHING
    if opener < 0 or closer < opener:
        return Extracted(None, "the last <answer> never closes")
    return Extracted(text[opener + len("<answer>") : closer].strip(), "tag")


def _cued(text: str) -> Extracted:
    last, others, before = None, False, ""
    for cue in reversed(list(_CUE.finditer(text))[-MAX_CUES:]):
        before = text[max(0, cue.start() - CUE_CONTEXT_CHARS) : cue.start()]
        if not cue["word"] or not _SOMEONE_ELSES.search(before[-OTHERS_CONTEXT_CHARS:]):
            last = cue
            break
        others = not text[cue.end() :].strip().partition("\n")[2] or others
    if last is None:
        return Extracted(None, "the last statement is not the writer's") if others else _NOTHING
    if last["word"] and not _is_asserted(before):
        return Extracted(None, "the last statement is not asserted")
    line = _first_line(text[last.end() : last.end() + 2 * MAX_LINE_CHARS])
    if last["not"] or re.match(r"[*_\s]{0,4}not\b", line, re.IGNORECASE):
        return Extracted(None, "the last statement is negated")
    end = last.end()
    if _is_retracted(text, end) or _CORRECTED.search(text, end, end + RETRACTION_CHARS):
        return Extracted(None, "the last statement is taken back")
    value = _trim(line)
    rest = line[len(value) :]
    sentence_end = _SENTENCE_END.search(rest)
    if _QUALIFIED.search(rest[: sentence_end.start()] if sentence_end else rest):
        return Extracted(None, "the last statement is qualified")
    after = text[end : end + MAX_LINE_CHARS + RETRACTION_CHARS]
    beyond = after.find(line) + len(value)
    if _TAKEN_BACK.search(after, beyond, beyond + RETRACTION_CHARS):
        return Extracted(None, "the last statement is taken back")
    if _HEDGED.search(rest):
        return Extracted(None, "the last statement is hedged")
    return Extracted(value, "cue") if value else Extracted(None, "the last cue is a stub")


def _is_asserted(before: str) -> bool:
    """Whether the words before a cue, in its sentence, let the writer state what follows."""
    sentence = re.split(r"[.!?]\s|\n", before)[-1]
    sentence = re.sub(r"[^A-Za-z0-9'’,;:—–\s-]+", " ", sentence).strip()
    clauses = _CLAUSE.split(sentence + " ")
    clause = clauses[-1].strip()
    if _NOT_ASSERTED.search(sentence) or _NEGATED.search(clause):
        return False
    return _ASSERTED.fullmatch(clause) is not None


def _closing(text: str) -> Extracted:
    line = text.rstrip()[-MAX_LINE_CHARS:].rpartition("\n")[2].strip().strip("*_` ")
    sentences = [s.strip() for s in re.split(r"(?<=[.!?])\s+", line) if s.strip()]
    if not sentences or _DOUBT.search(sentences[-1]) or _NOT_ASSERTED.search(sentences[-1]):
        return _NOTHING
    sentence = sentences[-1]
    bare = _trim(sentence)
    if bare and not _LEAD.match(line) and _is_bare(line):
        return Extracted(bare, "closing line")
    verbs = list(_STATES.finditer(sentence))
    states = verbs[-1] if verbs else None
    equation = sentence.rfind("=")
    if states is not None and _VALUE_START.match(sentence, states.end()):
        value = _trim(sentence[states.end() :])
        if equation < states.end() + len(value):
            if _INFINITIVE.search(sentence, 0, states.start()) and _has_digit(
                sentence[: states.start()]
            ):
                return Extracted(None, "the last sentence states no value")
            return Extracted(_right_side(value), "closing sentence")
    sums = list(_SUM.finditer(sentence)) if states is not None else []
    if sums and sums[-1].end() == equation + 1 and re.search(r"[+*/×÷·−–-]", sums[-1][0]):
        value = _trim(sentence[equation + 1 :])
        return Extracted(value, "closing equation")
    if states is not None and _VALUE_START.match(sentence, states.end()):
        return Extracted(None, "the last sentence states several values")
    lead = _LEAD.match(sentence)
    rest = sentence[lead.end() :] if lead else sentence
    concluded = list(_CONCLUDES.finditer(rest))
    if concluded:
        rest = rest[concluded[-1].end() :]
    if "=" in rest and not _WORD.search(rest.partition("=")[0]):
        return Extracted(_right_side(_trim(rest)), "closing equation")
    return _NOTHING


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _right_side(value: str) -> str:
    """Return the last side of a chain that the grammar does not read."""
    if "=" not in value or not isinstance(read(value).tree, Text | Unreadable):
        return value
    if not _CHAINED.fullmatch(value.strip("$ ")):
        return value
    return value.rpartition("=")[2].strip("$ ")


def _is_bare(line: str) -> bool:
    if not isinstance(read(line).tree, Text | Unreadable):
        return True
    return len(line.split()) <= MAX_BARE_WORDS and "=" not in line


def _first_line(text: str) -> str:
    for line in text.split("\n"):
        if line.strip(" \t*_#:-—=$") not in ("", "\\[", "\\("):
            return line.strip()
    return ""


def _trim(line: str) -> str:
    """Cut what follows the value in its line: the rest of the prose, and the sentence's period."""
    line = line.strip()
    end = _SENTENCE_END.search(line)
    if end:
        line = line[: end.start()]
    tail = _PROSE_TAIL.search(line)
    if tail and tail.start() > 0:
        line = line[: tail.start()]
    words = _VALUE_AND_WORDS.match(line)
    if words and not _DOUBT_AFTER.search(words[2]):
        line = words[1]
    line = line.strip()
    line = _PICTURE_TAIL.sub("", line)
    if line.count("**") % 2:  # bold that began before the value
        line = line.strip("*").strip()
    return line.lstrip(":").strip() if line.strip("*_`: ") else ""
