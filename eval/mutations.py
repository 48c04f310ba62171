"""Texts that look alike: changed in one thing that matters, or in nothing but their clothes.

The texts are other people's; the ways to change them are ours, like the check they try, though written in other terms. Nothing is
random: what is chosen depends on the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import pairwise

Change = Callable[[str], str | None]
"""Another text, or None where this one has nothing to change."""

MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NAMES = "Anna Boris Clara Dmitri Elena Farid Greta Hugo Ines Jonas Karin Leon Mira Nils Olga Pavel".split()
HAN_NAMES = "李明 王芳 张伟 刘洋 陈静 杨帆 赵磊 黄丽 周强 吴敏".split()
PLACES = "北京 上海 广州 深圳 杭州 成都 南京 武汉 西安 重庆 天津 苏州".split()
HAN_DIGITS = "一二三四五六七八九"
SURNAMES = "李王张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗"
_ENGLISH = re.compile(r"[A-Za-z]{3}")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_NOT_A_NAME = {
    *MONTHS,
    *DAYS,
    "I",
    "The",
    "And",
    "But",
    "So",
    "My",
    "It",
    "He",
    "She",
    "We",
    "You",
    "They",
    "Hey",
    "Hi",
}


def changes() -> dict[str, Change]:
    """What makes another fact of a text."""
    return {
        "number": number, "date": date, "name": name, "negation": negation, "time": time_of_day, "unit": unit,
        "quoted": quoted, "roles": roles,
    }  # fmt: skip


def clothes() -> dict[str, Change]:
    """What leaves a text saying the same."""
    return {
        "upper case": lambda text: _if_other(text, text.upper()) if _ENGLISH.search(text) else None,
        "lower case": lambda text: _if_other(text, text.lower()),
        "punctuation": punctuation,
        "exclamation": lambda text: text.rstrip(".。!！ ") + "!!" if not text.rstrip().endswith(("?", "？")) else None,
        "full width": full_width,
        "spacing": spacing,
        "link": lambda text: (
            f"{text} https://news.example.org/{_number_of(text)}?utm_source=feed" if _long(text) else None
        ),
        "citation": lambda text: f"{text} [{_number_of(text) % 9 + 1}]",
        "sentences": sentences,
        "time first": time_first,
        "list": listed,
    }


def number(text: str) -> str | None:
    found = list(re.finditer(r"\d+", text))
    if found:
        match = found[_number_of(text) % len(found)]
        other = str(int(match[0]) + 1 + _number_of(text) % 7)
        return text[: match.start()] + other + text[match.end() :]
    return _swapped(text, rf"[{HAN_DIGITS}](?=[个只本次点岁千百万年月天人块元])", HAN_DIGITS)


def date(text: str) -> str | None:
    swapped = _swapped(text, rf"\b(?:{'|'.join(MONTHS)})\b", MONTHS) or _swapped(
        text, rf"\b(?:{'|'.join(DAYS)})\b", DAYS
    )
    return (
        swapped
        or _swapped(text, r"(?<=周)[一二三四五六日]|(?<=星期)[一二三四五六日]", "一二三四五六日")
        or _swapped(text, r"\b(?:yesterday|tomorrow|today)\b", ["yesterday", "tomorrow", "today"])
        or _swapped(text, r"昨天|明天|今天", ["昨天", "明天", "今天"])
    )


def name(text: str) -> str | None:
    # In the middle of a sentence, where a capital means a name.
    found = [m for m in re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", text) if m[0] not in _NOT_A_NAME]
    if found:
        match = found[_number_of(text) % len(found)]
        return text[: match.start()] + _other(match[0], NAMES, text) + text[match.end() :]
    return _swapped(text, "|".join(PLACES), PLACES) or _swapped(
        text, rf"(?<![\u4e00-\u9fff])[{SURNAMES}][\u4e00-\u9fff]{{1,2}}(?=是|在|的|说|和|去|要|喜)", HAN_NAMES
    )


def negation(text: str) -> str | None:
    for pattern, other in (
        (r"\b(is|are|was|were|will|can|could|should|would|have|has|do|did) not\b", r"\1"),
        (r"\b(do|does|did|is|are|was|were|have|has|ca|wo)n[’']t\b", r"\1"),
        (r"\b(is|are|was|were|will|can|could|should|would)\b(?! not)", r"\1 not"),
        (r"\bI (like|love|want|need|have|think|know|hope|am|feel)\b", r"I do not \1"),
        (r"不(?=喜|会|能|想|是|要|去)", ""),
        (r"没有", "有"),
        (r"(喜欢|会|想要|打算|能够|愿意|是)", r"不\1"),
    ):
        changed, times = re.subn(pattern, other, text, count=1)
        if times:
            return changed
    return None


def time_of_day(text: str) -> str | None:
    for pattern, other in (
        (r"(?<=\d) ?am\b", " pm"), (r"(?<=\d) ?pm\b", " am"), (r"\bmorning\b", "evening"), (r"\bevening\b", "morning"),
        (r"上午", "下午"), (r"下午", "上午"), (r"早上", "晚上"), (r"晚上", "早上"),
    ):  # fmt: skip
        changed, times = re.subn(pattern, other, text, count=1)
        if times:
            return changed
    return None


def unit(text: str) -> str | None:
    for here, there in (
        ("miles", "kilometers"), ("hours", "minutes"), ("minutes", "hours"), ("days", "weeks"), ("weeks", "months"),
        ("months", "years"), ("years", "months"), ("$", "€"), ("%", " points"), ("公里", "米"), ("小时", "分钟"), ("cm", "m"),
    ):  # fmt: skip
        if re.search(rf"\d ?{re.escape(here)}|{re.escape(here)}\d", text):
            return text.replace(here, there, 1)
    return None


def quoted(text: str) -> str | None:
    match = re.search(r"[\"“《]([^\"”》]{2,60})[\"”》]", text)
    return text[: match.start(1)] + "Another " + text[match.start(1) :] if match else None


def roles(text: str) -> str | None:
    """Two names change places."""
    found = [m for m in re.finditer(r"\b[A-Z][a-z]{2,}\b", text) if m[0] not in _NOT_A_NAME]
    for first, second in pairwise(found):
        between = text[first.end() : second.start()]
        if first[0] != second[0] and re.fullmatch(r" (?!and\b|or\b)[a-z]+(?: [a-z]+){0,4} ", between):
            return text[: first.start()] + second[0] + between + first[0] + text[second.end() :]
    return None


def punctuation(text: str) -> str | None:
    """Without the marks that only part words."""
    bare = re.sub(r"(?<=[A-Za-z])[.,;:!…]+(?=\s|$)|[，。；：！、]|(?<=\s)[–—-](?=\s[A-Za-z])|[\"“”]", "", text)
    return _if_other(text, " ".join(bare.split()))


def full_width(text: str) -> str | None:
    table = str.maketrans({",": "，", "!": "！", "?": "？", ";": "；"})
    return _if_other(text, text.translate(table)) if not re.search(r"\d,\d", text) else None


def spacing(text: str) -> str | None:
    if _HAN.search(text):
        return _if_other(text, re.sub(r"(?<=[\u4e00-\u9fff])(?=[\u4e00-\u9fff])", " ", text))
    return _if_other(text, "  " + text.replace(" ", "  ") + "\t")


def sentences(text: str) -> str | None:
    """Whole sentences in the other order, where none speaks of what another said."""
    parts = re.findall(r"[^.!?。！？\n]+[.!?。！？]+", text)
    if len(parts) < 2 or "".join(parts).strip() != text.strip() or re.search(r"\b[A-Z][a-z]{0,3}\.|\w\.\w", text):
        return None
    leaning = (
        r"\b(?:it|he|she|they|him|her|his|their|them|this|that|these|those|its|both|then|but|so|also|and|because)\b"
    )
    if any(re.search(rf"{leaning}|[他她它这那其此但因所也还又后然并而于该]", part.lower()) for part in parts):
        return None
    return (" " if not _HAN.search(text) else "").join(part.strip() for part in reversed(parts))


def time_first(text: str) -> str | None:
    match = re.fullmatch(
        rf"([A-Z][^.,!?]{{5,120}}?) (on (?:{'|'.join(DAYS)})|yesterday|tomorrow|last week|next month"
        rf"|in (?:{'|'.join(MONTHS)}))\.?",
        text.strip(),
    )
    if match and not re.search(r"\b(?:and|but|that|if|when|because|to|said|told|or|think|who|which|while)\b", match[1]):
        when = match[2][0].upper() + match[2][1:]
        return f"{when}, {match[1]}."
    han = re.fullmatch(
        r"(我|我们|他|她)(今天|明天|昨天|今年|去年|下周|上周)([^说想觉认知听告问以如因但和并而]{2,60})", text.strip()
    )
    return f"{han[2]}{han[1]}{han[3]}" if han else None


def listed(text: str) -> str | None:
    match = re.search(
        r"\b(?:like|love|enjoy|with|are|have|include|need) (\w+), (\w+),? and (\w+)([.!]?)$", text.strip()
    )
    if not match:
        return None
    return text.strip()[: match.start(1)] + f"{match[3]}, {match[1]} and {match[2]}{match[4]}"


def _swapped(text: str, pattern: str, others: list[str] | str) -> str | None:
    match = re.search(pattern, text)
    return text[: match.start()] + _other(match[0], list(others), text) + text[match.end() :] if match else None


def _other(word: str, others: list[str], text: str) -> str:
    left = [each for each in others if each != word]
    return left[_number_of(text) % len(left)]


def _number_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")


def _if_other(text: str, changed: str) -> str | None:
    return changed if changed != text else None


def _long(text: str) -> bool:
    return len(re.findall(r"[\u4e00-\u9fff]|\w+", text)) >= 4


def each_of(kinds: dict[str, Change], text: str) -> Iterator[tuple[str, str]]:
    for kind, change in kinds.items():
        changed = change(text)
        if changed is not None and changed != text:
            yield kind, changed
