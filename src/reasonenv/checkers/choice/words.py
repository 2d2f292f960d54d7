r"""The words that anchor an answer, in the languages that the judge reads.

Plain words are kept by kind, each kind with the pattern that it becomes. All of them are matched
against folded text; those named `..._LOW` against lower case.
"""

from __future__ import annotations

import re

__all__ = [
    "AFTER_NOUN",
    "CHOSEN_STEMS",
    "CONNECTOR",
    "CORRECTION",
    "CORRECTION_STEMS",
    "FILLER",
    "JOINER",
    "MARK_STEMS",
    "NOUN_STEMS",
    "PREDICATE",
    "PREDICATE_STEMS",
    "RATHER",
    "TERMINATOR",
]


def _listed(*lines: str) -> tuple[str, ...]:
    """Return the stems that stand in lines, with commas between."""
    return tuple(stem for line in lines for stem in line.split(",") if stem)


NOUN_STEMS = _listed(
    (  # English
        "answer ans choice option selection pick solution response conclusion verdict letter"
        # German, French, Spanish, Portuguese, Italian, Dutch, Polish
        " antwort lösung wahl réponse reponse choix respuesta opción opcion alternativa elección"
        " resposta opção opcao escolha gabarito risposta opzione scelta soluzione antwoord keuze"
        " optie odpowiedź odpowiedz odpowiedzią rozwiązanie wybór"
        # Russian, Ukrainian, Turkish, Azerbaijani
        " ответ вариант выбор відповідь варіант cevap cevab yanıt seçenek şık"
        # Chinese, Japanese, Korean
        " 答案 答 正确选项 选项 正確答案 答え 正解 解答 回答 正答 選択肢 정답 답 선택지"
        # Arabic, Persian, Hindi, Bengali, Vietnamese, Indonesian
        " الإجابة الاجابة إجابة الجواب جواب الخيار الاختيار الحل پاسخ گزینه उत्तर जवाब विकल्प উত্তর"
        " jawaban pilihan"
        # Swedish, Danish, Norwegian, Finnish, Czech, Romanian, Hungarian, Greek, Hebrew, Thai
        " svar vastaus odpověď odpoveď răspuns válasz απάντηση תשובה คำตอบ"
    ).replace(" ", ","),
    "đáp án,câu trả lời,trả lời,phương án,lựa chọn,right one,correct one,correct:,right answer:"
    ",remaining:,richtig:,correcta:,ans.",
)
"""Nouns for the answer, in lower case; several words where a language has no shorter one."""

_QUALIFIER = (
    r"choice|option|letter|number|key|label|text|here|therefore|then|thus|hence|so|clearly"
    r"|definitely|certainly|obviously|indeed|overall|final|correct|right|best|that fits(?: best)?"
    r"|(?:to|for|of|in) (?:this|the|that|your|our)"
    r"(?: (?:above|given|last|first|original|following))?"
    r"(?: (?:question|problem|quiz|riddle|one|case|exercise|item))?"
    r"|among (?:the|these) (?:options|choices)|i (?:choose|pick|select|chose)|(?:i'd|i would) give"
    r"|richtige|korrekte|finale|endgültige|correcte?|finale?|exacte|juste|correcta|final|correta"
    r"|certa|corretta|finale|giusta|esatta|definitiva|à la question|a la pregunta|alla domanda"
    r"|juiste|correct|prawidłowa|poprawna|końcowa|właściwa|правильный|верный|окончательный"
    r"|الصحيحة|الصحيح|النهائية|النهائي|hakim|yang benar|yang tepat|akhir|benar|terakhir"
    r"|đúng|chính xác|cuối cùng|nın|sı|ı|en|et|ul|ul corect"
)
_COPULA = (
    r"is|are|was|'s|will be|would be|must be|must then be|should be|has to be|have to be"
    r"|ought to be|seems to be|appears to be|remains|becomes|could be|might be|may be|can be"
    r"|can only be|is therefore|is thus|is then|is most likely|is probably|is likely"
    r"|ist|lautet|wäre|sind|muss|heißt|sein|est|serait|sera|sont|es|sería|será|son|debe ser"
    r"|è|e'|sarebbe|sarà|deve essere|é|seria|deve ser|luidt|zou|to|jest|brzmi"
    r"|это|является|будет|це|هو|هي|هى|है|हैं|là|adalah|ialah|yaitu|är|er|on|je|este|είναι"
    r"|คือ|olarak|olan"
)
_NEGATED = (
    r"isn't|is not|is never|is neither|is nor|are not|aren't|was not|wasn't|cannot be|can't be"
    r"|can not be|could not be|couldn't be|won't be|wouldn't be|would not be|must not be"
    r"|should not be|is (?:certainly|definitely|clearly|probably|surely|obviously) not"
    r"|ist nicht|kann nicht|n'est (?:pas|ni)|ne peut pas être|no es|no puede ser|non è|não é"
    r"|nie jest|to nie|is niet|kan niet|не|ليست?|não pode ser|non può essere|không phải(?: là)?"
    r"|bukan|är inte|er ikke"
)
_CJK_COPULA = (
    r"应该是|應該是|应该选|应当是|应为|應為|应选|是选项|是选|就是|选择|选|是|为|為"
    r"|は|が|은|는|이|가|："
)
_CJK_NEGATED = r"不是|不为|并非|不可能是|不选"
AFTER_NOUN = (
    r"(?P<plural>s|es|en|ın|ı|nya)?(?P<close>[*_\"'\])】」』]{0,4})"
    rf"(?P<qualifier>(?:[ \t]{{0,3}}[(\[]?(?:{_QUALIFIER})\b[)\]]?){{0,4}})"
    r"[*_\"'\])】」』]{0,4}[ \t]{0,4}"
    rf"(?:(?P<not>(?:{_NEGATED})(?!\w)|{_CJK_NEGATED})"
    rf"|(?P<is>(?:{_COPULA})(?!\w)|{_CJK_COPULA})[ \t]{{0,3}}[:：]?"
    r"|(?P<colon>[:：=]|[-–—](?=[\s*])|\||->|=>|→|⇒)"
    r"|(?P<heading>[*_#:]{0,6}[ \t]{0,4}(?=\n))"
    r"|(?P<bare>))"
)
"""After such a noun, in lower case: what says that the answer follows."""

