"""English sentences, taken apart for `policy.news`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.policy.news import Glance, Told, Value
from recollect.policy.slots.values import DATE, NUMBER, TIME, UNIT, typed
from recollect.policy.stems import stem
from recollect.policy.stopwords import ENGLISH

MOST_WORDS = 24

_CHANGE = re.compile(
    r"\b(?:now|nowadays|no longer|any ?more|any longer|instead|these days|from now on|currently|correction|actually|update"
    r"|moved|switched|changed|swapped|rescheduled|postponed|pushed|bumped|shifted|delayed|brought forward|raised|lowered"
    r"|increased|decreased|reduced|cut|dropped|went (?:up|down)|(?:is|am|are|'m|'s|'re) (?:up|down|back)\b|gone (?:up|down|over)"
    r"|grew|grown|shrank|rose|risen|fell|fallen|extended|shortened|renewed|upgraded|downgraded|renamed|replaced|took over"
    r"|promoted|demoted|transferred|rebooked|moved out|new|stopped|quit|cancel+ed|gave up|given up|sold|traded in|got rid of"
    r"|ditched|left|broke up|split up|divorced|shaved off|stepped down|resigned|retired|finished|since|can't make|put on"
    r"|started|got engaged|settled|painted|dyed|learned to|passed|hit|reached|earned|was given|decided on)\b"
)
_TURNED = re.compile(
    r"\b(?:switched|changed|swapped|upgraded|downgraded|renamed|replaced|promoted|demoted|transferred|rebooked|gone over|dyed"
    r"|painted|put on|moved)\b",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:also|too|as well|another|besides|additionally|second|sometimes|occasionally)\b")
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|used to|ago|yesterday|last (?:week|month|year|night|summer|winter|\w+day)|once|back then"
    r"|ran|met|saw|bought|got|took|came|ate|drank|wrote|told|said|gave|spent|won|lost|found|played|visited|watched|called|loved"
    r"|fixed|read (?!the|a|my)|in (?:19|20)\d\d|might|maybe|would|could|if)\b",
    re.IGNORECASE,
)
_PLANNED = re.compile(r"\b(?:plan(?:ning)? (?:to|on|an?)|intend to|want to|need to|hope)\b", re.IGNORECASE)
_STATE = re.compile(
    r"\b(?:is|are|was) (?:planned|scheduled|booked|set|painted|called|named|due|based|married|engaged)\b", re.I
)
_STOP = r"(?=[,;:]| and | since | in (?:20|the end|[A-Z])| last | this | because |$)"
_CALLED_OFF = (
    r"^(?i:the|our|my) (?P<off>[\w' .-]+?) (?:is|was|are|were|has been|have been|got) (?:cancel+ed|called off)\b"
)
_OFF = re.compile(_CALLED_OFF)
_ENDS = re.compile(
    r"\b(?P<sure>sold|ditched|cancel+ed|traded in|got rid of|threw out|shaved off|broke up with|split up with|divorced|replaced"
    r"|took over from|instead of|rather than|(?:switched|changed) (?:\w+ ){0,4}?from|moved from|went from)"
    rf" (?P<what>[\w' .-]+?)(?= for | to | as | with |{_STOP[3:]}"
    rf"|(?<!n't )(?<!not )(?<!never )\b(?:quit|stopped|gave up|given up|stepped down as|resigned as|no longer)"
    rf" (?P<whole>[\w' .-]+?){_STOP}"
    rf"|{_CALLED_OFF}"
    rf"|\b(?P<perhaps>left|finished|dropped|can't make|outgrew|not) (?P<which>[\w' -]+?)(?=\.| for | to |{_STOP[3:]}"
    r"|\b(?:do not|don't|doesn't|isn't|am not|'m not|is not|are not|aren't|can't|cannot) (?P<denied>[\w' -]+?) any ?more\b"
)
_KIN = frozenset(
    "brother sister mum mom mother dad father son daughter wife husband partner uncle aunt cousin grandmother "
    "grandfather grandma grandpa nephew niece neighbour neighbor friend girlfriend boyfriend kids kid child parents "
    "boss flatmate roommate colleague".split()
)
_THEY = frozenset("he she they his her their him them".split())
_SELF = frozenset("i me my mine we our us ours i'm i've i'd i'll we're we've".split())
_LIGHT = frozenset(
    "take takes taking cost costs pay pays leave leaves start starts begin begins run runs running come comes coming "
    "meet meets happen happens use uses using work works working live lives see sees keep keeps get getting put drive "
    "drives hold holds sit sits wear wears plays study studies teach teaches order usually follow follows drink "
    "drinks close closes open opens end ends last lasts expire expires fly flying stay stays date time day number "
    "place plan plans name names called main current best pair more moment planned scheduled set fixed appointed "
    "amount monthly weekly month week year morning evening night weekend spring summer autumn winter line home half "
    "per since".split()
)
_CUES = frozenset(
    "now nowadays longer anymore instead currently correction actually update moved switched changed swapped "
    "rescheduled postponed pushed bumped shifted delayed brought forward raised lowered increased decreased reduced "
    "cut dropped went gone grew grown shrank rose risen fell fallen extended shortened renewed upgraded downgraded "
    "renamed replaced took promoted demoted transferred rebooked new stopped quit cancelled canceled gave given sold "
    "traded got rid ditched left broke split shaved stepped resigned retired finished painted passed hit reached "
    "earned decided started settled please airline hotel landlord".split()
)
_VALUE = re.compile(
    # What no value begins with is passed over at once: every write is read for these.
    rf"(?=[\d+$€£¥]|\b[adefhjmnoqstw])(?:"
    rf"(?P<contact>\+?\b\d{{3,}}(?:[- ]\d{{2,}})+\b)|(?P<date>\b{DATE}(?!\w))"
    rf"|(?P<amount>[$€£¥] ?\d[\d.,]*[km]?|\b{NUMBER} ?{UNIT}\b)"
    rf"|(?P<time>\b\d{{1,2}}:\d\d(?: ?[ap]m)?\b|\b\d{{1,2}} ?[ap]m\b|\b(?:half past|quarter (?:past|to)) \w+|\bnoon\b"
    rf"|\bmidnight\b"
    rf"|(?<=\bat )(?:{TIME}|{NUMBER})\b)|(?P<number>\b{NUMBER}\b))",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|costs?|weighs?|takes?|runs?|opens?|closes?|leaves?|starts?|ends?|lasts?|holds?|goes|needs?"
    r"|fixes|adds|moved|changed|got|been|will|can)\b|'s\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][\w'-]*|\d+[a-z]\w*", re.ASCII)
_UNITS = {"$": "dollar", "€": "euro", "£": "pound", "kg": "kilo", "minutes": "minute", "mins": "minute", "lbs": "lb"}
_IDLE = re.compile(
    r"\b(?:now|nowadays|these days|from now on|currently|actually|correction|update|instead|at the moment|since \w+)\b,?",
    re.I,
)
_TO = re.compile(r" (?:to|is now|are now|is|are) (?=\S+(?: \S+){0,5}$)", re.IGNORECASE)
_IS = re.compile(r" (?:is|are|'s) (?:about |called |named |painted |with |by |in |on |to |at )?", re.IGNORECASE)


def glance(sentence: str) -> Glance | None:
    """None where it is too long to be a statement, asks, or says that it only adds something."""
    text = _plain(sentence)
    small = text.lower()
    if not text or text.endswith("?") or len(text.split()) > MOST_WORDS or "://" in text or _MORE.search(small):
        return None
    over = tuple(_gone(text))
    return Glance(_stems(_VALUE.sub(" ", text)), bool(over or _CHANGE.search(small)), over)


def is_past(sentence: str) -> bool:
    """Whether it tells of something that is over anyway, and doesn't say of anything that it ended."""
    text = _plain(sentence)
    return bool(_PAST.search(_STATE.sub("", text))) and not any(_gone(text))


