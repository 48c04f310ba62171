"""Which of several answers is the latest word: at recall, over whatever was found, verbatim turns included.

What people say in passing ("by the way, I'm now at 600 followers") is filed under no slot when it is written, but a question asks
for one thing, and that is enough to hold two answers against each other: both speak of what is asked for, and give different
values of the kind that is asked for, or the later one speaks of a change or denies what the earlier one says. Then the later one
comes first, and the earlier one is marked: shown still, but as what was said before.

Nothing is hidden and nothing is decided for good here. A question about how things used to be changes no order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import log

from recollect.model import Hit
from recollect.policy.conflicts import is_many, statements
from recollect.policy.latest.words import (
    ADDS_UP,
    ASKS,
    DATED,
    EVER,
    GENERIC,
    HISTORY,
    MANY,
    NAME,
    NEVER,
    NUMERAL,
    OWN,
    PRESENT,
    QUOTED,
    RARE,
    SENTENCE,
    TURN,
    UNTOLD,
    VALUES,
)
from recollect.policy.slots.values import NUMBERS
from recollect.policy.text import analyse, query_terms, subject_terms

LOOKED_AT = 12
"""Hits that are held against each other: those that are likely to be shown."""
READ = 1500
AS_MUCH = 0.8
"""How much of what is asked for a later word must hold, beside an earlier one, to be one on the same thing."""
ENOUGH = 0.35
"""The share of what is asked for, rare words counting more, that two answers must have in common."""
FEW = 0.1
"""The same where nothing but a rhythm answers: there are few of them."""
MOST = 0.6
"""The same where the question asks for a kind of value that little else is told in."""
HALF = 0.4
"""The same where it speaks of a change, or counts the same."""
BRIEF = 160
"""Characters of what says one thing."""
WORDINGS = ("alike|", "whether|", "是否|")
"""Slots that are named after a sentence's own wording."""
NEAR = 4
"""Words within which a number says how many there are of a thing."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks for: its words, and whether it wants a number, a yes or no, or something else."""

    terms: frozenset[str]
    counted: frozenset[str]
    """What it wants to know the number of."""
    kind: str
    """The kind of value that answers it; "whether" for a yes or a no, empty for anything else."""
    present: bool
    """Whether it says that it wants to know how things are now."""
    named: frozenset[str] = frozenset()
    """The words of it that are names: what tells one team from another."""
    numbered: frozenset[str] = frozenset()
    """The numbers in it: rack 3 is not rack 4."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A hit as it answers the question: the words of it that are asked for, and what it says about them."""

    hit: Hit
    terms: frozenset[str]
    values: frozenset[str]
    exact: bool
    """Whether the values stand beside what is counted."""
    turns: bool
    denies: bool
    told: str = ""
    """The sentences that were read for it."""

    @property
    def is_brief(self) -> bool:
        """Whether every word of it bears on the matter: who writes more names others and asks along the way."""
        return len(self.told) <= BRIEF

    @property
    def at(self) -> tuple[datetime, int]:
        return self.hit.said_at, self.hit.message.order if self.hit.message is not None else 0

    @property
    def voice(self) -> str:
        message = self.hit.message
        return "user" if message is None else message.name or message.role


def latest_first(
    text: str, hits: Sequence[Hit], *, factual: bool = True, disputed: Collection[frozenset[str]] = ()
) -> list[Hit]:
    """The hits with the latest word on what is asked for before earlier ones, and those marked.

    Not `factual` is a request for advice and the like: only what it asks for as a value has a latest word. `disputed` are ids of
    memories that may not both be true, whatever is asked.
    """
    if len(hits) < 2 or asks_for_history(text):
        return list(hits)
    later = _disputes(hits, disputed)
    asked = None if ADDS_UP.search(QUOTED.sub("", text)) else _asked(text)
    if asked is not None and (factual or asked.kind not in ("", "whether")):
        answers = [answer for hit in hits[:LOOKED_AT] if (answer := _answer(hit, asked)) is not None]
        weights = _weights(asked, answers)
        for old in answers:
            found = [new for new in answers if _replaces(new, old, asked, weights)]
            found.sort(key=lambda new: (_weight(new.terms, weights), new.at))
            later.setdefault(id(old.hit), []).extend(new.hit for new in found)
    return _in_order(hits, {old: news for old, news in later.items() if news})


