"""What was said once and is remembered otherwise since: messages stay word for word, also those whose memory was replaced.

"I live in Leeds" is found for "Where do I live?" as readily as ever, and better than "I've just moved to York", which shares no
word with the question. The memory knows which of them stands: it steps before the message, and where the message says no more
than what was replaced, that is marked as what was said before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.engine.remembering.disputes import claims_of
from recollect.model import Hit, Memory, Status
from recollect.policy.text import query_terms
from recollect.ports import Tx

LOOKED_AT = 12
"""Hits that are looked up: those that are likely to be shown."""
MOST_STEPS = 8
"""How often something may have changed since."""
CANDIDATES = 4


def replaced_since(tx: Tx, asked: str, hits: Sequence[Hit], at: datetime, pepper: bytes) -> list[Hit]:
    """The hits with what replaced them before them, as far as that is what they were found for."""
    heard = [hit.message for hit in hits[:LOOKED_AT] if hit.message is not None]
    said = {each.id: each.content for each in heard if each.role == "user"}
    learnt = tx.memories.from_messages([*said]) if said else ()
    over: dict[str | None, Memory] = {
        id: each
        for each in learnt
        if each.status is Status.SUPERSEDED and (id := each.source_message_id) in said and _bears(asked, said[id], each)
    }
    if not over:
        return list(hits)
    now = {id: found for id, old in over.items() if (found := _successor(tx, old, at, pepper)) is not None}
    return _before(hits, over, now)


def _bears(asked: str, said: str, old: Memory) -> bool:
    """Whether the message was found for what was replaced, and not for something else that it says along."""
    found_by = set(query_terms(asked, or_all=False)) & set(query_terms(said, or_all=False))
    return found_by <= set(query_terms(old.content, or_all=False))


def _before(hits: Sequence[Hit], over: Mapping[str | None, Memory], now: Mapping[str | None, Memory]) -> list[Hit]:
    ordered: list[Hit] = []
    for hit in hits:
        later = now.get(hit.message.id) if hit.message is not None else None
        if later is None:
            ordered.append(hit)
            continue
        known = next(
            (each for each in (*ordered, *hits) if each.memory is not None and each.memory.id == later.id), None
        )
        if known is None or known not in ordered:
            ordered.append(known or replace(hit, memory=later, message=None))
        old = over[hit.message.id if hit.message else None]
        no_more = set(query_terms(hit.content, or_all=False)) <= set(query_terms(old.content, or_all=False))
        ordered.append(_marked(hit, ordered, later) if no_more else hit)
    return list({each.target: each for each in ordered}.values())


def _marked(hit: Hit, ordered: Sequence[Hit], later: Memory) -> Hit:
    by = next(each.target for each in ordered if each.memory is not None and each.memory.id == later.id)
    return replace(hit, outdated_by=by, signals={**hit.signals, "outdated": 1.0})


def _successor(tx: Tx, old: Memory, at: datetime, pepper: bytes) -> Memory | None:
    """The memory that stands today where this one stood: it has the same key, or states something of the same."""
    found = list(tx.memories.keyed(old.key)) if old.key else []
    if not found:
        claims = claims_of(tx.scope, old.content, pepper)
        ids = [id for each in claims.filed for id in tx.links.stating([each], CANDIDATES)]
        found = list(tx.memories.get(dict.fromkeys(ids)).values())
    there = (
        each for each in found if each.status is Status.ACTIVE and (each.expires_at is None or each.expires_at > at)
    )
    return next((each for each in there if _comes_after(tx, each, old)), None)


def _comes_after(tx: Tx, memory: Memory, old: Memory) -> bool:
    for _ in range(MOST_STEPS):
        if memory.supersedes == old.id:
            return True
        below = tx.memories.get([memory.supersedes]).get(memory.supersedes) if memory.supersedes else None
        if below is None:
            return False
        memory = below
    return False
