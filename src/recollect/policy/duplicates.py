"""Whether two texts say the same: the form that is left when nothing but their clothes is taken off.

Case, punctuation, spacing, links, citations, contractions and the order of what may stand in any order (whole sentences, a time
at either end of its sentence, the items of a list) are clothes. Everything else stays, in its order: every number, unit, date,
name, negation and quoted word, and who did what to whom. Two texts are duplicates exactly when their forms are equal, so it
never matters in which order they came, and a digest of the form finds the other one through an index.

Where in doubt texts differ: a repeat that is missed costs a line, a wrong merge costs a fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from urllib.parse import parse_qsl, urlencode, urlsplit

from recollect.policy.simhash import simhash64

NEAR = 0
"""Bits in which the fingerprints of two texts may differ that are looked at closely. The contract allows 3, but what differs in a
bit differs in a word, and what differs in a word is never the same."""
LONGEST = 400
"""Characters of a sentence in which parts are looked for that may move: a longer one is a text without full stops."""
ENOUGH = 3
"""Words that must be left for a link to be mere company."""

_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"“”，。；！？、）】]+", re.IGNORECASE)
# Only where a sentence or the text ends: "[2]" before a word numbers an item, behind a name it picks one.
_CITATION = re.compile(
    r"(?:(?<=\s)|(?<=[.,;!?。，；！？]))(?:\[(?:\d+(?:\s*[-–,]\s*\d+)*|citation needed|source:[^\[\]]*)\]\s?)+"
    r"(?=\s*(?:[.,;!?。，；！？]|$|\n))|【\d+†[^【】]*】",
    re.IGNORECASE,
)
_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|ref|source|share\w*|spm|si|igshid|mc_[ce]id", re.IGNORECASE)
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff"
_SIGNS = "%$€£¥₹°±≈~^=<>+@§№"
_PAUSES = ",、，:：;()（）"
_TOKEN = re.compile(
    rf"[{_HAN}]"
    rf"|\b[A-Za-z](?:\+\+|[#+-])(?!\w)"
    rf"|[^\W\d{_HAN}]+"
    rf"|(?:(?<!\w)\.)?\d+(?:[.,:/-]\d+)*"
    rf"|[{_PAUSES}]"
    rf"|(?<![\w.,:/-])-(?=\d)|(?<!\S)--?(?=[A-Za-z])|(?<!\w)!(?=\w)|!(?==)"  # signs, switches, "not" in code
    rf"|(?<=\w)[*/\\|](?=\w)|(?<=\d\s)[*/](?=\s\d)"
    rf"|[{re.escape(_SIGNS)}]|&|[?？]"
    rf"|[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
)
_DASHES = str.maketrans("‐‑‒–−", "-----")
_SMALL = re.compile("[a-z]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CAPITALS = re.compile("[A-Za-z][A-Z]|[MGKT]b")
"""Where a text may hold a word that is another one in small letters: the acronyms and the units with capitals below."""
_MERIDIEM = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ`´](?=\w)")
_ABBREVIATED = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|jr|sr|inc|ltd|approx)\.$", re.IGNORECASE)
_LONGEST_ABBREVIATED = 10
# A line that goes on in small letters is the same sentence, wrapped.
_END = re.compile(rf"(?<=[.!?。;…])[\"'”’)\]]*\s+|(?<=[!?。;…])(?=[{_HAN}\[【《“(])|\n\s*\n\s*|\n(?=\s*[^\sa-z])")
_CASED_UNITS = {"Mb": "megabit", "Gb": "gigabit", "Kb": "kilobit", "Tb": "terabit", "mW": "milliwatt", "mHz": "millihz"}
_CONTRACTED = {
    "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not", "arent": "are not", "wasnt": "was not",
    "werent": "were not", "havent": "have not", "hasnt": "has not", "hadnt": "had not", "wont": "will not",
    "wouldnt": "would not", "cant": "can not", "cannot": "can not", "couldnt": "could not", "shouldnt": "should not",
    "mustnt": "must not", "neednt": "need not", "im": "i am", "ive": "i have", "youre": "you are", "youve": "you have",
    "theyre": "they are", "theyve": "they have", "weve": "we have", "&": "and", "？": "?",
}  # fmt: skip
_SPELLED = {word: spelled.split() for word, spelled in _CONTRACTED.items()}

_ACRONYMS = frozenset("US IT WHO OR IN ME AS SO".split())
"""Words that are something else in capitals, unless all is: US is not us, IT is not it."""
_ASKS = frozenset(
    "what when where which who whom whose why how do does did is are am was were can could will would should shall may "
    "might have has had".split()
)
_ASKS_HAN = re.compile(r"[吗呢]$|什么|怎么|怎样|为什么|为何|哪[里个些位儿天种]|多少|是不是|有没有|能不能|谁")
# Sentences that lean on the one before them: moved away from it, "he" would be someone else.
_POINTING = frozenset(
    "he she it they him her them his hers its their theirs this that these those both former latter "
    "他 她 它 这 那 其 此 该".split()
)
_JOINING = frozenset(
    "then but so however also because therefore thus otherwise instead such one ones there here and or later afterwards "
    "next yet still too 但 所 因 然 后 于 也 还 又 而 并".split()
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug"
    r"|sep|sept|oct|nov|dec)"
)
_WHEN = (
    rf"(?:(?:on|every|each|this|next|last) {_DAY}s?(?: (?:morning|afternoon|evening|night))?"
    rf"|on {_MONTH} \d+(?: (?:st|nd|rd|th))?(?: \d{{4}})?|on \d+ (?:(?:st|nd|rd|th) )?(?:of )?{_MONTH}(?: \d{{4}})?"
    rf"|in {_MONTH}(?: \d{{4}})?|in \d{{4}}|since \d{{4}}"
    rf"|(?:yesterday|today|tomorrow|tonight)(?: (?:morning|afternoon|evening|night))?"
    rf"|(?:this|next|last|every|each) (?:week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|autumn|fall)"
    rf"|in the (?:morning|afternoon|evening)|at (?:noon|midnight|night)"
    rf"|\d+ (?:day|week|month|year)s? ago|(?:a|two|three|four|five|six) (?:day|week|month|year)s? ago"
    rf"|(?:nowadays|currently|recently|lately|usually|sometimes|often))"
)
_LEADING = re.compile(rf"^({_WHEN})\x1f? (?=\S)")
_TRAILING = re.compile(rf"(?<=\S)\x1f? ({_WHEN})$")
_WHEN_HAN = (
    r"(?:[今明昨后前]天|今晚|明晚|昨晚|明早|今早|每[天周月年]|[上下这本]?个?(?:周|星期|礼拜)[一二三四五六日天末]"
    r"|[上下这本]个?(?:周|月|星期)|[今去明前]年|\d{1,2}月\d{1,2}[日号])(?:早上|上午|中午|下午|晚上|傍晚|夜里)?"
)
_WHO_HAN = r"我们|我|他们|他|她们|她|你们|你|咱们|大家"
_LEADING_HAN = re.compile(rf"({_WHEN_HAN})(?={_WHO_HAN})")
_MIDDLE_HAN = re.compile(rf"({_WHO_HAN})({_WHEN_HAN})")
# With two clauses, a time at the end belongs to the second of them and one at the beginning to the first.
_TWO_CLAUSES = re.compile(
    r"\b(?:sa(?:id|ys?)|told|tells?|thinks?|thought|believed?|knows?|knew|heard|hears?|ask(?:ed|s)?|promised?|decided?|agreed"
    r"|wants?|wanted|plan(?:s|ned)?|hoped?|hopes|remember(?:s|ed)?|learn(?:ed|t)|announced|that|if|when|because|while|who|which"
    r"|where|and|but|or|after|before|until|since|unless|although|though|to|not only)\b|[说想觉认知听告问以如因但和并而]"
)
# A list begins after one of these; after anything else its first word may be half of a name or a thing.
_BEFORE_LIST = (
    r"(?:like|likes|love|loves|hate|hates|enjoy|enjoys|want|wants|need|needs|buy|bought|are|include|includes|with|have|has"
    r"|speak|speaks|know|knows|use|uses|eat|eats|drink|drinks|play|plays|study|studies|teach|teaches|learn|learning|visited"
    r"|in|from|of|for|between)"
)
_AFTER_PAIR = (
    r"(?:are|were|have|had|will|can|like|love|hate|live|work|owe|want|need|go|went|met|moved|play|share|got|came|ate)"
)
_BESIDE, _BEHIND, _APART = "\x1c", "\x1d", "\x1e"
_PAUSE = "\x1f"
"""Stands for a comma while lists are looked for; in the form itself there is none."""
_ITEM = rf"[^\s{_PAUSE}]+"
_LIST = re.compile(
    rf"(?P<lead>^|{_PAUSE} |\b{_BEFORE_LIST} )(?P<items>(?:{_ITEM}{_PAUSE} )+{_ITEM}{_PAUSE}? |{_ITEM} )"
    rf"(?P<joint>and|or) (?P<last>{_ITEM})$"
)
_PAIR = re.compile(rf"^(?P<a>{_ITEM}) and (?P<b>{_ITEM}) (?={_AFTER_PAIR}\b)")


def form_of(text: str) -> str:
    """What a text says, without its clothes. Equal for duplicates and for nothing else. Never empty for a text that isn't."""
    return _form(text) if len(text) <= _CACHED else _form.__wrapped__(text)


