"""The reply's half of a turn: stored once, whole or marked as partial, behind the message it answers.

A conversation that was forgotten while the model was speaking stays forgotten; where memory was switched off meanwhile nothing is
kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.boundary import silence
from recollect.engine.remembering.indexing import index_messages
from recollect.engine.remembering.screening import screened_aside
from recollect.errors import Unavailable
from recollect.model import Message, Scope, Use
from recollect.model.talk import Cited
from recollect.policy.ids import new_id
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

ATTEMPTS = 3
PAUSE_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    text: str
    partial: bool = False
    tokens: Mapping[str, int] = field(default_factory=dict)
    ms: float | None = None
    found: bool = True
    """Whether it can be found later. What only quotes the memory, or confirms an order, would be found instead of it."""
    used: Sequence[Cited] = ()
    """What it was made with."""
    cited: Sequence[str] = ()
    """The references it names itself."""


async def keep_reply(engine: Engine, scope: Scope, session_id: str, spoken: Spoken) -> Message | None:
    """The reply as it is stored; None where there is nothing to store or nothing may be stored any more."""
    rules, most = engine.config.screening.lenient, engine.config.max_content_bytes
    found = await screened_aside({"content": spoken.text}, rules, most)
    content = str(found.fields["content"])
    if not content.strip():
        return None
    generations = await engine.generations.to_fill()
    at = engine.clock.now()
    draft = Message(
        id=new_id(at),
        session_id=session_id,
        order=0,
        role="assistant",
        content=content,
        correlation_id=engine.occasion.correlation_id,
        created_at=at,
        tokens=spoken.tokens,
        execution_time_ms=spoken.ms,
        partial=spoken.partial,
        searchable=None if spoken.found else "",
    )

    def work(tx: Tx) -> Message | None:
        conversation = None if silence(tx, engine, about=session_id) else tx.conversations.get(session_id)
        if conversation is None:
            return None
        message = replace(draft, order=conversation.message_count)
        tx.conversations.append([message])
        grown = replace(conversation, message_count=message.order + 1, updated_at=max(conversation.updated_at, at))
        tx.conversations.replace(grown)
        index_messages(tx, [message], generations, at)
        tx.links.use(_uses(tx, message, spoken))
        audit.record(tx, engine.occasion, at, "messages.stored", count=1, partial=spoken.partial)
        return message

    stored = await _insistently(engine, scope, work)
    engine.wake()
    return stored


def _uses(tx: Tx, reply: Message, spoken: Spoken) -> list[Use]:
    """Memories of this space that are still there: what another space shares is noted by neither."""
    used = {each.id: each for each in spoken.used if each.kind == "memory"}
    return [
        Use(
            memory_id=id,
            message_id=reply.id,
            reference=used[id].reference,
            cited=used[id].reference in spoken.cited,
            at=reply.created_at,
        )
        for id in tx.memories.get(used)
    ]


async def _insistently(engine: Engine, scope: Scope, work: Callable[[Tx], Message | None]) -> Message | None:
    """The words were said already: a store that stumbles is given another chance to keep them."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await engine.store.write(scope, work)
        except Unavailable:
            if attempt == ATTEMPTS:
                raise
            await asyncio.sleep(PAUSE_S * attempt)
    return None
