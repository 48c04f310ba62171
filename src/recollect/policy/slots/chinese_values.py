"""Values of a known kind, as Chinese writes them: counts, times, days (`policy.slots`)."""

from __future__ import annotations

import re

_DIGITS = {character: str(number) for number, character in enumerate("零一二三四五六七八九")} | {"两": "2", "十": "10"}
COUNT = r"(?:\d+(?:\.\d+)?|[一二三四五六七八九两]?十[一二三四五六七八九]?|[一二三四五六七八九两])"
TIME = (
    rf"(?:(?:早上|上午|中午|下午|晚上|凌晨|傍晚)?(?:{COUNT}(?:点钟|点|时)(?:半|一刻|三刻|{COUNT}分?)?|\d{{1,2}}:\d\d))"
)
DATE = (
    r"(?:(?:每|下|本|这|上)?(?:周|星期|礼拜)[一二三四五六日天]|"
    rf"(?:\d{{4}}年)?{COUNT}月(?:{COUNT}[日号])?|{COUNT}号|\d{{4}}-\d\d-\d\d)"
)


def number(text: str) -> str:
    tens, ten, ones = text.partition("十")
    if ten:
        return str(int(_DIGITS.get(tens, "1") if tens else "1") * 10 + int(_DIGITS.get(ones, "0") if ones else "0"))
    return _DIGITS.get(text, text)


def digits(text: str) -> str:
    plain = re.sub(
        r"[一二三四五六七八九两]?十[一二三四五六七八九]?|[一二三四五六七八九两](?=[点时分月号年日]|$)",
        lambda m: number(m[0]),
        text,
    )
    return re.sub(r"(?<=\d)号$", "日", plain)
