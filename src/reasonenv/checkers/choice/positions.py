"""Options named by their place: "the second option", "option 3", "the last one" (policy 14)."""

from __future__ import annotations

import re

from reasonenv.checkers.choice.options import Options
from reasonenv.checkers.choice.reading import Reading, Slot

__all__ = ["read_position"]

_ORDINALS = (
    "first 1st erste ersten première premier primera primero primeira primeiro prima primo eerste"
    " pierwsza первый первая birinci",
    "second 2nd zweite zweiten deuxième seconde segunda segundo seconda secondo tweede druga"
    " второй вторая ikinci",
    "third 3rd dritte dritten troisième tercera tercero terceira terceiro terza terzo derde trzecia"
    " третий третья üçüncü",
    "fourth 4th vierte vierten quatrième cuarta cuarto quarta quarto vierde czwarta четвёртый"
    " четвертый dördüncü",
    "fifth 5th fünfte fünften cinquième quinta quinto vijfde piąta пятый beşinci",
    "sixth 6th sechste sechsten sixième sexta sexto sesta sesto",
    "seventh 7th siebte siebten septième séptima séptimo sétima sétimo settima",
    "eighth 8th achte achten huitième octava octavo oitava oitavo ottava",
    "ninth 9th neunte neunten neuvième novena noveno nona",
    "tenth 10th zehnte zehnten dixième décima décimo",
)
_PLACE = {word: place for place, words in enumerate(_ORDINALS, 1) for word in words.split()}
_LAST = [
    "last",
    "letzte",
    "letzten",
    "dernière",
    "dernier",
    "última",
    "último",
    "ultima",
    "ultimo",
    "laatste",
    "ostatnia",
]
_KINDS = (
    r"option|choice|one|answer|alternative|item|possibility|antwort|réponse|proposition|opción"
    r"|opção|alternativa|respuesta|resposta|opzione|risposta|optie|antwoord|odpowiedź|opcja"
    r"|вариант|ответ|seçenek|şık"
)
_POSITION = re.compile(
    rf"(?:it is |it's |is |es ist |c'est |es |è |é )?"
    rf"(?:the\s+|die\s+|la\s+|le\s+|el\s+|il\s+|a\s+|o\s+|de\s+)?(?:very\s)?"
    rf"(?P<place>{'|'.join(sorted([*_PLACE, *_LAST], key=len, reverse=True))})"
    rf"\s+(?:{_KINDS})(?!\w)"
    r"|第(?P<han>[一二三四五六七八九十]|\d{1,2})\s?(?:个|個|项|項|つ目|の)?(?:选项|選項|選択肢|答案|$)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:the\s+)?(?:option|choice|number|answer|no\.?|nr\.?|#|选项|選択肢|opción|opção|opzione|antwort"
    r"|seçenek|вариант)\s*(?:number\s*|no\.?\s*|#)?[(\[]?(\d{1,3})(?![\d.,%]*[\d%])[)\]]?",
    re.IGNORECASE,
)
_PLAIN_NUMBER = re.compile(r"(\d{1,2})(?:번|番|号)(?![\w])")


def read_position(slot: str, options: Options) -> Slot | None:
    """Return the option at the place that a slot names, None where it names no place.

    "Option 4" where "4" is another option's text is ambiguous.
    """
    found = _POSITION.match(slot)
    if found:
        if found["han"]:
            han = found["han"]
            return options.at(int(han) if han.isdigit() else "一二三四五六七八九十".index(han) + 1)
        word = found["place"].lower()
        return options.at(len(options.texts) if word in _LAST else _PLACE[word])
    numbered = _NUMBERED.match(slot) or _PLAIN_NUMBER.match(slot)
    if not numbered:
        return None
    if not options.labels.are_letters and options.labels.index(numbered[1]) >= 0:
        return options.label(numbered[1])
    place = options.at(int(numbered[1]))
    clash = options.whole(numbered[1])
    if clash is not None and clash.positions != place.positions:
        return Slot(Reading.AMBIGUOUS, (*clash.positions, *place.positions), "position")
    return place