def asks_for_history(text: str) -> bool:
    """Whether a question wants to know how things were before."""
    return HISTORY.search(QUOTED.sub("", text)) is not None


def _disputes(hits: Sequence[Hit], disputed: Collection[frozenset[str]]) -> dict[int, list[Hit]]:
    later: dict[int, list[Hit]] = {}
    memories = [(hit, hit.memory) for hit in hits if hit.memory is not None] if disputed else []
    for hit, old in memories:
        news = [
            (new.created_at, other)
            for other, new in memories
            if frozenset({old.id, new.id}) in disputed
            and (new.created_at, new.id) > (old.created_at, old.id)
            and not is_many(statements(new.content), statements(old.content))
        ]
        later[id(hit)] = [other for _, other in sorted(news, key=lambda each: each[0])]
    return later


def _asked(text: str) -> _Asked:
    terms = frozenset(term for term in subject_terms(text) or query_terms(text) if term not in GENERIC)
    kind = next((kind for kind, pattern in ASKS if pattern.search(text)), "whether" if EVER.search(text) else "")
    match = MANY.search(text) if kind == "many" else None
    counted = frozenset(query_terms(match["what"] or "", or_all=False)) & terms if match else frozenset()
    named = frozenset(query_terms(" ".join(NAME.findall(text)), or_all=False)) & terms
    return _Asked(terms, counted, kind, bool(PRESENT.search(text)), named, frozenset(NUMERAL.findall(text)))


def _in_order(hits: Sequence[Hit], over: Mapping[int, Sequence[Hit]]) -> list[Hit]:
    """Each later word takes its place before the first it outdates."""
    ordered = list(hits)
    for hit in hits:
        for later in over.get(id(hit), ()):
            here, there = (next(at for at, each in enumerate(ordered) if each is one) for one in (hit, later))
            if there > here:
                ordered.insert(here, ordered.pop(there))
    return [_marked(hit, over[id(hit)][-1]) if id(hit) in over else hit for hit in ordered]


def _marked(hit: Hit, later: Hit) -> Hit:
    return replace(hit, outdated_by=later.target, signals={**hit.signals, "outdated": 1.0})


def _weights(asked: _Asked, answers: Sequence[_Answer]) -> dict[str, float]:
    """What few of the answers hold says more about which of them are about the same; what none holds says nothing."""
    held = {term: sum(term in each.terms for each in answers) for term in asked.terms}
    return {term: log(1 + len(answers) / count) for term, count in held.items() if count}


def _replaces(new: _Answer, old: _Answer, asked: _Asked, weights: Mapping[str, float]) -> bool:
    if new.at <= old.at or new.voice != old.voice or new.hit.space != old.hit.space:
        return False
    return _outdates(new, old, asked, weights) and not (_of_another(new, old, asked) or _apart(new, old))


def _outdates(new: _Answer, old: _Answer, asked: _Asked, weights: Mapping[str, float]) -> bool:
    """Whether they answer the same, and differently."""
    common = new.terms & old.terms
    shared, mine, theirs = (_weight(terms, weights) for terms in (common, new.terms, old.terms))
    if shared < (FEW if asked.kind == "often" else ENOUGH) * sum(weights.values()) and not (
        len(common) > 1 and shared >= AS_MUCH * min(mine, theirs)
    ):
        return False
    to_the_point = mine >= AS_MUCH * theirs
    differs = bool(new.values - old.values and old.values - new.values)
    if asked.kind == "whether":
        return (
            to_the_point
            and not (new.is_brief and UNTOLD.search(new.told))
            and (new.denies != old.denies or (new.turns and differs))
        )
    if asked.kind:
        least = HALF if new.turns or new.exact else MOST if asked.kind in RARE else AS_MUCH
        near = mine >= least * theirs
        return differs and near and (new.turns or new.exact or not old.exact)
    return to_the_point and (new.turns or asked.present)


