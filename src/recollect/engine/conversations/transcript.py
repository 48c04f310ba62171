"""transcript: a conversation as an agent kit keeps it, item by item, each given back exactly as it came.

Kits hand over more than words: calls of tools, their results, the model's own bookkeeping. What was said is stored as a message
like any other and can be found. The rest is kept beside it and is not searched: a tool that quotes the memory must not become
a memory. Whatever a kit brings together is stored together or not at all.

Exactly means: every character but those of secrets and personal details, which are masked as the rules say, here as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import silence
from recollect.engine.browse import note
from recollect.engine.conversations import extract, working
from recollect.engine.conversations.converse import TITLE_CHARS
from recollect.engine.forgetting.forget import forget_conversation
from recollect.engine.remembering.indexing import index_messages
from recollect.engine.remembering.screening import Rules
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.model import Conversation, Message, Scope, Target, WorkingMemory, checked_id
from recollect.policy import pii, secrets
from recollect.policy.guard import MAX_VALUE_BYTES, checked_text, cleaned
from recollect.policy.ids import new_id
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

OPAQUE = frozenset({"id", "call_id", "tool_call_id", "encrypted_content", "signature", "type", "status"})
"""Names of what only machines read: masking a part of it would break it, and it is nobody's secret."""
ROOM = MAX_VALUE_BYTES - 1024
"""A whole that is larger than this stands in place of the words, which have more room than a value has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item: who it is from, what was said (empty where nothing was), and all of it as `kit` writes it.

    Given back, `whole` is None for a plain turn, of which role and text say everything there is to say.
    """

    role: str
    text: str
    whole: Any = None
    kit: str = ""

    @property
    def is_talk(self) -> bool:
        """Whether another kit can make anything of it: words of a person, a model or a program that instructs it."""
        return self.role != "tool" and self.text != ""

    @property
    def plain(self) -> dict[str, str]:
        """A turn as every kit understands it."""
        return {"role": self.role, "content": self.text}


async def append(engine: Engine, scope: Scope, session_id: str, items: Sequence[Item], *, learn: bool = False) -> bool:
    """Keep items in the order given. False when nothing may be kept here and now: then nothing was.

    `learn`: what users say of themselves in them is remembered, as from any conversation.
    """
    checked_id(session_id, "session_id")
    if not items:
        return True
    at, rules, most = engine.clock.now(), engine.config.screening.lenient, engine.config.max_content_bytes
    drafts = [_message(_masked(item, rules), session_id, at, most) for item in items]
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> tuple[list[Message], WorkingMemory | None] | None:
        if silence(tx, engine, about=session_id) is not None:
            return None
        title = next((each.content[:TITLE_CHARS] for each in drafts if each.role != "tool"), None)
        talk = tx.conversations.open(Conversation(id=session_id, title=title, created_at=at, updated_at=at))
        placed = [replace(each, order=talk.message_count + place) for place, each in enumerate(drafts)]
        tx.conversations.append(placed)
        count = talk.message_count + len(placed)
        tx.conversations.replace(replace(talk, updated_at=max(talk.updated_at, at), message_count=count))
        said = [each for each in placed if _is_said(each)]
        if said:
            index_messages(tx, said, generations, at)
        audit.record(tx, engine.occasion, at, "messages.stored", count=len(placed))
        return said, working.count(tx, session_id, said, at, to_read=True) if learn and said else None

    kept = await engine.store.write(scope, work)
    engine.wake()
    if kept is not None and learn:
        await _learn(engine, scope, session_id, *kept)
    return kept is not None


async def _learn(
    engine: Engine, scope: Scope, session_id: str, said: Sequence[Message], stale: WorkingMemory | None
) -> None:
    """What can't be read now stays unread, for the background: the talk itself is kept already."""
    with suppress(RecollectError):
        engine.sessions.touch(scope, engine.clock.now())
        if stale is not None:
            await working.archive(engine, scope, stale)
        await extract.take_up(engine, scope, session_id, None, said)


async def last(engine: Engine, scope: Scope, session_id: str, limit: int | None = None) -> list[Item] | None:
    """The last `limit` items, or all of them, oldest first; None when nothing may be read here and now."""

    def work(tx: Tx) -> Sequence[Message] | None:
        if silence(tx, engine, about=session_id) is not None:
            return None
        talk = tx.conversations.get(session_id)
        most = 0 if talk is None else talk.message_count if limit is None else limit
        return tx.conversations.history(session_id, most) if most > 0 else ()

    found = await engine.store.read(scope, work)
    if found is None:
        return None
    note(engine, scope, "conversation.read", messages=len(found))
    return [_item(each) for each in found]


