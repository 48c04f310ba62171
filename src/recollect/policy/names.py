"""What a text names: people, places, organisations, dates, identifiers, addresses, each with how sure one can be of it.

No model and no list of all names: English names are capitalised words that don't merely begin a sentence, told apart by the
words around them ("my sister Ana", "live in Lyon", "Acme Inc"); Chinese ones come with the word classes of the segmenter. What
nothing speaks for is a name of an unknown kind, with less confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from recollect.policy.followup.leaning import HAN, tagged
from recollect.policy.stopwords import ENGLISH

EntityKind = Literal["email", "identifier", "date", "person", "place", "organisation", "name"]


@dataclass(frozen=True, slots=True)
class Entity:
    text: str
    kind: EntityKind
    confidence: float


_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|"
    r"Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_Pattern: TypeAlias = tuple[re.Pattern[str], EntityKind, float]
_ANYWHERE: tuple[_Pattern, ...] = (
    (re.compile(rf"\b(?:(?:next|last|this) )?{_DAY}s?\b"), "date", 0.8),
    (re.compile(r"\b(?:tomorrow|yesterday|tonight|(?:next|last) (?:week|month|year)|last night)\b", re.I), "date", 0.6),
    (re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b"), "identifier", 0.75),
)
_WITH_DIGITS: tuple[_Pattern, ...] = (
    (re.compile(r"\b(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b"), "date", 0.97),
    (re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?(?:,? (?:19|20)\d\d)?\b"), "date", 0.95),
    (re.compile(rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? (?:19|20)\d\d\b)?"), "date", 0.95),
    (re.compile(rf"\b{_MONTH} (?:19|20)\d\d\b"), "date", 0.9),
    (re.compile(r"\b\d{1,2}(?:[:.]\d\d)? ?[ap]\.?m\b\.?|\b[012]?\d:[0-5]\d\b", re.IGNORECASE), "date", 0.8),
    (re.compile(r"\b[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-[A-Z]*\d[A-Z0-9]*\b"), "identifier", 0.9),
    (re.compile(r"\b[A-Z]{2,5}\d{2,8}\b"), "identifier", 0.85),
    (re.compile(r"\bv?\d+\.\d+\.\d+\b"), "identifier", 0.85),
    (re.compile(r"(?<!\w)#\d{2,10}\b"), "identifier", 0.85),
)
_IN_CHINESE: tuple[_Pattern, ...] = (
    (
        re.compile(
            r"(?:(?:19|20)?\d\d年)?(?:\d{1,2}|十?[一二三四五六七八九十])月"
            r"(?:\d{1,2}|[一二三]?十?[一二三四五六七八九十])[日号]"
        ),
        "date",
        0.95,
    ),
    (re.compile(r"(?:19|20)\d\d年(?:\d{1,2}月)?"), "date", 0.9),
    (re.compile(r"[上下这本]?(?:周|星期|礼拜)[一二三四五六日天末]"), "date", 0.8),
    (
        re.compile(
            r"(?:[上下]午|早上|晚上|中午|凌晨)?(?:\d{1,2}|十?[一二三四五六七八九十两])点(?:半|[一二三四五\d十]+分|钟)?"
        ),
        "date",
        0.8,
    ),
    (re.compile(r"今天|明天|后天|昨天|前天|[上下]个?月|明年|去年|今年"), "date", 0.6),
)
_ADDRESSES: tuple[_Pattern, ...] = (
    (re.compile(r"(?<![\w.%+-])[\w%+-](?:\.?[\w%+-]){0,63}@(?:[\w-]{1,63}\.){1,6}[A-Za-z]{2,24}\b"), "email", 0.98),
    (re.compile(r"(?:https?://|www\.)[^\s<>\"'，。）)]+", re.I), "identifier", 0.9),
)
_DIGIT = re.compile(r"\d")

_WORD = r"[A-Z][\w'’&.-]*[\w]|[A-Z]"
_RUN = re.compile(
    rf"(?:(?:Mr|Mrs|Ms|Dr|Prof|St)\.\s)?(?:{_WORD})(?:\s+(?:(?:of|de|van|von|der|da|del|la|the|&)\s+)?(?:{_WORD}))*"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\"“(\n•–—-]\s*)$")
_ORGANISATION = re.compile(
    r"(?:^|\s)(?:Inc|Ltd|LLC|GmbH|Corp|Corporation|Company|Co|AG|University|College|Institute|School|Academy|Hospital|"
    r"Clinic|Bank|"
    r"Group|Labs?|Foundation|Association|Society|Agency|Ministry|Department|Council|Church|Club|Studios?|Museum|"
    r"Library|Airlines?"
    r"|Airways|Hotel|Restaurant)\.?$"
)
_PLACE_END = re.compile(
    r"\s(?:Street|St|Avenue|Ave|Road|Rd|Lane|Boulevard|Square|Park|Beach|Lake|River|Mountains?|Island|Islands|Valley|"
    r"City|County|"
    r"Station|Airport|Bridge|Bay|Coast|Forest|Falls|Canyon)\.?$"
)
_TITLE = re.compile(
    r"^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Lady|Uncle|Aunt|Auntie|Grandma|Grandpa|Captain|Coach)\.?\s+\S"
)
_KIN = (
    r"mother|mom|mum|father|dad|sister|brother|son|daughter|wife|husband|partner|fianc[ée]e?|girlfriend|boyfriend|"
    r"friend|buddy|"
    r"colleague|coworker|boss|manager|mentor|teacher|coach|neighbou?r|roommate|cousin|uncle|aunt|niece|nephew|"
    r"grandmother|"
    r"grandfather|grandma|grandpa|doctor|dentist|therapist|client|kid|child|baby|dog|cat|puppy|kitten|pet"
)
_BEFORE_PERSON = re.compile(
    rf"(?:\b(?:{_KIN})s?,?\s|\b(?:named|called|name is|name's|name was|met|with|and|told|asked|call|calls|invited|by|"
    rf"i am|i'm|thank|"
    r"thanks|hi|hey|hello|dear)\s)$"
)
_BEFORE_PLACE = re.compile(
    r"\b(?:in|to|from|near|at|around|visit(?:ed|ing)?|across|outside|leaving|left|reach(?:ed)?|through|toward|towards|"
    r"via|into)\s"
    r"(?:the\s)?$"
)
_BEFORE_EMPLOYER = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:at|for|with)|job (?:at|with)|employed (?:at|by)|hired by|interview(?:ed|ing)? (?:at|"
    r"with)|joined|"
    r"intern(?:ed|ing|ship)? (?:at|with)|stud(?:y|ies|ied|ying) at|graduated from|degree from|bank with|"
    r"company)\s(?:the\s)?$"
)
_AFTER_PERSON = re.compile(
    r"^\s(?:is my|was my|said|told|asked|and i\b|who\b|loves|likes|wants|thinks|called|turned|['’]s birthday)"
)
_COUNTRIES = frozenset(
    "Africa Argentina Asia Australia Austria Belgium Brazil Canada Chile China Colombia Cuba Denmark Egypt England "
    "Europe Finland "
    "France Germany Greece Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Japan Kenya Korea Malaysia "
    "Mexico Morocco "
    "Nepal Netherlands Nigeria Norway Pakistan Peru Philippines Poland Portugal Romania Russia Scotland Singapore "
    "Spain Sweden "
    "Switzerland Taiwan Thailand Turkey Ukraine Vietnam Wales USA UK Amsterdam Athens Bangkok Barcelona Beijing "
    "Berlin Boston "
    "Brussels Budapest Cairo Chicago Copenhagen Dallas Delhi Dubai Dublin Edinburgh Florence Frankfurt Geneva Hamburg "
    "Helsinki "
    "Houston Istanbul Kyoto Lisbon London Lyon Madrid Melbourne Miami Milan Montreal Moscow Mumbai Munich Osaka Oslo "
    "Paris Prague "
    "Rome Seattle Seoul Shanghai Shenzhen Stockholm Sydney Tokyo Toronto Vancouver Venice Vienna Warsaw Zurich".split()
) | {
    "New York",
    "Los Angeles",
    "San Francisco",
    "Hong Kong",
    "United States",
    "United Kingdom",
    "New Zealand",
    "South Africa",
}
_NOT_NAMES = frozenset(
    "I I'm I'll I've I'd I’m I’ll I’ve I’d OK Okay TV AI Also Monday Tuesday Wednesday Thursday Friday Saturday "
    "Sunday January February "
    "March April May June July August September October November December Mondays Tuesdays Wednesdays Thursdays "
    "Fridays Saturdays "
    "Sundays English French German Spanish Italian Chinese Japanese Korean American British Indian Mexican Mom Dad "
    "Mum User "
    "Assistant Thanks Hi Hey Hello Yes No".split()
)


def entities(text: str) -> list[Entity]:
    """What `text` names, in reading order, each wording once, none within another."""
    return list({each.text.casefold(): each for _, _, each in reversed(located(text))}.values())[::-1]


def located(text: str) -> list[tuple[int, int, Entity]]:
    """Every mention with where it begins and ends."""
    found: list[tuple[int, int, Entity]] = []
    chinese = HAN.search(text) is not None
    for pattern, kind, confidence in _patterns(text, chinese):
        for match in pattern.finditer(text):
            _place(found, match.start(), match.end(), Entity(match[0].strip(" ."), kind, confidence))
    for start, end, entity in (*(_chinese(text) if chinese else ()), *_english(text)):
        _place(found, start, end, entity)
    return sorted(found, key=lambda each: each[0])


def _patterns(text: str, chinese: bool) -> Iterator[_Pattern]:
    """Those that can match at all, the surest first: it runs on every write."""
    if "@" in text or "://" in text or "www." in text:
        yield from _ADDRESSES
    if chinese:
        yield from _IN_CHINESE
    if _DIGIT.search(text):
        yield from _WITH_DIGITS
    yield from _ANYWHERE


def _place(found: list[tuple[int, int, Entity]], start: int, end: int, entity: Entity) -> None:
    if not any(start < taken_end and taken_start < end for taken_start, taken_end, _ in found):
        found.append((start, end, entity))


def _english(text: str) -> Iterator[tuple[int, int, Entity]]:
    for match in _RUN.finditer(text):
        start, run = match.start(), match[0]
        opening = _SENTENCE_START.search(text[max(0, start - 3) : start]) is not None
        words = run.split()
        while words and (words[0] in _NOT_NAMES or (opening and words[0].casefold() in ENGLISH)):
            run = run[len(words[0]) :].lstrip()
            start, opening = match.end() - len(run), False
            words = run.split()
        while words and (words[-1] in _NOT_NAMES or words[-1][0].islower() or words[-1] == "&"):
            run = run[: -len(words[-1])].rstrip()
            words = run.split()
        if not words or len(run) < 2 or (len(words) == 1 and words[0].casefold() in ENGLISH):
            continue
        entity = _judged(text, start, run, opening and len(words) == 1)
        if entity is not None:
            yield start, start + len(run), entity


def _judged(text: str, start: int, run: str, opens_sentence: bool) -> Entity | None:
    before, after = text[max(0, start - 40) : start].lower(), text[start + len(run) : start + len(run) + 20]
    name = re.sub(r"['’]s$", "", run)
    if name in _COUNTRIES:
        return Entity(name, "place", 0.95)
    if _ORGANISATION.search(name) and " " in name:
        return Entity(name, "organisation", 0.9)
    if _PLACE_END.search(name):
        return Entity(name, "place", 0.9)
    if _TITLE.match(name):
        return Entity(name, "person", 0.95)
    if _BEFORE_EMPLOYER.search(before):
        return Entity(name, "organisation", 0.85)
    if _BEFORE_PERSON.search(before) or (_AFTER_PERSON.match(after) and " " not in name):
        return Entity(name, "person", 0.8)
    if _BEFORE_PLACE.search(before):
        return Entity(name, "place", 0.7)
    if opens_sentence:  # nearly every sentence begins with a capital: on its own that says nothing
        return None
    return Entity(name, "name", 0.65 if " " in name else 0.6)


_ZH_KINDS: dict[str, tuple[EntityKind, float]] = {
    "nr": ("person", 0.75),
    "nrt": ("person", 0.7),
    "nrfg": ("person", 0.75),
    "ns": ("place", 0.8),
    "nt": ("organisation", 0.85),
    "nz": ("name", 0.65),
}
_ZH_ORGANISATION = re.compile(r"(?:公司|集团|大学|学院|医院|银行|中学|小学|研究所|研究院|协会|基金会)$")


def _chinese(text: str) -> Iterable[tuple[int, int, Entity]]:
    at = 0
    for word, tag in tagged(text):
        start = text.find(word, at)
        if start < 0:
            continue
        at = start + len(word)
        kind, confidence = _ZH_KINDS.get(tag, (None, 0.0))
        if _ZH_ORGANISATION.search(word) and len(word) > 2:
            yield start, at, Entity(word, "organisation", 0.85)
        elif kind is not None and len(word) > 1:
            yield start, at, Entity(word, kind, confidence)
