"""converse: keep the turns of a conversation, word for word, findable as soon as they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.engine import audit
from recollect.engine.boundary import require_memory_on
from recollect.engine.conversations import working
from recollect.engine.remembering.drafts import checked_time
from recollect.engine.remembering.indexing import index_messages
from recollect.engine.remembering.screening import all_screened_aside
from recollect.errors import Conflict, InvalidInput
from recollect.model import (
    Conversation,
    EmbeddingState,
    Message,
    Occasion,
    Scope,
    Turn,
    TurnsReceipt,
    WorkingMemory,
    checked_id,
)
from recollect.policy.extraction import is_private
from recollect.policy.guard import checked_text
from recollect.policy.ids import new_id
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

ROLES = ("user", "assistant", "system", "tool")
TURN_FIELDS = ("role", "content", "name", "created_at", "id", "correlation_id")
TITLE_CHARS = 80
TURNS_AT_ONCE = 500


class Kept(NamedTuple):
    """The ids of all turns given, and the messages that are new."""

    ids: list[str]
    fresh: list[Message]


def turn_from(values: Mapping[str, Any], max_bytes: int) -> Turn:
    """A role that isn't one of ours is taken for the speaker's name: exports of chats often say who, not which part."""
    for field in values:
        if field not in TURN_FIELDS:
            raise InvalidInput(f"a turn has no field {field!r}; there are {', '.join(TURN_FIELDS)}")
    role, name = checked_id(values.get("role", "user"), "role"), values.get("name")
    if role not in ROLES:
        role, name = "user", name or role
    created, id, correlation = (values.get(key) for key in ("created_at", "id", "correlation_id"))
    return Turn(
        role=role,
        content=checked_text(values.get("content"), "content", max_bytes),
        name=None if name is None else checked_id(name, "name"),
        created_at=None if created is None else checked_time(created, "created_at"),
        id=None if id is None else checked_id(id, "id"),
        correlation_id=None if correlation is None else checked_id(correlation, "correlation_id"),
    )


async def add_turns(engine: Engine, scope: Scope, session_id: str, turns: Iterable[Mapping[str, Any]]) -> TurnsReceipt:
    """Append turns in the order given. A turn whose id is already there is left alone, so a retry is harmless."""
    receipt, _ = await keep_turns(engine, scope, session_id, turns)
    return receipt


async def keep_turns(
    engine: Engine, scope: Scope, session_id: str, turns: Iterable[Mapping[str, Any]], *, to_read: bool = False
) -> tuple[TurnsReceipt, list[Message]]:
    """The same, with the messages that are new. `to_read`: those of users are put down as unread; one of them that asks not to be
    remembered stays in its conversation and is not found."""
    checked_id(session_id, "session_id")
    rules, most = engine.config.screening.lenient, engine.config.max_content_bytes
    found = await all_screened_aside([*turns], rules, most)
    checked = [turn_from(each.fields, engine.config.max_content_bytes) for each in found]
    _refuse_repeated_ids(checked)
    generations = await engine.generations.to_fill()
    ids: list[str] = []
    stored: list[Message] = []
    stale: WorkingMemory | None = None
    for start in range(0, len(checked), TURNS_AT_ONCE):
        batch = checked[start : start + TURNS_AT_ONCE]
        at = engine.clock.now()

        def work(tx: Tx, batch: Sequence[Turn] = batch, at: datetime = at) -> tuple[Kept, WorkingMemory | None]:
            require_memory_on(tx, engine, session_id)
            kept = _append(tx, engine.occasion, session_id, batch, generations, at, hide=to_read)
            return kept, working.count(tx, session_id, kept.fresh, at, to_read=to_read) if kept.fresh else None

        kept, left = await engine.store.write(scope, work)
        ids += kept.ids
        stored += kept.fresh
        stale = stale or left
        engine.sessions.touch(scope, at)
    engine.wake()
    if stale is not None:
        await working.archive(engine, scope, stale)
    state = EmbeddingState.PENDING if generations else EmbeddingState.OFF
    masked = tuple(sorted({kind for each in found for kind in each.masked}))
    receipt = TurnsReceipt(session_id=session_id, ids=tuple(ids), stored=len(stored), embedding=state, masked=masked)
    return receipt, stored


def _refuse_repeated_ids(turns: Sequence[Turn]) -> None:
    given = [turn.id for turn in turns if turn.id is not None]
    if len(given) != len(set(given)):
        raise InvalidInput("two turns of one call have the same id")


def _append(
    tx: Tx,
    occasion: Occasion,
    session_id: str,
    turns: Sequence[Turn],
    generations: Sequence[str],
    at: datetime,
    *,
    hide: bool,
) -> Kept:
    known = tx.conversations.messages([turn.id for turn in turns if turn.id])
    for message in known.values():
        if message.session_id != session_id:
            raise Conflict(f"the message id {message.id!r} is in use in another conversation", id=message.id)
    first = turns[0].created_at or at
    conversation = tx.conversations.open(
        Conversation(id=session_id, title=turns[0].content[:TITLE_CHARS], created_at=first, updated_at=first)
    )
    ids = [turn.id or new_id(at) for turn in turns]
    fresh: list[Message] = []
    for turn, id in zip(turns, ids, strict=True):
        if id not in known:
            message = _message(turn, id, session_id, conversation.message_count + len(fresh), at)
            hidden = hide and turn.role == "user" and is_private(turn.content)
            fresh.append(replace(message, searchable="") if hidden else message)
    if fresh:
        tx.conversations.append(fresh)
        latest = max(conversation.updated_at, *(message.created_at for message in fresh))
        count = conversation.message_count + len(fresh)
        tx.conversations.replace(replace(conversation, updated_at=latest, message_count=count))
        index_messages(tx, fresh, generations, at)
        audit.record(tx, occasion, at, "messages.stored", count=len(fresh))
    return Kept(ids, fresh)


def _message(turn: Turn, id: str, session_id: str, order: int, at: datetime) -> Message:
    return Message(
        id=id,
        session_id=session_id,
        order=order,
        role=turn.role,
        content=turn.content,
        name=turn.name,
        correlation_id=turn.correlation_id,
        created_at=turn.created_at or at,
        dated=turn.created_at is not None,
    )