def read(sentence: str) -> Told | None:
    """All of it, where there is anything at a glance."""
    seen = glance(sentence)
    if seen is None:
        return None
    text, over, changed = _plain(sentence), seen.gone, seen.changed
    values, frame, names = _values(text)
    return Told(
        topic=seen.topic,
        head=_head(text, changed),
        whose=_whose(text),
        values=values,
        frame=frame if values else "",
        named=names,
        changed=changed,
        turned=bool(_TURNED.search(text)),
        opening=_opening(text),
        gone=over,
        past=is_past(sentence),
        planned=bool(_PLANNED.search(text)) and not over,
    )


def _plain(sentence: str) -> str:
    return " ".join(sentence.replace("’", "'").strip(' .!"“”').split())


def _values(text: str) -> tuple[tuple[Value, ...], str, frozenset[str]]:
    """The first value of each kind, the sentence with all of them left open, and the numbers that are names: parcel 1."""
    found: dict[str, str] = {}
    verb = _VERB.search(text)
    subject = verb.start() if verb else 0
    names = frozenset(
        match[0] for match in _VALUE.finditer(text) if match.lastgroup == "number" and match.start() < subject
    )
    for match in _VALUE.finditer(text):
        kind, said = match.lastgroup or "", match[0].casefold()
        if match[0] in names:
            continue
        exact = dict(typed(said, "at" if kind == "time" else ""))
        if kind == "amount":
            kind = f"amount {_unit(said)}"
        found.setdefault(kind, next(iter(exact.values()), said))
    words = _VALUE.sub(lambda match: match[0] if match[0] in names else " # ", text).casefold().split()
    frame = " ".join(word.strip(",.;:") for word in words if word.strip(",.;:") not in ("now", "the"))
    return tuple(found.items()), frame, names


def _unit(said: str) -> str:
    sign = re.sub(r"[\d.,\s]+", " ", said).split()
    unit = sign[-1] if sign else ""
    return _UNITS.get(unit, unit.rstrip("s"))


def _gone(text: str) -> Iterator[tuple[frozenset[str], bool]]:
    for match in _ENDS.finditer(text):
        said = match["what"] or match["whole"] or match["which"] or match["denied"] or match["off"] or ""
        if words := _stems(said, light=frozenset()):
            yield words, not match["perhaps"]


def _head(text: str, changed: bool) -> frozenset[str] | None:
    """What comes before the value: up to the last "to" of a change, or up to the verb."""
    parts = list(_TO.finditer(text)) if changed else list(_IS.finditer(text))[:1]
    return _stems(text[: parts[-1].start()]) if parts else None


def _opening(text: str) -> tuple[str, ...]:
    words = _VALUE.sub(" # ", _IDLE.sub(" ", text)).casefold().split()
    return tuple(word.strip(",.;:") for word in words)


def _whose(text: str) -> frozenset[str]:
    words = {word.casefold().removesuffix("'s").removesuffix("s'") for word in _WORD.findall(text)}
    others = frozenset(words & _KIN) or frozenset(words & _THEY)
    # "The trip is cancelled" is said of the one trip that both know of: the speaker's.
    return others | (frozenset({"self"}) if words & _SELF or _OFF.match(text) else frozenset())


def _stems(text: str, light: frozenset[str] = _LIGHT) -> frozenset[str]:
    words = (word.casefold().removesuffix("'s") for word in _WORD.findall(text))
    return frozenset(
        stem(word)
        for word in words
        if word.replace("'", "") not in ENGLISH and word not in light and word not in _CUES and word not in _SELF
    )