def has_plain_case(text: str) -> bool:
    """Whether its form is sure to be that of the same text in small letters."""
    return text.isascii() and "\n" not in text and _CAPITALS.search(text) is None


def same(a: str, b: str) -> bool:
    """Whether `b` says nothing that `a` doesn't, and the other way round. Links need not be on both sides, but may not differ.

    The same words in the same order are the same wherever sentences end in them.
    """
    ours, theirs = links(a), links(b)
    return says_same(a, b) and (not ours or not theirs or ours == theirs)


def says_same(a: str, b: str) -> bool:
    """The same, whatever addresses they name."""
    return form_of(a) == form_of(b) or _flat(a) == _flat(b)


def kinds(texts: Sequence[str]) -> list[list[int]]:
    """Which of these texts say the same, one by way of another: their places, in groups, each in order."""
    groups: list[list[int]] = []
    for place, text in enumerate(texts):
        tied = [group for group in groups if any(says_same(text, texts[other]) for other in group)]
        groups = [group for group in groups if group not in tied]
        groups.append(sorted([place, *(other for group in tied for other in group)]))
    return sorted(groups)


def fingerprint(text: str) -> int:
    """SimHash of the normalised text, whatever order its words are in: equal for duplicates, so that an index finds them."""
    return simhash64(_flat(text).split(" "))


