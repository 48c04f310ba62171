"""What a later sentence does to an earlier one where no pattern of `policy.slots` knows the slot: by what both are about.

A sentence is taken apart into what it is about (its `topic`), the values of a known kind in it, and what it says has come to an
end. A later one replaces an earlier one when it speaks of a change and

    names what is over            "I sold the Garmin" after "My watch is a Garmin"
    is about exactly the same     "The due date of the report is now the 17th" after "The report is due on the 10th"

Where it is about more or about less, both stay and somebody is asked. Without a word of change nothing is concluded
here: what looks alike is held against each other by `policy.slots.alike`, which knows what says which thing is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from recollect.policy.slots import agree

MOST_KEYS = 4
MOST_VALUE = 5
"""Words that a value has at most."""
Verdict = Literal["replaces", "unsure"]
Value = tuple[str, str]
"""Its kind (time, date, number, or the unit of an amount), and the value."""


@dataclass(frozen=True, slots=True)
class Glance:
    """As much of `Told` as it takes to file a sentence: every write looks at that, and few have to be compared."""

    topic: frozenset[str]
    changed: bool
    gone: tuple[tuple[frozenset[str], bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    topic: frozenset[str]
    """Stems of what it is about: without values, words of change and verbs that any thing has."""
    head: frozenset[str] | None
    """Those before the verb, where the sentence says what something is: the rest is the value."""
    whose: frozenset[str]
    """Relatives and other people it speaks of by what they are; `self` for whoever speaks."""
    values: tuple[Value, ...]
    frame: str
    """The sentence with its values left open."""
    named: frozenset[str]
    """Numbers that say which thing is meant: parcel 1 is not parcel 0."""
    changed: bool
    """Whether it speaks of a change."""
    turned: bool = False
    """Whether it says so by a verb: renamed, switched, promoted; "now" may as well only add something."""
    opening: tuple[str, ...] = ()
    """Its words in order, without values and words of change: what two sentences begin with alike is told of both."""
    gone: tuple[tuple[frozenset[str], bool], ...] = ()
    """What it says is over; and whether that is sure to end what was said of it."""
    lasting: bool = False
    """Whether it tells how things are as a rule."""
    past: bool = False
    """Whether it tells of something that is over anyway."""
    planned: bool = False
    """Whether it tells what somebody means to do: that can only be given up."""

    @property
    def things(self) -> frozenset[str]:
        """What it is about, apart from whom."""
        return self.topic - self.whose


def keys(told: Told | Glance) -> Iterator[str]:
    """What to file it under, so that news about it finds it."""
    words = sorted(told.topic.union(*(over for over, _ in told.gone)), key=lambda word: (-len(word), word))
    return (f"about|{word}" for word in islice(words, MOST_KEYS))


def compared(new: Told, old: Told) -> Verdict | None:
    """What `new`, told later, does to `old`; None when both may stand."""
    if old.past or new.named != old.named:
        return None
    if not new.changed and not (old.planned or new.planned):
        return _told_again(new, old)
    if new.whose - {"self"} != old.whose - {"self"}:
        return None
    if old.planned or new.planned:
        return None if new.planned else _over(new, old)
    if over := _over(new, old):
        return over
    if (differs := _differing(new, old)) is not None:
        return _by_value(new, old) if differs else None
    return None if new.values or old.values else _by_words(new, old)


def _told_again(new: Told, old: Told) -> Verdict | None:
    """The same sentence with another value, and no word of change: sure only of what lasts."""
    if not new.frame or new.frame != old.frame or new.past or len(new.values) != 1 or not _differing(new, old):
        return None
    return "replaces" if new.lasting else "unsure"


def _over(new: Told, old: Told) -> Verdict | None:
    for words, sure in new.gone:
        if words and words <= old.topic:
            return "replaces" if sure and old.whose == new.whose else "unsure"
    return None


def _differing(new: Told, old: Told) -> bool | None:
    """Whether they give different values of one kind; None where they give none of the same kind."""
    mine = dict(new.values)
    shared = [(mine[kind], value) for kind, value in old.values if kind in mine]
    return any(not agree(a, b) for a, b in shared) if shared else None


def _by_value(new: Told, old: Told) -> Verdict | None:
    if old.frame and old.frame in new.frame:
        return "replaces"
    if not new.things and new.values[0][0].startswith("amount "):
        return "unsure"  # "I'm down to 76 kilos": of what, only the unit tells
    if not new.things & old.things:
        return None
    if new.things == old.things:
        return "replaces"
    return "unsure" if _nested(new.things, old.things) else None


def _by_words(new: Told, old: Told) -> Verdict | None:
    """Without values of a kind, the same thing must be said to be something else."""
    if new.head is not None and old.head is not None and (mine := new.head - new.whose) and mine & old.head:
        if (value := new.things - new.head) and value <= old.things - old.head:
            return None  # the same, only shorter
        theirs = old.head - old.whose
        if _nested(mine, theirs):
            return "replaces" if mine == theirs else "unsure"
    alike = _begin_alike(new, old)
    if alike >= 3 and not new.past:
        return "replaces" if new.opening[0] not in ("i", "we") and alike > len(new.whose) else "unsure"
    shared = new.things & old.things
    return "unsure" if new.turned and shared and old.things - shared and 2 * len(shared) >= len(old.things) else None


def _begin_alike(new: Told, old: Told) -> int:
    """How many words both begin with; none where one ends there, or has more to say than a value."""
    pairs = zip(new.opening, old.opening, strict=False)
    alike = next((at for at, (a, b) in enumerate(pairs) if a != b), 0)
    return alike if max(len(new.opening), len(old.opening)) - alike <= MOST_VALUE else 0


def _nested(a: frozenset[str], b: frozenset[str]) -> bool:
    return a <= b or b <= a
