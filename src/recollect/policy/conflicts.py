"""Whether a new memory contradicts an old one, and what to say when that isn't sure.

Two statements about one slot (`policy.slots`) with different values can't both be current. The later one replaces the earlier
where a slot holds one value; where it may hold several, both stay and somebody is asked. What is sure of itself replaces only
what says nothing else: of a text with two facts in it, the other one may still be true. A sentence of the same shape with another
value is held against the first part by part (`policy.slots.alike`). Where no slot is known, a sentence that
speaks of a change is held against what is about the same (`policy.news`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from recollect.policy.news import Glance, Told, Verdict, compared, keys
from recollect.policy.news import chinese as news_chinese
from recollect.policy.news import english as news_english
from recollect.policy.slots import Statement, agree, changed_parts
from recollect.policy.slots import chinese as slots_chinese
from recollect.policy.slots import english as slots_english

__all__ = ["Reading", "Verdict", "is_many", "judged", "question", "reading", "ruled", "statements"]

MOST_SENTENCES = 8
MOST_NEWS = 4
"""Sentences of a text that are held against others one by one; more are a story."""
READ = 2000
LONGEST = 160
"""Characters: what takes longer to say is a story, not a statement."""
QUOTED = 160
_END = re.compile(
    r"(?<=[.!?;])(?<!\b[DM][rs]\.)(?<!\bMrs\.)(?<!\bProf\.)\s+|[。！？；]|\n+|(?<=[!?;])(?=[\u4e00-\u9fff])"
)
_HAN = re.compile("[\u4e00-\u9fff]")


_NARROWER = re.compile(
    r"\b(?:work|office|home|private|personal|mobile|landline|second|other|holiday|weekend|summer|winter)"
    r"(?= (?:phone|mobile|cell|number|email|e-mail|mail|address|account|laptop|computer|car|bike|desk)\b)"
    r"|\b(?:during|in|over|for) (?:the )?(?:summer|winter|spring|autumn|fall|holidays|semester)\b"
    r"|\b(?:at|on) (?:the )?weekends?\b|\bpart of the (?:year|time|week)\b"
    r"|(?:工作|办公|家庭|私人|备用)(?=电话|手机|号码|邮箱|地址)|(?:夏天|冬天|暑假|寒假|周末)",
    re.IGNORECASE,
)
"""Words that say which of several things is meant, or when something holds."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text states, slot by slot, and what its sentences are about."""

    said: Sequence[Statement]
    seen: Sequence[Glance | Told] = ()
    """What its sentences are about, at a glance."""
    sentences: tuple[str, ...] = ()
    alone: bool = True
    """Whether it is one sentence: of several, a change to one leaves the others standing."""

    @property
    def topics(self) -> list[str]:
        """What to file a single sentence under, so that news about it finds it."""
        return list(keys(self.seen[0])) if self.alone and self.seen else []

    @property
    def news(self) -> list[str]:
        """What its sentences that speak of a change are about: where to look for what they change."""
        return list(dict.fromkeys(key for each in self.seen if each.changed for key in keys(each)))

    @property
    def past(self) -> bool:
        """Whether it is one sentence that tells of something that is over anyway: no news changes that."""
        return self.alone and bool(self.seen) and _is_past(self.sentences[0], self.seen[0])

    @property
    def told(self) -> Sequence[Told]:
        """The same in full, for whoever compares."""
        return _told(self.sentences)


@lru_cache(maxsize=256)
def reading(text: str) -> Reading:
    sentences = _sentences(text)
    alone = len(sentences) == 1 and len(text) <= READ
    short = tuple(each for each in sentences if len(each) <= LONGEST) if len(sentences) <= MOST_NEWS else ()
    seen = [each for sentence in short if (each := _glanced(sentence)) is not None]
    return Reading(_stated(sentences, alone), seen, short, alone)


def _glanced(sentence: str) -> Glance | Told | None:
    return news_chinese.read(sentence) if _HAN.search(sentence) else news_english.glance(sentence)


