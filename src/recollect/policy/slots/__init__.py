"""What a sentence states of what: subject and attribute on one side, the value on the other.

"The standup is at 9" fills the slot `standup|time` with 9, and "standup moved to 10" the same slot with 10, so the second finds
the first through an index of slots, without a search. How many values a slot holds at a time decides what a second one means:

    one     a home, a time, a count, whether something is so: another value replaces the first
    open    perhaps one, perhaps several (two meetings of the same name): somebody has to be asked
    many    what one likes: several side by side are no contradiction

Reading is by patterns, in English and Chinese (`slots_english`, `slots_chinese`); a sentence that fits none fills a slot by its
own shape (`alike`), and a few states are known by what they mean (`states`). What no pattern knows states nothing: a
conflict that is missed leaves two memories side by side, one that is invented hides something true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Holds = Literal["one", "open", "many"]
Change = Literal["one", "open", "when"]
"""What another value of a part means; `when` says on which days the rest is so, and another day may have a rest of its own."""
MOST_CHANGED = 2


class Part(NamedTuple):
    """One of the values a sentence has."""

    lead: str
    """The word before it."""
    value: str
    holds: Change


@dataclass(frozen=True, slots=True)
class Statement:
    slot: str
    value: str
    holds: Holds = "one"
    changed: bool = False
    """Whether it says itself that things were different: now, no longer, moved to."""
    whole: bool = True
    """Whether the text says nothing else."""
    parts: tuple[Part, ...] = ()
    """The values one by one, where a sentence has its own shape for a slot."""


def agree(a: str, b: str) -> bool:
    """Whether two values may be the same: equal, or one only more exact than the other."""
    if a == b:
        return True
    if not (a.isascii() or any(map(str.isdigit, a + b))):
        return a in b or b in a  # 广州, 广东广州
    mine, theirs = set(a.split()), set(b.split())
    return mine <= theirs or theirs <= mine


def changed_parts(new: Statement, old: Statement) -> Holds | None:
    """How sure it is that two sentences of one shape tell of one thing: by what differs. None when both may stand."""
    differ = [(a, b) for a, b in zip(new.parts, old.parts, strict=False) if not agree(a.value, b.value)]
    holds = {part.holds for pair in differ for part in pair}
    if not 1 <= len(differ) <= MOST_CHANGED or (len(differ) > 1 and "when" in holds):
        return None
    return "one" if len(differ) == 1 and holds == {"one"} else "open"
