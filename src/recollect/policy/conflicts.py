"""Whether a new memory contradicts an old one, and what to say when that isn't sure.

Two statements about one slot (`policy.slots`) with different values can't both be current. The later one replaces the earlier
where a slot holds one value; where it may hold several, both stay and somebody is asked. What is sure of itself replaces only
what says nothing else: of a text with two facts in it, the other one may still be true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from recollect.policy import slots_chinese, slots_english
from recollect.policy.slots import Statement, agree

Verdict = Literal["replaces", "unsure"]

MOST_SENTENCES = 8
READ = 2000
LONGEST = 160
"""Characters: what takes longer to say is a story, not a statement."""
QUOTED = 160
_END = re.compile(r"(?<=[.!?;])\s+|[。！？；]|\n+|(?<=[!?;])(?=[\u4e00-\u9fff])")
_HAN = re.compile("[\u4e00-\u9fff]")


def statements(text: str) -> list[Statement]:
    """What a text states; the first statement about a slot counts."""
    plain = unicodedata.normalize("NFKC", text[:READ])
    sentences = [part.strip() for part in _END.split(plain) if part and part.strip()]
    found: dict[str, Statement] = {}
    for sentence in sentences[:MOST_SENTENCES]:
        if len(sentence) > LONGEST or sentence.endswith("?"):
            continue
        read = slots_chinese.read if _HAN.search(sentence) else slots_english.read
        for each in read(sentence):
            found.setdefault(each.slot, each)
    alone = len(sentences) == 1 and len(text) <= READ
    return [replace(each, whole=alone) for each in found.values()]


def judged(new: Sequence[Statement], old: Sequence[Statement]) -> Verdict | None:
    """What the later text does to the earlier one; None when both may stand."""
    known = {each.slot: each for each in old}
    verdicts = {_compared(each, known[each.slot]) for each in new if each.slot in known}
    if "replaces" in verdicts:
        return "replaces"
    return "unsure" if "unsure" in verdicts else None


def is_many(new: Sequence[Statement], old: Sequence[Statement]) -> bool:
    """Whether they only differ where several values are no contradiction."""
    held = {each.slot: each.holds for each in old}
    return all("many" in (each.holds, held[each.slot]) for each in new if each.slot in held)


def question(new: str, old: Sequence[str]) -> str:
    """What to ask whoever knows, in the language of what was said."""
    before = "; ".join(f"“{_short(each)}”" for each in old)
    if _HAN.search(new):
        return f"之前记下的是{before}。新的“{_short(new)}”是更新，还是两者都成立？"
    return f"Earlier I was told: {before}. Does “{_short(new)}” replace that, or are both true?"


def _compared(new: Statement, old: Statement) -> Verdict | None:
    if agree(new.value, old.value):
        return None
    if "many" in (new.holds, old.holds):
        return "unsure"
    sure = old.whole and (new.changed or (new.holds == "one" and old.holds == "one"))
    return "replaces" if sure else "unsure"


def _short(text: str) -> str:
    told = " ".join(text.split())
    return told if len(told) <= QUOTED else told[: QUOTED - 1] + "…"