def _of_another(new: _Answer, old: _Answer, asked: _Asked) -> bool:
    """Whether the later one tells of somebody or something else: it has another name where the question and the earlier one have
    theirs, or speaks of others where that speaks of its speaker."""
    if new.is_brief and (asked.named & old.terms) - new.terms:
        mine, theirs = (frozenset(NAME.findall(each.told)) for each in (new, old))
        if mine - theirs:
            return True
    if asked.numbered & set(NUMERAL.findall(old.told)) - set(NUMERAL.findall(new.told)):
        return True
    return not new.turns and bool(OWN.match(old.told)) and not OWN.search(new.told)


def _apart(new: _Answer, old: _Answer) -> bool:
    """Whether two that say one thing each say it of different things: where one has a word that is asked for the other has one of
    its own ("my sister's birthday", "my brother's birthday"), or they fill different slots (an age, a birthday)."""
    if not (new.is_brief and old.is_brief):
        return False
    mine, theirs = (_words(each.told) for each in (new, old))
    if (new.terms - old.terms and theirs - mine) or (old.terms - new.terms and mine - theirs and not new.turns):
        return True
    filled, before = (_slots(each.told) for each in (new, old))
    return bool(filled and before) and filled.isdisjoint(before)


def _words(text: str) -> frozenset[str]:
    """What a text says beside its values."""
    said = subject_terms(VALUES["many"].sub(" ", text))
    return frozenset(term for term in said if not (term.isdecimal() or term in GENERIC))


def _slots(text: str) -> frozenset[str]:
    """The slots a text is known to fill. A shape of its own, or a bare yes or no, is none that another wording would fill too."""
    return frozenset(
        each.slot for each in statements(text) if each.holds == "one" and not each.slot.startswith(WORDINGS)
    )


def _weight(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] for term in terms)


def _answer(hit: Hit, asked: _Asked) -> _Answer | None:
    text = hit.content[:READ]
    held = asked.terms.intersection(analyse(text))
    if not held:
        return None
    said = _about(text, held)
    told = " ".join(said)
    counted = frozenset(_counted(said, asked))
    return _Answer(
        hit,
        held,
        counted or frozenset(_given(told, asked.kind)),
        bool(counted),
        bool(TURN.search(told)),
        bool(NEVER.search(told)),
        told,
    )


def _about(text: str, held: frozenset[str]) -> list[str]:
    """The sentences that hold a word of the question, and those right behind them."""
    parts = [part for part in SENTENCE.split(text) if part and part.strip()]
    near = [not held.isdisjoint(analyse(part)) for part in parts]
    return [part for at, part in enumerate(parts) if near[at] or (at and near[at - 1])]


def _given(text: str, kind: str) -> Iterator[str]:
    for match in VALUES.get(kind, VALUES["many"]).finditer(text):
        if kind == "when" or not DATED.search(text[: match.end()]):
            yield _plain(match[0])


def _counted(sentences: Sequence[str], asked: _Asked) -> Iterator[str]:
    """The numbers beside what is counted: "15 Crash Course videos", "my follower count is close to 1300"."""
    for sentence in sentences if asked.counted else ():
        for match in VALUES["many"].finditer(sentence):
            behind, before = sentence[match.end() :].split()[:NEAR], sentence[: match.start()].split()[-2 * NEAR :]
            if not asked.counted.isdisjoint(analyse(" ".join((*before, *behind)))) and not DATED.search(
                sentence[: match.end()]
            ):
                yield _plain(match[0])


def _plain(value: str) -> str:
    folded = value.casefold().strip(",. ").replace(",", "")
    return NUMBERS.get(folded, re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", folded))