_CHOSEN = _listed(
    "choose,chose,pick,select,go with,going with,went with,go for,going for,vote for,voting for"
    ",opt for,settle on,settling on,settle for,answer with,left with,leaves us with,leaves"
    ",leaving us with,leaving only,leaving,must be,has to be,it's,it is,that's,that is"
    ",that would be"
    ",it would be,it should be,we get,we obtain,gives us,yields,looks like,seems like,sounds like"
    ",i think,i say,i'd say,i would say,i guess,i believe,stick with"
    ",sticking with,commit to,my answer to,switch to,lean towards,leaning towards,lean to"
    ",ich wähle,wähle ich,nehme ich,ich nehme,für option,entscheide mich für,tippe auf,bleibt nur"
    ",es ist,richtig ist,richtig wäre,korrekt ist,la bonne est,la correcta es"
    ",lo correcto es,o correto é,a certa é,la corretta è"
    ",a correta é,je choisis,choisis,je dirais,c'est,il reste,elijo,escojo,selecciono,opto por"
    ",me quedo con,diría,es la,escolho,seleciono,marco,fico com,scelgo,seleziono,opto per,direi"
    ",ik kies,kies ik,wybieram,stawiam na,zostaje,выбираю,выберу,остаётся,остается"
    ",选择,选,選擇,選,chọn,memilih,pilih,أختار,اخترت,اختر,jag väljer,jeg velger,jeg vælger"
    ",so,hence,thus,therefore,daher,somit,also,donc,quindi,portanto,por tanto,por lo tanto,zatem"
    ",więc,поэтому,значит,следовательно,因此,所以,故,vybírám,aleg,seçiyorum:,je vais avec"
    ",me decanto por,escolheria,elegiría,escogería,sceglierei,choisirais,ich würde,würde ich"
    ",ik zou voor,ik zou,opterais pour,而是"
)
CHOSEN_STEMS = (*_CHOSEN, ",是")
"""Verbs before an option, in lower case."""

