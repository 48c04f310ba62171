"""export and import: a scope as JSON lines, complete, and back again unchanged.

The first line says what the file is; then come themes, conversations with their messages, and memories of every status. Vectors
are not exported: they are made anew wherever the text lands, in whatever generation serves there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import require_writable
from recollect.engine.indexing import index_memory, index_messages
from recollect.engine.lines import FORMAT, VERSION, Line, line_of, parsed
from recollect.engine.themes import open_theme
from recollect.errors import InvalidInput
from recollect.model import Conversation, ImportReceipt, Memory, Message, Scope, Status
from recollect.policy.digest import grave_digest, twin_digest
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

PAGE = 200

Parsed = tuple[int, str, Any]
"""The number of a line, its kind, and the thing it holds."""


async def export(engine: Engine, scope: Scope) -> AsyncIterator[Line]:
    """Everything the scope holds, a page at a time, so that a large memory needs little of ours."""
    yield {
        "kind": "header",
        "format": FORMAT,
        "version": VERSION,
        "tenant": scope.tenant,
        "user": scope.user,
        "space": scope.space,
    }
    for theme in await engine.store.read(scope, lambda tx: tx.space.themes()):
        yield line_of("theme", theme, leave_out=("count",))
    after: str | None = None
    while conversations := await _page(engine, scope, after, _conversations_after):
        for conversation in conversations:
            yield line_of("conversation", conversation)
            async for message in _messages_of(engine, scope, conversation.id):
                yield line_of("message", message)
        after = conversations[-1].id
    after = None
    while memories := await _page(engine, scope, after, _memories_after):
        for memory in memories:
            yield line_of("memory", memory)
        after = memories[-1].id


async def import_lines(
    engine: Engine, scope: Scope, lines: Iterable[Mapping[str, Any]], *, as_admin: bool = False
) -> ImportReceipt:
    """Put exported lines into `scope`. What is already there under the same id is left alone: repeating is harmless.

    A line that can't be stored as it is, or a message before the line of its conversation, is refused with its number and
    field, and so is everything else of its batch. A message whose place is taken by another goes to the end.
    """
    if isinstance(lines, str | bytes | Mapping) or not isinstance(lines, Iterable):
        raise InvalidInput(f"lines must be a series of objects as `export` gives them, not {type(lines).__name__}")
    total = ImportReceipt()
    batch: list[Parsed] = []
    for number, line in enumerate(lines, start=1):
        kind, thing = parsed(line, number, engine.config.max_content_bytes)
        if kind != "header":
            batch.append((number, kind, thing))
        if len(batch) >= PAGE:
            total = await _import_batch(engine, scope, batch, total, as_admin)
            batch = []
    if batch:
        total = await _import_batch(engine, scope, batch, total, as_admin)
    engine.wake()
    return total


async def _page(engine: Engine, scope: Scope, after: str | None, page: Any) -> Any:
    return await engine.store.read(scope, lambda tx: page(tx, after))


def _conversations_after(tx: Tx, after: str | None) -> Sequence[Conversation]:
    return tx.conversations.scan(after, PAGE)


def _memories_after(tx: Tx, after: str | None) -> Sequence[Memory]:
    return tx.memories.scan(after, PAGE)


async def _messages_of(engine: Engine, scope: Scope, session_id: str) -> AsyncIterator[Message]:
    """Oldest first, a page at a time. History is read from its end, so the first walk, back to the beginning, only notes where
    each page starts; the second goes forward from there. Orders may have gaps of any size."""
    ends: list[int] = []
    before: int | None = None
    while page := await _history(engine, scope, session_id, before):
        ends.append(page[-1].order + 1 if before is None else before)
        before = page[0].order
    floor = -1
    for end in reversed(ends):
        for message in await _history(engine, scope, session_id, end):
            if message.order >= floor:
                yield message
        floor = end


async def _history(engine: Engine, scope: Scope, session_id: str, before: int | None) -> Sequence[Message]:
    return await engine.store.read(scope, lambda tx: tx.conversations.history(session_id, PAGE, before))


async def _import_batch(
    engine: Engine, scope: Scope, batch: Sequence[Parsed], total: ImportReceipt, as_admin: bool
) -> ImportReceipt:
    generations = await engine.generations.to_fill()
    pepper = engine.config.pepper
    at = engine.clock.now()

    def work(tx: Tx) -> dict[str, int]:
        require_writable(tx, engine, as_admin=as_admin)
        counts = dict.fromkeys(("memories", "messages", "conversations", "unchanged", "refused"), 0)
        for number, kind, thing in batch:
            try:
                counts[_import_one(tx, kind, thing, generations, pepper, at)] += 1
            except InvalidInput as problem:
                raise InvalidInput(f"line {number}: {problem.message}") from None
        audit.record(tx, engine.occasion, at, "imported", **counts)
        return counts

    counts = await engine.store.write(scope, work)
    return ImportReceipt(**{each.name: getattr(total, each.name) + counts[each.name] for each in fields(total)})


def _import_one(tx: Tx, kind: str, thing: Any, generations: Sequence[str], pepper: bytes, at: datetime) -> str:
    """Store one thing; the name of the count it belongs to."""
    if kind == "theme":
        tx.space.open_theme(thing)
        return "unchanged"
    if kind == "conversation":
        new = tx.conversations.get(thing.id) is None
        tx.conversations.open(thing)
        return "conversations" if new else "unchanged"
    if kind == "message":
        if tx.conversations.messages([thing.id]):
            return "unchanged"
        placed = _placed(tx, thing)
        tx.conversations.append([placed])
        index_messages(tx, [placed], generations, at)
        return "messages"
    if tx.memories.get([thing.id]):
        return "unchanged"
    if tx.space.buried(grave_digest(tx.scope, thing.content, pepper), at):
        return "refused"
    tx.memories.insert(thing, twin_digest(tx.scope, thing.content, pepper))
    if thing.status is Status.ACTIVE and thing.deleted_at is None:
        index_memory(tx, thing, generations, at)
        if thing.theme:
            open_theme(tx, thing.theme, at)
    return "memories"


def _placed(tx: Tx, message: Message) -> Message:
    """The message where nothing else stands: an order is used once in a conversation, or pages of it would overlap."""
    conversation = tx.conversations.get(message.session_id)
    if conversation is None:
        raise InvalidInput("session_id names a conversation whose line is missing; it comes before its messages")
    there = tx.conversations.history(message.session_id, 1, before=message.order + 1)
    taken = bool(there) and there[0].order == message.order
    return replace(message, order=conversation.message_count) if taken else message
