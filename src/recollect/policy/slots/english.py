"""English sentences, read for what they state (`policy.slots`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from recollect.policy.slots import Holds, Statement, alike, states, things
from recollect.policy.slots.values import NUMBER, NUMBERS, number, typed
from recollect.policy.stems import stem

_DIGIT = re.compile(rf"\d|\b(?:{'|'.join(NUMBERS)})\b", re.IGNORECASE)
_FILLER = re.compile(
    r"^(?:(?:actually|sorry|oops|wait|no|i meant|i misspoke|by the way|btw"
    r"|fyi|update|correction|note|so|well|ok(?:ay)?|hey|hi|also just|just so you know"
    r"|as of (?:today|now)|from now on|starting (?:today|now)|please remember(?: that)?|remember(?: that)?|i mean)[,:]? )+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[, ]+(?:now|nowadays|these days|currently|at the moment|instead(?: of .{1,40})?|from now on|already|again|sharp|too"
    r"|as well|for good|last (?:week|month|year)|this (?:week|month|year)|recently|yesterday|today|anymore|any more"
    r"|as of \w+(?: \w+)?|\(?not .{1,30}\)?))+$",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:now|nowadays|no longer|anymore|any more|any longer|currently|changed|switched|moved|relocated|rescheduled|instead|just"
    r"|from now on|these days|actually|correction|update|as of|new|stopped|quit|gave up|these days|again)\b",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:also|too|as well|another|besides|additionally|second(?! (?:floor|level|row|shelf))|sometimes"
    r"|occasionally|part[- ]time)\b",
    re.I,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|used to|ago|yesterday|last|once|back then|(?-i:[a-z])\w{2,}ed|ran|met|saw|bought|made|got|took"
    r"|came|ate|drank|wrote|told|said|gave|spent|won|lost|found|will|tomorrow"
    r"|might|maybe|would|could|if|plans? (?:to|on)|planning|want|hope)\b",
    re.IGNORECASE,
)
_UNKNOWN = frozenset(
    "it he she they that this there these those you who what which and or but if when because today tonight".split()
)
_SPELT = {"favorite": "favourite", "color": "colour", "neighbor": "neighbour", "me": "i"}
_ARTICLES = frozenset("the my our a an this".split())
_PEOPLE = frozenset(
    "boss manager wife husband spouse fiance fiancee girlfriend boyfriend partner doctor dentist landlord mother father mom mum "
    "dad ceo cto supervisor advisor teacher therapist gp physician cardiologist pediatrician hairdresser accountant lawyer "
    "landlady mentor".split()
)
"""Of whom much can be said; who it is says a name."""
_NAMED = frozenset(
    "capital address email number phone birthday employer job hometown nationality deadline size height weight salary rent "
    "budget".split()
)
"""What can also be good, broken or far away: a value is written large, or with digits."""
_WORDED = frozenset("name title status major role position password username".split())
_NATIONS = frozenset(
    "american british english scottish irish welsh french german swiss austrian italian spanish portuguese dutch "
    "belgian swedish norwegian danish finnish polish czech slovak hungarian romanian bulgarian greek turkish russian "
    "ukrainian serbian croatian albanian israeli lebanese egyptian moroccan nigerian kenyan ethiopian indian "
    "pakistani chinese japanese korean taiwanese thai vietnamese filipino indonesian malaysian australian canadian "
    "mexican brazilian chilean colombian peruvian cuban iranian iraqi syrian jewish muslim catholic buddhist hindu "
    "christian".split()
)
_NAME = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'-]+(?: [A-Z][\w'.-]+){0,3}")
_SOME = re.compile(r"(?:an?|some|every|each|all|many|one|two|another)\b", re.IGNORECASE)
_DAYS = re.compile(r"days\b", re.IGNORECASE)
_SUBJECT = r"(?P<s>[\w'-]+(?: [\w'-]+){0,5}?)"
_SUBJECT_TOO = _SUBJECT.replace("<s>", "<s2>")
MOST_WORDS = 18
_HAVE = r"(?:(?:have|has|'ve|just|recently|now|currently|finally|actually) )*"
_NOW = r"(?:now |currently |still |actually )*"

_LIVES = re.compile(
    rf"^{_SUBJECT} ?{_NOW}(?:lives?|resides?|am living|is living|'m living|am based|is based|'m based) {_NOW}in (?P<v>.+)$"
    rf"|^{_SUBJECT_TOO} ?{_HAVE}(?:moved|relocated) (?:back )?(?:from .{{1,40}} )?to (?P<v2>.+)$",
    re.IGNORECASE,
)
_WORKS = re.compile(
    rf"^{_SUBJECT} ?{_NOW}(?:work|works|am working|is working|'m working) {_NOW}(?:at|for) (?P<v>.+)$"
    rf"|^{_SUBJECT_TOO} ?{_HAVE}(?:joined|(?:got|found|took|accepted|landed) (?:a|my) (?:new )?job (?:at|with)"
    rf"|started (?:working |a new job |my new job |work )?(?:at|with)) (?P<v2>[A-Z].+)$",
    re.IGNORECASE,
)
_IS = re.compile(
    rf"^{_SUBJECT}(?: (?P<verb>is|are|will be|starts?|begins?|ends?|opens?|closes?|costs?|weighs?|takes place|happens"
    r"|(?:is|was|has been|got) (?:re)?scheduled|is set|is due|(?:is |was |has |has been |got |been )?(?:moved|changed|switched"
    rf"|rescheduled|pushed|updated|increased|reduced|extended))|'s) {_NOW}(?:(?:back|forward) )?(?:from .{{1,30}} to )?"
    r"(?P<at>at |on |in |by |for |to |until )?(?P<v>.+)$",
    re.IGNORECASE,
)
_HAS = re.compile(
    rf"^{_SUBJECT} ?{_NOW}(?:have|has|own|owns|have got|has got|'ve got) {_NOW}(?P<n>{NUMBER}) (?P<v>[\w -]{{2,40}})$",
    re.I,
)
_AGE = re.compile(rf"^{_SUBJECT}(?: (?:am|is|just turned|turned)|'m|'s) {_NOW}(?P<v>\d{{1,3}})(?: years? old)?$", re.I)
_MEETS = re.compile(
    r"^(?:i|we)(?: have|'ve got| have got|'ve) (?:an?|another) (?P<s>[\w -]{2,40}?) (?:at|on) (?P<v>.+)$", re.IGNORECASE
)
_LIKES = re.compile(
    rf"^{_SUBJECT} (?:really |do |absolutely )?(?P<verb>like|likes|love|loves|enjoy|enjoys|adore|hate|hates|dislike|dislikes)"
    r" (?P<v>[\w -]{2,40})$",
    re.IGNORECASE,
)
_PREFERS = re.compile(
    rf"^{_SUBJECT} (?:prefers? (?P<v>[\w ]{{2,30}}) (?:over|to|rather than)"
    rf"|(?:likes?|loves?|enjoys?) (?P<x>[\w ]{{2,30}}) (?:better|more) than) (?P<w>[\w ]{{2,30}})$",
    re.IGNORECASE,
)
_RESEMBLES = frozenset("sounds looks feels seems smells tastes".split())
_CALLED = re.compile(r"^(?:call me|my name is|i am called|i'm called) (?P<v>[\w' -]{2,40})$", re.IGNORECASE)


_HOME_WORDS = frozenset(
    "live lives living reside resides based moved relocated work works working joined started job".split()
)
_LIKE_WORDS = frozenset("like likes love loves enjoy enjoys adore hate hates dislike dislikes prefer prefers".split())


def read(sentence: str) -> Iterator[Statement]:
    plain = sentence.replace("’", "'").strip(' .!"“”')
    text = _FILLER.sub("", plain)
    words = set(text.casefold().split())
    if len(words) > MOST_WORDS or "://" in text or _MORE.search(text):
        return
    bare = _TAIL.sub("", text)
    found = [
        *_is(bare),
        *alike.read(bare, _PAST, _NOT),
        *_whether(text),
        *states.read(text, words),
        *things.read(bare, words),
    ]
    if words & _HOME_WORDS:
        found += _homes(bare)
    if words & _LIKE_WORDS:
        found += _likes(bare)
    if _DIGIT.search(bare):
        found += _has(bare)
    if found:
        news = bool(_NEWS.search(plain))
        yield from (_told(each, news) for each in found)


def _told(statement: Statement, news: bool) -> Statement:
    return replace(statement, changed=statement.changed or news)


def _homes(text: str) -> Iterator[Statement]:
    for attribute, pattern in (("home", _LIVES), ("work", _WORKS)):
        match = pattern.match(text)
        if not match:
            continue
        subject = _subject(match["s"] or match["s2"])
        value = match["v"] or match["v2"]
        settled = match["v"] is None and attribute == "home"
        if not subject or _PAST.search(value) or len(value.split()) > 6:
            continue
        # "moved to the marketing team" is no home, "moved to 10" none either.
        if settled and not re.match(r"[A-Z]|the (?:UK|US|Netherlands|Philippines|countryside|suburbs|city)\b", value):
            continue
        holds: Holds = "open" if _SOME.match(text) else "one"
        yield Statement(f"{subject}|{attribute}", _value(value), holds, settled)


def _is(text: str) -> Iterator[Statement]:
    if match := _CALLED.match(text):
        yield Statement("i|name", _value(match["v"]))
        return
    if match := _MEETS.match(text):
        for kind, value in typed(match["v"], "at"):
            yield Statement(f"{_subject('the ' + match['s'])}|{kind}", value, "open")
    if match := _AGE.match(text):
        if subject := _subject(match["s"]):
            yield Statement(f"{subject}|age", match["v"])
        return
    match = _IS.match(text)
    if not match or _PAST.search(match["v"]):
        return
    subject, verb = _subject(match["s"]), (match["verb"] or "is").casefold()
    if not subject or subject in ("i", "we"):
        return
    holds: Holds = "open" if _SOME.match(match["s"]) else "one"
    part = next((f" {word}" for word in ("end", "open", "close") if verb.startswith(word)), "")
    kinds = list(typed(match["v"], (match["at"] or "").strip()))
    if len(kinds) > 1 and _DAYS.search(match["v"]):
        return  # on other days it may be at another time
    for kind, value in kinds:
        yield Statement(f"{subject}|{kind}{part}", value, holds)
    if not kinds:
        yield from _named(subject, match, holds)


def _named(subject: str, match: re.Match[str], holds: Holds) -> Iterator[Statement]:
    """A value of no kind that can be told: what there can be only one of has one, a name behind "my" perhaps."""
    value, head = match["v"], subject.split()[-1]
    if len(value.split()) > 6:
        return
    if match["at"] and match["at"].strip() == "in" and value[0].isupper():
        yield Statement(f"{subject}|place", _value(value), holds)
    elif re.search(r"\b(?:favou?rite|preferred|go-to|default|primary|official)\b", subject):
        yield Statement(f"{subject}|is", _value(value))
    elif not match["at"] and _is_one(head, value):
        yield Statement(f"{subject}|is", _value(value), holds)
    elif (
        head not in _PEOPLE
        and not match["at"]
        and value[0].isupper()
        and re.match(r"(?:my|our)\b", match["s"], re.IGNORECASE)
    ):
        yield Statement(f"{subject}|is", _value(value), "open")


def _is_one(head: str, value: str) -> bool:
    """Whether this says which one it is, and not what it is like."""
    if head in _PEOPLE:
        return _NAME.fullmatch(value) is not None and value.casefold() not in _NATIONS
    bare = re.sub(r"^(?:the|an?) ", "", value)
    return head in _WORDED or (head in _NAMED and (bare[0].isupper() or bool(re.search(r"[\d@]", bare))))


def _has(text: str) -> Iterator[Statement]:
    match = _HAS.match(text)
    if match and (subject := _subject(match["s"])) and not _PAST.search(match["v"]):
        things = " ".join(stem(word) for word in match["v"].casefold().split())
        yield Statement(f"{subject}|count {things}", number(match["n"]))


def _likes(text: str) -> Iterator[Statement]:
    if match := _PREFERS.match(text):
        if subject := _subject(match["s"]):
            chosen = _value(match["v"] or match["x"])
            pair = sorted((chosen, _value(match["w"])))
            yield Statement(f"{subject}|prefers {pair[0]}/{pair[1]}", chosen)
        return
    match = _LIKES.match(text)
    if (
        match
        and (subject := _subject(match["s"]))
        and subject.split()[-1] not in _RESEMBLES
        and not re.search(r"\b(?:to|that|when|how|it)\b", match["v"])
    ):
        averse = match["verb"].casefold().startswith(("hate", "dislike"))
        value = _value(match["v"])
        if not averse:
            yield Statement(f"{subject}|likes", value, "many")
        yield Statement(f"whether|{_stems(f'{subject} like {value}')}", "no" if averse else "yes")


_NOT = re.compile(
    r"\b(?:not|never|no longer|cannot)\b|n't\b|\b(?:have |has |'ve )?(?:stopped|quit|gave up|given up)\b", re.I
)
_IDLE = re.compile(
    r"\b(?:do|does|did|not|never|no longer|longer|anymore|any more|any longer|now|still|currently|really|actually|nowadays"
    r"|have|has|stopped|quit|gave up|given up|at all|these days|again|very|so)\b|n't\b|'m\b|'re\b|\b(?:am|are|is|be)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:like|likes|love|loves|enjoy|enjoys|want|wants|need|needs|eat|eats|drink|drinks|am|is|are|'m|own|owns|use|uses|speak|speaks"
    r"|live|lives|work|works|believe|trust|play|plays|smoke|smokes|drive|drives|support|supports|allow|allows|have|has|know|knows"
    r"|can|can't|cannot|eating|drinking|smoking|using|playing|working|know)\b|n't\b",
    re.IGNORECASE,
)


def _whether(text: str) -> Iterator[Statement]:
    """A short sentence and its denial fill one slot."""
    if len(text.split()) > 16:
        return
    told = re.sub(r"\bcan't\b|\bcannot\b", "can not", text)
    negated = bool(_NOT.search(told))
    bare = re.sub(r"[^\w ']", " ", _TAIL.sub("", re.sub(_NOT, " ", told)))
    words = [word for word in _IDLE.sub(" ", bare).casefold().split() if word not in _ARTICLES]
    if not 2 <= len(words) <= 9 or words[0] in _UNKNOWN:
        return
    past = _PAST.search(re.sub(r"\b(?:stopped|want|wants)\b|did(?=n't)", "", told))
    sure = not past and bool(_LASTING.search(told))
    stopped = bool(
        re.search(r"\b(?:no longer|anymore|any more|any longer|stopped|quit|gave up|given up)\b", told, re.I)
    )
    if past and not stopped:
        return
    yield Statement(
        f"whether|{_stems(' '.join(words))}", "no" if negated else "yes", "one" if sure or stopped else "open", stopped
    )


def _subject(text: str) -> str:
    """Who or what a sentence is about, without article; nothing when that can't be known from the sentence alone."""
    words = re.sub(r"'(?:s|ve|m|re|ll|d)\b", "", text.casefold()).split()
    words = [word for word in words if word not in _ARTICLES and word not in ("now", "currently", "new", "current")]
    if not 1 <= len(words) <= 5 or not _UNKNOWN.isdisjoint(words) or _PAST.search(" ".join(words)):
        return ""
    return " ".join(_SPELT.get(word, word) for word in words)


def _value(text: str) -> str:
    words = re.sub(r"[^\w '@.+-]", " ", text.casefold()).strip(" .").split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words)


def _stems(text: str) -> str:
    return " ".join(stem(word) for word in text.split())
