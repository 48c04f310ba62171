"""Time expressions in a question, English and Chinese, resolved to windows on the calendar.

`windows("what did I plan last May?", now)` gives the half-open spans the question speaks of, so that ranking can
prefer what was said then. A month, day or weekday without a year means its latest occurrence, the current
month included; a vague span ("a few days ago") gets a wide window. Unknown wording gives no window: a missed
expression costs a little ranking, an invented one hides the answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple


class Window(NamedTuple):
    """A half-open span of time: `start <= t < end`."""

    start: datetime
    end: datetime


Resolver = Callable[[re.Match[str], datetime], Window | None]

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_SEASONS = {"spring": 3, "春": 3, "summer": 6, "夏": 6, "autumn": 9, "fall": 9, "秋": 9, "winter": 12, "冬": 12}
_NUMBERS: dict[str, float] = {
    w: n
    for n, w in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4, "半": 0.5, "两": 2, "几": 3, "数": 3}
_HAN_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九十")}
_DAYS: dict[str, float] = {
    "day": 1,
    "天": 1,
    "日": 1,
    "week": 7,
    "周": 7,
    "星期": 7,
    "礼拜": 7,
    "month": 30.4,
    "月": 30.4,
    "year": 365.25,
    "年": 365.25,
}
_SPOKEN_DAYS = {
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "tomorrow": 1,
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "明天": 1,
    "后天": 2,
}  # fmt: skip
_FEASTS = {
    "christmas": (12, 24, 3), "圣诞": (12, 24, 3), "new year's": (12, 31, 2), "元旦": (12, 31, 3), "halloween": (10, 31, 1),
    "valentine's": (2, 14, 1), "thanksgiving": (11, 22, 7), "春节": (1, 21, 30), "五一": (5, 1, 5), "国庆": (10, 1, 7),
    "暑假": (7, 1, 62), "寒假": (1, 10, 45),
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|(?:{'|'.join(m[:3] for m in _MONTHS)}|sept)\b\.?)"
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?!\d)"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_COUNT = rf"(?:an?\s+)?(?P<count>\d+|{'|'.join(w for w in _NUMBERS if w.isascii())})(?:\s+of)?"
_HAN_COUNT = r"(?P<count>\d+|[一二三四五六七八九十两半几数]+)"

_READ = 1000  # characters: nobody asks for a time further in, and twenty patterns over more would hold up everyone else
# One look that most texts fail saves twenty: whatever a rule below can match holds one of these.
_HINT = re.compile(
    rf"\d|{'|'.join(month[:3] for month in _MONTHS)}|day|week|month|year|night|morning|evening|noon|ago|last|past|recent"
    rf"|next|this|{'|'.join(_SEASONS)}|{'|'.join(_FEASTS)}|[年月日周天昨今明前后号夜晚早上下去刚最近期假节初底末]"
)


def windows(text: str, now: datetime) -> list[Window]:
    """The spans of time `text` speaks of, in reading order; empty when it speaks of none."""
    return timed(text, now)[0]


def timed(text: str, now: datetime) -> tuple[list[Window], str]:
    """The spans of time `text` speaks of, and what it says beside them."""
    rest = unicodedata.normalize("NFKC", text[:_READ]).casefold().replace("’", "'")
    if not _HINT.search(rest):
        return [], text
    found: list[tuple[int, Window]] = []
    for pattern, resolve in _ENGLISH_RULES if rest.isascii() else _RULES:
        for match in pattern.finditer(rest):
            window = _resolved(resolve, match, now)
            if window:
                found.append((match.start(), window))
                rest = rest[: match.start()] + "\0" * len(match[0]) + rest[match.end() :]
    ordered = [window for _, window in sorted(found)]
    if len(ordered) == 2 and re.search(r"\bbetween\b|\bfrom\b.*\b(?:to|until|till)\b|从.*[到至]", rest):
        ordered = [Window(min(w.start for w in ordered), max(w.end for w in ordered))]
    return ordered, rest + text[_READ:]


def _resolved(resolve: Resolver, match: re.Match[str], now: datetime) -> Window | None:
    try:
        window = resolve(match, now)
        return _led_by_distance(match.string[: match.start()], window) if window else None
    except (ValueError, OverflowError):  # "31 February", "in 9000 years": dates no calendar holds
        return None


def _led_by_distance(before: str, window: Window) -> Window:
    """ "Two weeks before 11 August" may be told on either day, so the window grows to hold both."""
    match = re.search(
        rf"(?:(?:{_COUNT}|the)\s+)?(?P<unit>day|week|month)(?:end)?s?\s+(?P<side>before|after)\s*$", before
    )
    if not match:
        return window
    span = timedelta(days=_number(match["count"] or "1") * _DAYS[match["unit"]])
    if match["side"] == "before":
        return Window(window.start - span, window.end)
    return Window(window.start, window.end + span)


def _number(word: str) -> float:
    if word.isdecimal():
        return int(word)
    if word in _NUMBERS:
        return _NUMBERS[word]
    tens, ten, ones = word.partition("十")
    if not ten:
        return _HAN_DIGITS.get(word[-1], 3)
    return 10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0)


def _midnight(now: datetime, days: float = 0) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)


def _span(start: datetime, days: float) -> Window:
    return Window(start, start + timedelta(days=days))


def _months(now: datetime, year: int, month: int, count: int = 1) -> Window:
    """`count` whole months; `month` may run over either end of the year."""
    first = _midnight(now).replace(day=1)
    at = [divmod(year * 12 + month - 1 + shift, 12) for shift in (0, count)]
    return Window(*(first.replace(year=y, month=m + 1) for y, m in at))


def _calendar(now: datetime, year: int | None, month: int, day: int | None, part: str = "") -> Window:
    """A month, a day or a third of a month; without a year, its latest occurrence."""
    chosen = year if year is not None else now.year - (month > now.month)
    whole = _months(now, chosen, month)
    if day:
        return _span(whole.start.replace(day=day), 1)
    if part in {"early", "beginning", "start", "初", "上旬"}:
        return _span(whole.start, 10)
    if part in {"mid", "middle", "中", "中旬"}:
        return _span(whole.start + timedelta(days=10), 10)
    if part in {"late", "end", "底", "末", "下旬"}:
        return Window(whole.start + timedelta(days=20), whole.end)
    return whole


def _iso(match: re.Match[str], now: datetime) -> Window:
    return _calendar(now, int(match["year"]), int(match["month"]), int(match["day"] or 0))


def _english_date(match: re.Match[str], now: datetime) -> Window | None:
    group = match.groupdict()
    month = next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(match["month"][:3]))
    year = int(group["year"]) if group.get("year") else None
    if group.get("which"):
        step = {"next": 1, "this": 0}.get(group["which"], -1)
        year = now.year + step + (step < 0 and month < now.month) - (step > 0 and month > now.month)
    elif not year and not group.get("day") and not group.get("lead") and month in (3, 5):
        return None  # "may" and "march" are verbs unless something marks them as months
    return _calendar(now, year, month, int(group.get("day") or 0), (group.get("part") or "").split(" ")[0])


def _season(match: re.Match[str], now: datetime) -> Window:
    month = _SEASONS[match["season"]]
    group = match.groupdict()
    if group.get("year"):
        return _months(now, int(match["year"]), month, 3)
    if group.get("which") in {"去年", "今年"}:
        return _months(now, now.year - (group["which"] == "去年"), month, 3)
    this = _months(now, now.year - (month > now.month), month, 3)
    passed = group.get("which") == "last" and this.start <= now < this.end
    return _months(now, this.start.year - passed, month, 3)


def _year(match: re.Match[str], now: datetime) -> Window:
    return _months(now, int(match["year"]), 1, 12)


def _ago(match: re.Match[str], now: datetime) -> Window:
    """The further back and the vaguer the word, the wider the window."""
    count, unit = _number(match["count"]), _DAYS[match["unit"]]
    slack = max(min(count, 1) * unit / 2, 0.15 * count * unit) * (
        2 if match["count"] in {"few", "several", "couple", "几", "数"} else 1
    )
    middle = _midnight(now, -count * unit)
    whole = timedelta(days=int(slack) if unit > 1 or count > 9 else 0)
    return Window(middle - whole, middle + whole + timedelta(days=1))


def _recent(match: re.Match[str], now: datetime) -> Window:
    return Window(_midnight(now, -_number(match["count"]) * _DAYS[match["unit"]]), _midnight(now, 1))


def _relative_unit(match: re.Match[str], now: datetime) -> Window:
    step = {"next": 1, "下": 1, "this": 0, "这": 0, "本": 0, "上上": -2}.get(match["which"], -1)
    unit = match["unit"]
    if unit in {"month", "月"}:
        return _months(now, now.year, now.month + step)
    if unit == "year":
        return _months(now, now.year + step, 1, 12)
    monday = _midnight(now, -now.weekday() + 7 * step)
    return _span(monday + timedelta(days=5), 2) if unit == "weekend" else _span(monday, 7)


def _weekday(match: re.Match[str], now: datetime) -> Window:
    name, which = match["name"], match["which"]
    index = _WEEKDAYS.index(name) if name in _WEEKDAYS else "一二三四五六日".find(name.replace("天", "日"))
    monday = _midnight(now, -now.weekday())
    if which in {"上上", "上", "本", "这", "下"}:
        week = monday + timedelta(weeks={"上上": -2, "上": -1, "下": 1}.get(which, 0))
        return _span(week + timedelta(days=5), 2) if name == "末" else _span(week + timedelta(days=index), 1)
    past = _midnight(now, -((now.weekday() - index) % 7 or 7 * (which == "last")))
    return _span(past + timedelta(weeks=1) if which == "next" else past, 1)


def _spoken_day(match: re.Match[str], now: datetime) -> Window:
    return _span(_midnight(now, _SPOKEN_DAYS[match[0]]), 1)


def _feast(match: re.Match[str], now: datetime) -> Window:
    month, day, length = _FEASTS[match[0]]
    start = _calendar(now, None, month, day).start
    return _span(start if start <= now else start.replace(year=start.year - 1), length)


def _han_date(match: re.Match[str], now: datetime) -> Window | None:
    group = match.groupdict()
    named = {"前年": -2, "去年": -1, "今年": 0, "明年": 1}
    year = int(group["year"]) if group["year"] else None
    if group["named"]:
        year = now.year + named[group["named"]]
    if not group["month"]:
        half = {"上半年": (1, 6), "下半年": (7, 6), "初": (1, 2), "底": (11, 2), "末": (11, 2)}.get(
            group["half"] or "", (1, 12)
        )
        return _months(now, year, *half) if year else None
    month, day = int(_number(group["month"])), int(_number(group["day"])) if group["day"] else None
    return _calendar(now, year, month, day, group["part"] or "")


_RULES: list[tuple[re.Pattern[str], Resolver]] = [
    (re.compile(pattern), resolve)
    for pattern, resolve in (
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?(?!\d)", _iso),
        (rf"\b{_NTH}\s+(?:of\s+)?{_MONTH}(?:,?\s*{_YEAR})?", _english_date),
        (rf"\b{_MONTH}\s+(?:the\s+)?{_NTH}(?:\s*,?\s*{_YEAR})?", _english_date),
        (
            rf"(?:\b(?P<part>early|mid|middle|late|beginning|start|end)(?:\s+of)?[\s-]+)?"
            rf"(?:\b(?P<lead>in|during|since|until|before|after|by|of|from|to|and|(?P<which>last|this|next))\s+)?"
            rf"\b{_MONTH}(?!\w)(?:\s+of)?(?:,?\s*{_YEAR})?",
            _english_date,
        ),
        (r"\b(?:(?P<which>last|this|past)\s+|the\s+)(?P<season>spring|summer|autumn|fall|winter)\b", _season),
        (rf"\b(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+)?{_YEAR}", _season),
        (
            r"(?:(?P<year>\d{4})年|(?P<named>前年|去年|今年|明年))?的?"
            r"(?:(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:份)?的?"
            r"(?:(?P<day>\d{1,2}|[二三]?十?[一二三四五六七八九十])[日号]|(?P<part>初|上旬|中旬|下旬|底|末|中))?"
            r"|(?P<half>上半年|下半年|初|底|末)|(?<=年)(?![一二三四五六七八九十\d春夏秋冬]))",
            _han_date,
        ),
        (r"(?:(?P<year>\d{4})年|(?P<which>去年|今年))的?(?P<season>[春夏秋冬])[天季]", _season),
        (rf"\b{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+ago\b", _ago),
        (rf"{_HAN_COUNT}多?个?(?P<unit>天|日|周|星期|礼拜|月|年)多?(?:之|以)?前", _ago),
        (rf"\b(?:last|past|previous)\s+{_COUNT}\s+(?P<unit>day|week|month|year)s?\b", _recent),
        (rf"(?:最近|过去|近)的?{_HAN_COUNT}个?(?P<unit>天|日|周|星期|礼拜|月|年)", _recent),
        (r"\b(?P<which>last|past|previous|this|next)\s+(?P<unit>week(?:end)?|month|year)\b", _relative_unit),
        (r"(?P<which>上上|上|这|本|下)个?(?P<unit>周|星期|礼拜|月)(?![一二三四五六日天末])", _relative_unit),
        (rf"\b(?:(?P<which>last|this|next|on)\s+)(?P<name>{'|'.join(_WEEKDAYS)})\b", _weekday),
        (r"(?P<which>上上|上|这|本|下)个?(?:周|星期|礼拜)(?P<name>[一二三四五六日天末])", _weekday),
        (r"(?<![每一两三四五六七八九十\d个])(?P<which>)(?:周|星期|礼拜)(?P<name>[一二三四五六日天])", _weekday),
        (rf"\b(?:{'|'.join(w for w in _SPOKEN_DAYS if w.isascii())})\b", _spoken_day),
        ("|".join(w for w in _SPOKEN_DAYS if not w.isascii()), _spoken_day),
        ("|".join(map(re.escape, filter(str.isascii, _FEASTS))), _feast),
        ("|".join(w for w in _FEASTS if not w.isascii()), _feast),
        (rf"\b{_YEAR}", _year),
    )
]
_ENGLISH_RULES = [(pattern, resolve) for pattern, resolve in _RULES if pattern.pattern.isascii()]