PREDICATE = (
    r"(?P<predicate>"
    r"(?:,?\s{0,2}(?:therefore|thus|clearly|indeed|then),?)?\s{0,3}"
    r"(?:\s(?:is|was|seems(?: to be)?|appears to be|looks|remains|must be|has to be|should be|as)"
    r"|'s)\s"
    r"(?:(?:the|my|our|clearly|therefore|thus|indeed|definitely|also|then|obviously|certainly"
    r"|probably|most likely|likely|hence|actually|a|only|single|overall|in fact|really|final)\s)"
    r"{0,4}(?:correct|right(?!-)|best|answer|choice|final|only one|most (?:accurate|appropriate"
    r"|likely|plausible|suitable|reasonable|logical|probable)|option (?:that|which)"
    r"|valid (?:answer|option|choice)|closest|odd one out|winner"
    r"|answer)(?!\w)"
    r"|\sis (?:the|my) (?:only |single )?(?:one|option|choice|answer) (?:that|which|to)(?!\w)"
    r"|\s(?:the|my) (?:best|correct|right|only possible|only|final|obvious)\s"
    r"(?:reading|answer|choice|option|fit|match|pick|one|candidate)(?!\w)"
    r"|\s(?:fits|matches|works|describes it|answers it) (?:best|the best|perfectly|exactly)(?!\w)"
    r"|\s{0,2}(?:<-{1,3}|←)(?=\s*(?:this|that|correct|right|my|the|answer|here|\Z|\n|\())"
    r"|\s(?:is|seems|looks) (?:clearly |much )?better(?=\s{0,3}(?:[.!;]|\n|\Z))"
    r"|\s(?:fits|survives|wins|remains|is left|stands|is my (?:choice|answer|pick)|it is"
    r"|gets my vote|is what i (?:choose|pick))(?=\s{0,3}(?:[.!,;:)]|\n|\Z))"
    r"|\s?[:=|—–-]\s{0,3}\**(?:correct|right|yes|true|richtig|wahr|ja|correcta?|verdadero|vrai"
    r"|oui|vero|sì|sim|certo|poprawn[aey]|верно|да|正确|对|正しい)\**(?![\w'-])"
    r"|[^\S\n]{0,3}[\])*:|—–-]{0,4}[^\S\n]{0,3}(?:✅|✓|✔|☑|🗸|\(correct\)|\[correct\]|\(✓\))"
    # German, French, Spanish, Portuguese, Italian, Dutch, Polish
    r"|\s(?:ist|stimmt|est|es|está|é|è|is|jest|to|är|er)\s(?:(?:die|das|la|le|a|o|de|het|ta|also"
    r"|somit"
    r"|daher|donc|eindeutig)\s)?(?:richtig|korrekt|zutreffend|correcta?|correcte|juste|exacte?"
    r"|bonne|respuesta|resposta|corrett[ao]|giust[ao]|esatt[ao]|risposta|cert[ao]|juiste?|goede?"
    r"|antwort|réponse|antwoord|poprawn[aąey]|prawidłow[aąey]|właściw[aąey]|correta|rätt|riktig)"
    r"|\s(?:richtig|korrekt)(?=\s{0,3}(?:[.!,;)]|\n|\Z))"
    r"|\s(?:stimmt|trifft zu|passt(?: am besten)?|convient|corresponde)(?=\s{0,3}(?:[.!,;)]|\n|\Z))"
    # Russian, Turkish, Vietnamese, Indonesian
    r"|\s?(?:[—–-]\s|является\s|это\s)?(?:правильн|верн|подходит)\w*"
    r"|\s(?:şıkkı |seçeneği |)(?:doğru(?:dur)?|doğru cevaptır|seçiyorum|seçeneğini seçiyorum"
    r"|şıkkını seçiyorum)(?!\w)(?!\s{0,2}değil)"
    r"|\s(?:là (?:đáp án|câu trả lời|phương án)?\s?đúng|đúng|adalah jawaban|benar|yang benar)(?!\w)"
    # Chinese, Japanese, Korean
    r"|(?:选项|項|项)?(?:是|为|為|才是|就是|最|应该是)?(?:正确|正確|对的|符合题意|最符合|符合|最佳|最合适)"
    r"|[がはを](?:最も)?(?:正しい|正解|適切|正答|答え|選びます|選ぶ|選択します)"
    r"|(?:번)?(?:이|가|을|를|은|는)?\s?(?:정답|맞|옳|답입|답이|선택합니다|고르겠)"
    # Arabic, Hindi
    r"|\s(?:هو|هي)?\s?(?:الصحيح[ةه]?|صحيح[ةه]?|الإجابة|الجواب)"
    r"|\s(?:ही )?(?:सही|उत्तर|सबसे सही)(?!\s?(?:नहीं))"
    r")(?!\s?(?:不|नहीं|değil))"
    r"(?!\s(?:only|about|for|if|when|that|in saying|to|but|except|unless|although|not)\b)"
)
"""After a label: words that call it right."""