def links(text: str) -> frozenset[str]:
    """The addresses a text names, without what only says how somebody came there."""
    return frozenset(_bare_link(match[0]) for match in _URL.finditer(text))


_CACHED = 2000


@lru_cache(maxsize=256)
def _form(text: str) -> str:
    told = [sentence for part in _sentences(_without_links(text)) if (sentence := _sentence(part))]
    form = _BESIDE.join(sorted(_chains(told)))
    return form or " ".join(text.casefold().split())


@lru_cache(maxsize=64)
def _flat(text: str) -> str:
    """All words in their order, without a thought for sentences."""
    return " ".join(token for token in _tokens(_without_links(text)) if token != _PAUSE) or form_of(text)


def _without_links(text: str) -> str:
    """Neither links nor citations, unless there is nothing beside them: then a link is what the text says."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    bare = _CITATION.sub(" ", _URL.sub(" ", plain))
    if bare == plain or len(_words(bare)) >= ENOUGH:
        return bare
    return _CITATION.sub(" ", _URL.sub(lambda match: f" {_bare_link(match[0])} ", plain))


def _words(text: str) -> list[str]:
    return re.findall(rf"[{_HAN}]|(?:(?![{_HAN}])\w)+", text)


def _bare_link(url: str) -> str:
    """An address without scheme, tracking, place on the page and trailing marks."""
    try:
        parts = urlsplit(url.rstrip(".,;:!?)]'’") if "://" in url else "http://" + url.rstrip(".,;:!?)]'’"))
    except ValueError:  # no address after all, whatever it looks like
        return url
    query = urlencode([(k, v) for k, v in parse_qsl(parts.query, True) if not _TRACKING.fullmatch(k)])
    host = parts.netloc.casefold().removeprefix("www.")
    return host + parts.path.rstrip("/") + (f"?{query}" if query else "")


def _sentences(text: str) -> list[str]:
    parts: list[list[str]] = []
    for part in _END.split(text):
        if parts and _ABBREVIATED.search(parts[-1][-1][-_LONGEST_ABBREVIATED:]):
            parts[-1].append(part)
        elif part and part.strip():
            parts.append([part])
    return [" ".join(pieces) for pieces in parts]


def _chains(sentences: Sequence[str]) -> list[str]:
    """Sentences that may be told in any order; one that leans on another stays behind it."""
    chains: list[list[str]] = []
    for sentence in sentences:
        words = sentence.replace(_APART, " ").split()
        if chains and (words[0] in _JOINING or not _POINTING.isdisjoint(words)):
            chains[-1].append(sentence)
        else:
            chains.append([sentence])
    return [_BEHIND.join(links) for links in chains]


def _sentence(text: str) -> str:
    """The form of one sentence: its words in order, what may move set apart."""
    tokens = _tokens(text)
    if not tokens:
        return ""
    joined = " ".join(tokens).replace(f" {_PAUSE}", _PAUSE).strip(_PAUSE + " ")
    asks = "?" in tokens
    joined = re.sub(r" ?\? ?", " ", joined).strip()
    if not asks:
        asks = joined.split(" ", 1)[0] in _ASKS or bool(_ASKS_HAN.search(joined.replace(" ", "")))
    core, when = joined, ""
    if len(joined) <= LONGEST:
        core, when = _set_apart(joined)
        core = _lists_in_order(core)
    core = core.replace(_PAUSE, "")
    return " ".join(core.split()) + (_APART + when if when else "") + (_APART + "?" if asks else "")


def _tokens(text: str) -> Sequence[str]:
    """Asked for twice of a text that is one sentence: for its form, and for its words."""
    return _read_tokens(text) if len(text) <= _CACHED else _read_tokens.__wrapped__(text)


@lru_cache(maxsize=8)
def _read_tokens(text: str) -> Sequence[str]:
    text = _APOSTROPHE.sub("", _MERIDIEM.sub(r"\1m", _THOUSANDS.sub("", text.translate(_DASHES))))
    shouted = not _SMALL.search(text)
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        if token in _PAUSES:
            if tokens and tokens[-1] != _PAUSE:
                tokens.append(_PAUSE)
        elif token in _CASED_UNITS and tokens and tokens[-1][-1].isdigit():
            tokens.append(_CASED_UNITS[token])
        elif token in _ACRONYMS and not shouted:
            tokens.append(token)
        elif (folded := token.casefold()) in _SPELLED:
            tokens += _SPELLED[folded]
        else:
            tokens.append(folded)
    return tokens


def _set_apart(sentence: str) -> tuple[str, str]:
    """The sentence without the one time that stands at its beginning or end, and that time."""
    if match := _LEADING.match(sentence):
        core, when = sentence[match.end() :].lstrip(_PAUSE + " "), match[1]
    elif match := _TRAILING.search(sentence):
        core, when = sentence[: match.start()].rstrip(_PAUSE + " "), match[1]
    else:
        core, when = _set_apart_han(sentence.split(" "))
    return (sentence, "") if not when or _TWO_CLAUSES.search(core) else (core, when)


def _set_apart_han(tokens: list[str]) -> tuple[str, str]:
    """The same for a time before or right behind the pronoun a Chinese sentence begins with."""
    packed = "".join(tokens[:24])
    if match := _LEADING_HAN.match(packed):
        start, end, when = 0, match.end(1), match[1]
    elif match := _MIDDLE_HAN.match(packed):
        start, end, when = match.end(1), match.end(2), match[2]
    else:
        return "", ""
    places = [0, *accumulate(map(len, tokens))]
    if start not in places or end not in places:
        return "", ""
    return " ".join(tokens[: places.index(start)] + tokens[places.index(end) :]), when


def _lists_in_order(sentence: str) -> str:
    """Single words joined by commas and a last "and" say the same in any order; so do two that begin a sentence."""

    def in_order(match: re.Match[str]) -> str:
        items = [*match["items"].replace(_PAUSE, "").split(), match["last"]]
        return match["lead"] + f" {match['joint']} ".join(sorted(items))

    if sentence.endswith(" respectively"):
        return sentence
    listed = _LIST.sub(in_order, sentence)
    return _PAIR.sub(lambda match: " and ".join(sorted((match["a"], match["b"]))) + " ", listed)