@lru_cache(maxsize=256)
def _told(sentences: tuple[str, ...]) -> Sequence[Told]:
    read = (news_chinese.read(each) if _HAN.search(each) else news_english.read(each) for each in sentences)
    return [each for each in read if each is not None]


@lru_cache(maxsize=256)
def _is_past(sentence: str, seen: Glance | Told) -> bool:
    return seen.past if isinstance(seen, Told) else news_english.is_past(sentence)


def statements(text: str) -> list[Statement]:
    """What a text states; the first statement about a slot counts."""
    return list(reading(text).said)


def _stated(sentences: Sequence[str], alone: bool) -> list[Statement]:
    found: dict[str, Statement] = {}
    for sentence in sentences[:MOST_SENTENCES]:
        if len(sentence) > LONGEST or sentence.endswith("?"):
            continue
        read = slots_chinese.read if _HAN.search(sentence) else slots_english.read
        for each in read(sentence):
            found.setdefault(each.slot, each)
    return [replace(each, whole=alone) for each in found.values()]


def _sentences(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text[:READ])
    return [part.strip() for part in _END.split(plain) if part and part.strip()]


def ruled(new: Reading, old: Reading) -> Verdict | None:
    """What the later text does to the earlier one; None when both may stand.

    One that says which of several is meant, or when, where the other doesn't ("my work number", "in summer") may as well stand
    beside it: that is for its owner to say.
    """
    verdict = _ruled(new, old)
    return "unsure" if verdict == "replaces" and _narrowed(new) != _narrowed(old) else verdict


def _narrowed(text: Reading) -> frozenset[str]:
    return frozenset(match[0].casefold() for each in text.sentences for match in _NARROWER.finditer(each))


def _ruled(new: Reading, old: Reading) -> Verdict | None:
    """Slots come first: what agrees there agrees."""
    verdict = judged(new.said, old.said)
    known = {each.slot for each in old.said}
    shared = [each for each in new.said if each.slot in known]
    # What has the same shape was held against it word by word; only a word of change says more.
    settled = bool(shared) and (verdict is None or any(each.parts and not each.changed for each in shared))
    if verdict == "replaces" or settled or not (old.alone and old.seen):
        return verdict
    places = _worth_comparing(new, old.seen[0])
    if not places or old.past:
        return verdict
    verdicts = {compared(new.told[place], old.told[0]) for place in places}
    return "replaces" if "replaces" in verdicts else "unsure" if "unsure" in verdicts else verdict


def _worth_comparing(new: Reading, old: Glance | Told) -> list[int]:
    """Which sentences of it could say something else of the same: to read one in full takes as long as to store it. Without a
    word of change that is only one with the same words around its value."""
    return [place for place, each in enumerate(new.seen) if each.changed or each.topic == old.topic]


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
    shared = [(each.holds, held[each.slot]) for each in new if each.slot in held]
    return bool(shared) and all("many" in pair for pair in shared)


def question(new: str, old: Sequence[str]) -> str:
    """What to ask whoever knows, in the language of what was said."""
    before = "; ".join(f"“{_short(each)}”" for each in old)
    if _HAN.search(new):
        return f"之前记下的是{before}。新的“{_short(new)}”是更新，还是两者都成立？"
    return f"Earlier I was told: {before}. Does “{_short(new)}” replace that, or are both true?"


def _compared(new: Statement, old: Statement) -> Verdict | None:
    if new.parts and old.parts:
        holds = changed_parts(new, old)
        return None if holds is None else "replaces" if holds == "one" and old.whole else "unsure"
    if agree(new.value, old.value):
        return None
    if "many" in (new.holds, old.holds):
        return "unsure"
    sure = old.whole and (new.changed or (new.holds == "one" and old.holds == "one"))
    return "replaces" if sure else "unsure"


def _short(text: str) -> str:
    told = " ".join(text.split())
    return told if len(told) <= QUOTED else told[: QUOTED - 1] + "…"