PREDICATE_STEMS = _listed(
    "correct,right,best,answer,choice,final,fits,matches,works,survives,wins,remains,is left,stands"
    ",it is,my vote,closest,most ,odd one,winner,option that,option which,only one,only option"
    ",my pick,better,<-,←,: yes,: true,richtig,korrekt,zutreff,stimmt"
    ",trifft,passt,juste,exact,bonne,réponse,respuesta,resposta,corrett,giust,esatt,risposta,cert"
    ",juist,goede,antwoord,antwort,poprawn,prawidłow,właściw,correta,правильн,верн,подходит,doğru"
    ",seçiyorum,đúng,jawaban,benar,✅,✓,✔,☑,正确,正確,对的,符合,最佳,最合适,正しい,正解,適切,正答,選,정답,맞"
    ",옳,답,선택합,고르,الصحيح,صحيح,الإجابة,الجواب,सही,उत्तर"
)
"""In lower case: one of these stands in each predicate."""

MARK_STEMS = (
    *("\\box", "\\fbox", "####", "<ans>", "<final>", "[ans]", '": true', '":true'),
    *("[x]", "✅", "✓", "✔", "☑", "👉", "➡"),
)
"""Markup, in lower case."""

CORRECTION_STEMS = _listed(
    "wait,actually,sorry,rather,oops,correction,instead,update,edit,nein,plutôt,mejor,anzi,i mean"
    ",make that,scratch that,on second thought,after review,no,now,change,changed,on reflection"
    ",不对"
    ",不，"
)
"""Words that may begin a correction, in lower case."""

JOINER = (
    r"(?:(?:,|/|&|\+|;|\||、|，|\band\b|\bor\b|\band/or\b|\bund\b|\boder\b|\bet\b|\bou\b|\by\b|\bo\b"
    r"|\be\b|\bof\b|\ben\b|\bi\b|\blub\b|\bи\b|\bили\b|\bve\b|\bveya\b|\bvà\b|\bhoặc\b|\bdan\b"
    r"|\batau\b|和|或者|或|及|与|以及|还是|と|や|か|또는|와|과|\bأو\b|\bو|\bऔर\b|\bया\b)\s{0,3}){1,2}"
)
"""Between two labels of one list."""
FILLER = (
    r"(?:(?:and|or|und|oder|选|maybe|possibly|perhaps|probably|even|also|both|either|option|choice"
    r"|answer|the)\s{1,3}){0,2}"
)
RATHER = (
    r"(?:most likely|more likely|probably|likely|preferably|but more likely|if i (?:have|had) to"
    r" (?:choose|pick|guess)|i(?:'d| would| will|'ll) (?:say|pick|choose|go with|guess)"
    r"|leaning (?:to|towards?)|i lean (?:to|towards?)|i think|i choose|i pick|so|finally"
    r"|best guess(?: is)?|my pick(?: is)?|better)"
)
"""After two labels: words that settle for one of them."""
CORRECTION = (
    r"(?:\b(?:[Nn]o|[Ww]ait|[Aa]ctually|[Ss]orry|[Rr]ather|[Ii] mean|[Oo]ops|[Cc]orrection"
    r"|[Mm]ake that|[Ss]cratch that|[Oo]n second thoughts?|[Oo]n reflection|[Ii] meant|[Nn]ow"
    r"|[Ii]nstead"
    r"|[Cc]hanged? (?:it|that|my answer)|[Uu]pdate|[Ee]dit|[Aa]fter review|[Nn]ein|[Nn]on|[Dd]och"
    r"|[Mm]ejor dicho|[Pp]lutôt|[Aa]nzi|[Aa]liás)\b|不，|不对)"
)
"""Words that take an answer back before they give another."""
TERMINATOR = r"(?:\Z|\n|[.!,;。！，；)\]*_\"'—–-]|\b(?:because|since|as|instead|then)\b)"
CONNECTOR = re.compile(
    r"(?:\b(?:so|hence|thus|therefore|is|it's|be|gives|with|now|leaves|then|option|choice|i\.e\."
    r"|only"
    r"|leaving|say|to|also|daher|somit|folglich|bleibt|donc|reste|luego|por tanto|por lo tanto"
    r"|quindi"
    r"|dunque|portanto|logo|assim|dus|zatem|więc|czyli|значит|следовательно|поэтому|итак|yani"
    r"|dolayısıyla|vậy|nên|jadi|maka)\b[,:]?"
    r"|[:：,—–.!?。，、]|所以|因此|故|选|選|よって|따라서|→|=>|->|⇒)[\s*_\"'$(\[]*"
    r"(?:(?:option|choice|letter)\s+)?",
    re.IGNORECASE,
)
"""Words or marks that may lead to the last words of a reply."""
