"""Which of the things found for a question still stand: of two that say something about the same matter, the later counts.

Messages are kept word for word, so what was true once is found as readily as what is true now, and nobody has marked it. Here the
finds of one question are held against each other: what a later one replaces is told along with it, as something earlier, and
is no answer any more. A message that a memory was taken from, and that says no more than it, isn't told a second time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from recollect.model import Hit
from recollect.model.talk import Earlier
from recollect.policy.commands import command_in
from recollect.policy.conflicts import judged, reading, ruled, statements
from recollect.policy.slots import Statement
from recollect.policy.text import query_terms

LONGEST = 400
"""Characters: whoever writes more tells more than one thing, and none of it is called outdated."""
_CLAUSE = re.compile(r"[,:;，：；]\s*|\s[–—-]\s")
_CHINESE_SUBJECT = re.compile("我们|我的?|他|她")
_ANNOUNCED = re.compile(
    r"(?P<what>(?:the|my|our) [\w' -]{2,40}?) (?:has |have |was |were |is |got |just )*(?:moved|changed|rescheduled|"
    r"switched|shifted|different)(?: now)?[,:;.]? (?:it(?='s|\b)|they)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """`hits` still stand, in their order; `earlier` is what each replaced, by its id."""

    hits: list[Hit]
    earlier: dict[str, tuple[Earlier, ...]] = field(default_factory=dict)


def standing(hits: Sequence[Hit]) -> Standing:
    told = _once(hits)
    claims = [_claims(hit) for hit in told]
    gone: set[int] = set()
    earlier: dict[str, list[Earlier]] = {}
    latest_first = sorted(range(len(told)), key=lambda place: told[place].said_at, reverse=True)
    for new in latest_first:
        for old in latest_first:
            if new in gone or old in gone or not _replaces(told[new], claims[new], told[old], claims[old]):
                continue
            gone.add(old)
            before = Earlier(content=told[old].content, at=told[old].said_at)
            earlier.setdefault(told[new].target.id, []).append(before)
    kept = [hit for place, hit in enumerate(told) if place not in gone]
    return Standing(kept, {id: tuple(each) for id, each in earlier.items()})


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without messages that say no more than the memory that was taken from them; that stands in the better place."""
    memories = {hit.memory.source_message_id: hit for hit in hits if hit.memory and hit.memory.source_message_id}
    told: dict[str, Hit] = {}
    for hit in hits:
        memory = memories.get(hit.message.id) if hit.message is not None else None
        said = hit if memory is None or not _terms(hit) <= _terms(memory) else memory
        told.setdefault(said.target.id, said)
    return list(told.values())


def _replaces(new: Hit, claims: Sequence[Statement], old: Hit, before: Sequence[Statement]) -> bool:
    """Two memories are left alone: the engine has compared them when the later was written, or asked."""
    if (new.memory is not None and old.memory is not None) or old.said_at >= new.said_at:
        return False
    if not claims or not before:
        return False
    return "replaces" in (judged(claims, before), ruled(reading(new.content), reading(old.content)))


def _claims(hit: Hit) -> list[Statement]:
    """What its user states in it, clause by clause: "I moved, I live in Graz now" says where in its second half, and in "the
    review moved: it is on Friday" it is the review."""
    message = hit.message
    if len(hit.content) > LONGEST or (message is not None and message.role != "user"):
        return []
    text = _ANNOUNCED.sub(lambda found: found["what"], hit.content)
    whole = statements(text)
    parts = [each for clause in _clauses(text) for each in statements(clause)] if not whole else []
    return whole or [replace(each, whole=False) for each in parts]


def _clauses(text: str) -> list[str]:
    """Its clauses, each with the subject that Chinese doesn't repeat: in "我搬家了，现在住在成都" both are about 我."""
    clauses = [each for each in _CLAUSE.split(text) if each.strip()]
    subject = _CHINESE_SUBJECT.match(text)
    if subject is None:
        return clauses
    return [each if each.startswith(subject[0]) else f"{subject[0]}{each}" for each in clauses]


def _terms(hit: Hit) -> set[str]:
    """What it says; of an order to remember something, that."""
    order = command_in(hit.content) if hit.message is not None else None
    told = order.about if order is not None and order.kind == "remember" and order.about else hit.content
    return set(query_terms(told, or_all=False))
