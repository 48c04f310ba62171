"""Chinese sentences of one shape that differ in a value (`policy.slots.alike`): 工作日的站会是九点半, 工作日的站会是十点.

What opens a sentence, stands before 的 or is counted off with 第 says which thing is meant and is never left open: 周一的站会,
12号柜子, 第三集. What somebody did, or does at two times, is not replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.policy.slots import Change, Part, Statement
from recollect.policy.slots.chinese_values import COUNT, DATE, TIME, digits

LONGEST = 36
MOST_PARTS = 4
_MONEY = rf"[¥$€]?{COUNT}[百千万亿]*"
_SPAN = re.compile(
    rf"(?P<time>{TIME})|(?P<date>{DATE}(?![\u4e00-\u9fff]*柜))|(?P<value>[A-Za-z]{{0,3}}-?\d[\d.,-]*[A-Za-z]?|{_MONEY})"
)
_HINT = re.compile(r"[\d一二三四五六七八九十两日]")
_IDLE = re.compile(r"现在|目前|如今|我们的|我的|咱们的|大概|大约|左右")
_DONE = re.compile(
    r"[\u4e00-\u9fff]了(?!$)|过(?=[\u4e00-\u9fff\d])|今[天早晚]|昨|明天|刚|[他她它这那]|一[个家名位种些下起样般]"
)
_OTHER = re.compile(r"[不没别,，\[\]|·]")
"""A denial, a second clause, a line of a log."""
_SELF = re.compile(r"^(?:我们|我|咱们?)(?!们?的|们?家的|的)")
_DOES = re.compile("[吃喝买花跑看读走做写见]")
"""What is done may be done twice."""
_LASTING = re.compile(r"每|要(?=[\d一二三四五六七八九十两])|一[天周月年次]")
_ROUND = re.compile(r"周会|例会|月会|晨会|站会|年会")
_HOURS = re.compile(r"开门|关门|营业|打烊|开放")


def read(bare: str) -> Iterator[Statement]:
    if len(bare) > LONGEST or not _HINT.search(bare) or _DONE.search(bare) or _OTHER.search(bare):
        return
    text = _IDLE.sub("", bare)
    parts: list[Part] = []
    own = _SELF.match(bare)

    def left_open(match: re.Match[str]) -> str:
        before, after = text[: match.start()], text[match.end() :]
        if not before or before in ("我", "我们") or before[-1] == "第" or after.startswith("的") or len(match[0]) > 14:
            return match[0]
        again = match.lastgroup == "date"
        if again and _HOURS.search(bare):
            return match[0]
        holds: Change = "one"
        if (own or _DOES.search(before)) and (match.lastgroup != "value" or not _LASTING.search(bare)):
            holds = "open"
        if again and match[0][0] == "每" and not _ROUND.search(before):
            holds = "when"
        parts.append(Part("", digits(match[0]), holds))
        return "@" if again else "#"

    frame = _SPAN.sub(left_open, text)
    if 1 <= len(parts) <= MOST_PARTS and len(frame) >= 3:
        yield Statement(f"alike|{frame}", " ".join(part.value for part in parts), parts=tuple(parts))
