"""English sentences of one shape that differ in a value: "The standup is at 9:30 on weekdays", and "… at 10 on weekdays".

What fills the slot are the words of the sentence with its values left open, so two of one shape meet in the index of slots and
no search is needed. What stands before the verb says which thing is meant and is never left open: parcel 1 is not parcel 0, and
the concert on May 4 not the one on May 9. A phrase of time in front ("On weekdays the shuttle …") is read as if it came last,
and the words behind the verb are taken in any order.

How sure another value is of replacing the first depends on who it is about: "the", "my" or "our" one thing. What somebody does
at 9 and at 10 may be two appointments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.policy.slots import Change, Part, Statement
from recollect.policy.slots.values import DATE, NUMBER, clock, day, number
from recollect.policy.stems import stem

MOST_WORDS = 18
MOST_PARTS = 4

_FRONT = re.compile(
    r"^(?P<front>(?:on|every|each|in|for|at|during|from|until) [^,]{2,40}?),? (?P<rest>(?:the|my|our) .+)$",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?P<one>is|starts|begins|ends|opens|closes|leaves|departs|arrives|happens|meets|rehearses|trains|comes|takes place|lasts"
    r"|costs|weighs|expires|runs|takes|seats|holds|rings|sits|lands|returns)\b"
    r"|\b(?:are|cost|weigh|take|has|have|owns?|run|open|close|leave|start|begin|end|last|hold|goes|needs?|ships?|moved|changed)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"(?:the|my|our|[A-Z]\w+'s) (?!other |next |last |first |second |third )", re.IGNORECASE)
_HOURS = frozenset(("opens", "closes"))
_DIGIT = r"\b(?:\d{1,2}:\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m|[A-Za-z]{0,3}-?\d[\w.,-]*)(?!\w)"
_NTH = r"\b(?:ground|first|second|third|fourth|fifth|sixth|seventh|top)(?= (?:floor|level|row|shelf|drawer)\b)"
_WORDED = rf"\b(?:{NUMBER})(?!\w)|\bnoon\b|\bmidnight\b"
_SPAN = re.compile(rf"(?P<date>\b(?i:{DATE})(?!\w))|(?P<value>{_DIGIT}|(?i:{_NTH}|{_WORDED}))")
_NAME = re.compile(r"\b(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'-]+(?: [A-Z][\w'.-]+){0,2}")
_AFTER_IS = re.compile(r"(?:called|named|with|in|at|to|by)? ?$", re.IGNORECASE)
_HINT = re.compile(
    r"\d|day\b|days\b|[a-z] [A-Z]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|floor)\b"
)
_STATE = re.compile(
    r"\b(?:is|are) (?:planned|scheduled|booked|set|painted|called|named|due|based|located|parked|stored|kept|held|fixed"
    r"|reserved)\b",
    re.IGNORECASE,
)
_TODAY = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:an?|some|this|that|another) (?!day\b|week\b|month\b|year\b|night\b|person\b|head\b|kilo\b|litre\b|"
    r"liter\b|gallon\b|pound\b|hour\b|minute\b|piece\b)",
    re.I,
)
_SERIES = re.compile(r"^the (?:bus|train|tram|ferry|shuttle|metro|film|movie|show|tour|flight)\b", re.IGNORECASE)
"""What there is several times a day under one name."""
_HABIT = re.compile(
    r"\b(?:every|per|each|times|a (?:day|week|month|year)|costs?|weighs?|takes?|is|are|has|have|own|owns|runs?)\b",
    re.IGNORECASE,
)
_ROUND = re.compile(r"\b(?:every|each)\b|\b(?:weekly|daily|monthly|yearly|annual)\b", re.IGNORECASE)
_AT = re.compile(r"^(?:i|we)\b.* at \d", re.IGNORECASE)
"""What somebody does at a time they may do at another."""
_ROLES = frozenset(
    "landlord landlady mentor contact coach tutor trainer supervisor host owner captain sponsor editor hotel venue airline gate "
    "provider carrier bank insurer codename nickname password username".split()
)
"""Of which there is one at a time: another name is another one."""
_IDLE = frozenset("now currently still the my our about around".split())
_UNKNOWN = frozenset("it he she they that this there these those you who what which and or but if when because".split())


def read(bare: str, past: re.Pattern[str], denied: re.Pattern[str]) -> Iterator[Statement]:
    """The sentence without what may follow any; `past` and `denied` are what tells of the past and what says no."""
    if not _HINT.search(bare) or "[" in bare or len(bare.split()) > MOST_WORDS:
        return
    if _TODAY.search(bare) or past.search(_STATE.sub("is", bare)) or denied.search(bare):
        return
    front = _FRONT.match(bare)
    text = f"{front['rest']} {front['front'][0].lower()}{front['front'][1:]}" if front else bare
    verb = _TELLS.search(text)
    if verb and verb["one"] and _DEFINITE.match(text):
        yield from _of_one(text, verb)
    else:
        yield from _of_any(bare)


def _of_one(text: str, verb: re.Match[str]) -> Iterator[Statement]:
    """One thing and what is so of it: the words behind the verb in any order."""
    subject, rest = text[: verb.start()], text[verb.end() :]
    told = verb["one"].casefold()
    vague = bool(_VAGUE.search(rest) or _SERIES.match(subject))
    head = subject.casefold().split()[-1] if subject.split() else ""
    parts: list[Part] = []

    def left_open(match: re.Match[str]) -> str:
        before = rest[: match.start()].split()
        lead = before[-1].casefold() if before else ""
        if match.lastgroup == "date":
            again = lead in ("every", "each") or match[0].endswith("days")
            if again and told in _HOURS:
                return match[0]
            holds: Change = "when" if again and not _ROUND.search(subject) else "one"
            parts.append(Part(lead, day(match[0].casefold()), "open" if vague and holds == "one" else holds))
            return " @ "
        parts.append(Part(lead, clock(number(match[0])), "open" if vague else "one"))
        return " # "

    frame = _SPAN.sub(left_open, rest)
    if told == "is" and (name := _named(frame)):
        lead = frame[: name.start()].split()[-1:] or [""]
        sure = not vague and (_sure_of_name(subject, head) or (bool(parts) and lead[0] in ("in", "to", "at")))
        parts.append(Part(f"^{lead[0]}", name[0].casefold(), "one" if sure else "open"))
        frame = f"{frame[: name.start()]} ^ {frame[name.end() :]}"
    words = _words(frame)
    if 1 <= len(parts) <= MOST_PARTS and _words(subject):
        yield _statement(f"{' '.join(_words(subject))} {told}|{' '.join(sorted(words))}", parts)


def _sure_of_name(subject: str, head: str) -> bool:
    words = subject.casefold().split()
    return head in _ROLES or any(word in _ROLES for word in words[1:2])


def _named(frame: str) -> re.Match[str] | None:
    name = _NAME.search(frame)
    return name if name and _AFTER_IS.search(frame[: name.start()].strip() + " ") else None


def _of_any(bare: str) -> Iterator[Statement]:
    """Any other sentence with one or two values: word by word."""
    first, verb = _SPAN.search(bare), _TELLS.search(bare)
    if not first or (verb and first.start() < verb.start()):
        return
    spans = list(_SPAN.finditer(bare))
    words = [_stemmed(word) for word in _SPAN.sub(" # ", bare).split()]
    words = [word for word in words if word and word not in _IDLE]
    if not 1 <= len(spans) <= 2 or len(words) < 3 or words[0] in _UNKNOWN:
        return
    days = any(each.lastgroup == "date" for each in spans)
    vague = days or len(spans) > 1 or bool(_VAGUE.search(bare)) or bool(_AT.search(bare) and not _ROUND.search(bare))
    holds: Change = "one" if _HABIT.search(bare) and not vague else "open"
    yield _statement(" ".join(words), [Part("", clock(number(each[0])), holds) for each in spans])


def _statement(frame: str, parts: list[Part]) -> Statement:
    ordered = tuple(sorted(parts, key=lambda part: part.lead))
    return Statement(f"alike|{frame}", " ".join(part.value for part in ordered), parts=ordered)


def _words(text: str) -> list[str]:
    return [word for each in text.split() if (word := _stemmed(each)) and word not in _IDLE]


def _stemmed(word: str) -> str:
    plain = word.casefold().strip(',.;:()"')
    return stem(plain) if plain.isalpha() else plain