async def take_back(engine: Engine, scope: Scope, session_id: str) -> list[Item] | None:
    """Remove the last item and give it back, in a list of one; an empty list when there is none, None as `last` says."""

    def work(tx: Tx) -> Sequence[Message] | None:
        if silence(tx, engine, about=session_id) is not None:
            return None
        talk = tx.conversations.get(session_id)
        ending = tx.conversations.history(session_id, 1) if talk else ()
        for each in ending:
            assert talk is not None
            tx.index.drop([Target("message", each.id)])
            tx.embeddings.drop([Target("message", each.id)])
            tx.conversations.delete_messages([each.id])
            tx.owe_scrub(engine.clock.now())
            tx.conversations.replace(replace(talk, message_count=each.order, updated_at=engine.clock.now()))
            audit.record(tx, engine.occasion, engine.clock.now(), "message.taken_back", Target("message", each.id))
        return ending

    gone = await engine.store.write(scope, work)
    if gone:
        engine.shelves.discard(scope)
        engine.debts.scrub = True
        engine.wake()
    return None if gone is None else [_item(each) for each in gone]


async def clear(engine: Engine, scope: Scope, session_id: str) -> None:
    """Forget the conversation, if there is one, with what is known from it alone."""
    with suppress(NotFound):
        await forget_conversation(engine, scope, session_id)


def _message(item: Item, session_id: str, at: datetime, most: int) -> Message:
    """A plain turn is a message and nothing else. Where the whole is too large for a value it takes the place of the words.

    What stands in that place is no talk: whoever reads the conversation as one passes it over, by its role.
    """
    kept: dict[str, Any] | None = None
    content = cleaned(item.text.encode(errors="ignore").decode().replace("\x00", ""))
    if (item.whole is not None and item.whole != replace(item, text=content).plain) or not content.strip():
        whole = _written(item.whole if item.whole is not None else item.plain)
        aside = not content.strip() or item.role == "tool" or len(whole) > ROOM
        kept = {"kit": item.kit} if aside else {"kit": item.kit, "item": whole}
        content = whole if aside else content
    is_talk = kept is None or "item" in kept
    return Message(
        id=new_id(at),
        session_id=session_id,
        order=0,
        role=item.role if is_talk else "tool",
        content=checked_text(content, "an item", most),
        created_at=at,
        dated=True,
        execution_result=kept,
        searchable=None if is_talk and item.role != "tool" else "",
    )


def _item(message: Message) -> Item:
    kept = message.execution_result
    if not isinstance(kept, dict) or not isinstance(kept.get("kit"), str):
        return Item(role=message.role, text=message.content)
    try:
        whole = json.loads(kept.get("item", message.content))
    except (TypeError, json.JSONDecodeError):  # somebody edited it on its way through an export
        return Item(role=message.role, text=message.content)
    return Item(role=message.role, text="" if "item" not in kept else message.content, whole=whole, kit=kept["kit"])


def _is_said(message: Message) -> bool:
    kept = message.execution_result
    return message.role != "tool" and (kept is None or "item" in kept)


def _written(whole: Any) -> str:
    """As ASCII: whatever stands in it, stores can hold it."""
    try:
        return json.dumps(whole, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidInput(f"an item must be JSON: {type(problem).__name__}") from None


def _masked(item: Item, rules: Rules) -> Item:
    return replace(item, text=_without_secrets(item.text, rules), whole=_clean(item.whole, rules))


def _clean(part: Any, rules: Rules) -> Any:
    if isinstance(part, str):
        return _without_secrets(part, rules)
    if isinstance(part, list | tuple):
        return [_clean(each, rules) for each in part]
    if isinstance(part, dict):
        return {name: each if name in OPAQUE else _clean(each, rules) for name, each in part.items()}
    return part


def _without_secrets(text: str, rules: Rules) -> str:
    if rules.secrets != "keep":
        text, _ = secrets.masked(text)
    if rules.pii == "mask":
        text, _ = pii.masked(text)
    return text
