"""Values of a known kind, as English writes them: times, days, amounts, colours, addresses (`policy.slots`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TO_TWENTY = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
)
NUMBERS = {word: str(number) for number, word in enumerate(_TO_TWENTY.split(), start=1)}
NUMBERS |= {
    word: str(10 * tens) for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), start=3)
}
NUMBER = rf"(?:\d[\d.,]*|{'|'.join(NUMBERS)})"
DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
UNIT = (
    r"(?:%|percent|dollars?|euros?|pounds?|usd|eur|kg|kilos?|g|grams?|lbs?|km|kilomet(?:er|re)s?|miles?|met(?:er|re)s?|cm|feet"
    r"|inches|hours?|minutes?|mins?|seconds?|ms|days?|weeks?|months?|years?|people|gb|mb|tb|degrees|calories|pages|steps)"
)
TIME = r"(?:\d{1,2}(?::\d\d)?(?: ?(?:am|pm|a\.m\.?|p\.m\.?|o'clock))?|noon|midnight)"
DATE = (
    rf"(?:{DAY}|{_MONTH} (?:the )?{_NTH}(?:,? \d{{4}})?|(?:the )?{_NTH} (?:of )?{_MONTH}(?: \d{{4}})?|\d{{4}}-\d\d-\d\d"
    rf"|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?|the \d{{1,2}}(?:st|nd|rd|th)|{_MONTH}(?: \d{{4}})?)"
)
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("time", TIME),
        ("date", DATE),
        ("contact", r"(?:\S+@\S+\.\w+|\+?[\d() -]{7,})"),
        (
            "amount",
            rf"(?:about |around |roughly )?(?:[$€£¥] ?\d[\d.,]*[km]?|{NUMBER} ?{UNIT})(?: (?:an?|per|each) \w+)?",
        ),
        (
            "colour",
            r"(?:dark |light |bright )?(?:red|blue|green|yellow|black|white|gr[ae]y|brown|orange|purple|pink|silver|gold)",
        ),
    )
)
_DAY_AND_TIME = re.compile(rf"(?:on )?(?P<d>{DATE}),?(?: at)? (?P<t>{TIME})|(?P<t2>{TIME}) on (?P<d2>{DATE})")
_LEADS_TO_TIME = ("at", "to", "for", "until", "by")


def typed(value: str, at: str) -> Iterator[tuple[str, str]]:
    """The kinds of value a text wholly consists of; a day and a time may stand together. `at` is the word before it."""
    text = " ".join(value.casefold().strip(" .!").split())
    kind = next((name for name, pattern in _KINDS if pattern.fullmatch(text)), None)
    both = _DAY_AND_TIME.fullmatch(text) if kind is None else None
    if both:
        yield "date", day(both["d"] or both["d2"])
        yield "time", clock(both["t"] or both["t2"])
    elif (kind == "time" and text.isdecimal() and at not in _LEADS_TO_TIME) or (kind is None and _is_number(text)):
        yield "number", number(text)
    elif kind is not None:
        yield kind, clock(text) if kind == "time" else day(text) if kind == "date" else _amount(text)


def number(text: str) -> str:
    folded = text.casefold().rstrip(".,").replace(",", "")
    return NUMBERS.get(folded, folded.rstrip("s") if re.fullmatch(DAY, folded) else folded)


def _is_number(text: str) -> bool:
    return re.fullmatch(NUMBER, text) is not None


def clock(text: str) -> str:
    """Hours and minutes, and the half of the day where it is told: "9" may be "9 am"."""
    text = text.replace(".", "").replace("o'clock", "").strip()
    match = re.fullmatch(r"(\d{1,2})(?::(\d\d))? ?(am|pm)?", text)
    if not match:
        return text
    clock = f"{int(match[1])}:{match[2] or '00'}"
    return f"{clock} {match[3]}" if match[3] else clock


def day(text: str) -> str:
    text = re.sub(r"\b(?:on|the|of)\b|[.,]|(?<=\d)(?:st|nd|rd|th)\b", " ", text)
    return " ".join(re.sub(rf"\b({DAY})\b", lambda match: match[1].rstrip("s"), text).split())


def _amount(text: str) -> str:
    text = re.sub(r"\b(?:about|around|roughly)\b", " ", text).replace(",", "")
    return " ".join(number(word) for word in re.sub(r"(?<=\d)(?=[a-z%])", " ", text).split())
