"""export and import: a scope as JSON lines, complete, and back again unchanged.

The first line says what the file is; then come themes, conversations with their messages, memories of every
status with all their tellings, which of them may not both be true, and which replies they were used in. Vectors are not
exported: they are made anew wherever the text lands, in whatever generation serves there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import require_writable
from recollect.engine.browse import missing, note
from recollect.engine.config import EngineConfig
from recollect.engine.exporting.arrivals import Arrivals, Parsed
from recollect.engine.exporting.lines import FORMAT, VERSION, Line, line_of, parsed
from recollect.engine.remembering.screening import Rules, Screened, screened
from recollect.errors import InvalidInput
from recollect.model import Conversation, ImportReceipt, Memory, Message, Repeat, Scope, Use
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

PAGE = 200
MOST_FLAGS = 100_000


async def export(engine: Engine, scope: Scope) -> AsyncIterator[Line]:
    """Everything the scope holds, a page at a time, so that a large memory needs little of ours."""
    note(engine, scope, "exported")
    yield _header(scope)
    async for line in held(engine, scope):
        yield line


async def held(engine: Engine, scope: Scope, most_flags: int = MOST_FLAGS) -> AsyncIterator[Line]:
    """The lines of an export after its first, in an order that depends on nothing but what is held."""
    themes = await engine.store.read(scope, lambda tx: tx.space.themes())
    for theme in sorted(themes, key=lambda theme: theme.slug):
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
        told = await _told(engine, scope, [memory.id for memory in memories if memory.repeat_count])
        for memory in memories:
            yield line_of("memory", memory)
            for each in told.get(memory.id, ()):
                yield line_of("repeat", each)
        after = memories[-1].id
    flags = await engine.store.read(scope, lambda tx: tx.links.all_flags(most_flags))
    for flag in sorted(flags, key=lambda flag: (flag.memory_id, flag.other_id)):
        yield line_of("flag", flag)
    last: Use | None = None
    while uses := await _page(engine, scope, last, _uses_after):
        for last in uses:
            yield line_of("use", last)


async def export_conversation(engine: Engine, scope: Scope, session_id: str) -> AsyncIterator[Line]:
    """One conversation with its messages, and what is remembered from them: lines that `import_lines` takes back."""
    conversation = await engine.store.read(scope, lambda tx: tx.conversations.get(session_id))
    if conversation is None:
        raise missing("conversation", session_id)
    note(engine, scope, "exported")
    yield _header(scope)
    yield line_of("conversation", conversation)
    said: list[str] = []
    async for message in _messages_of(engine, scope, session_id):
        said.append(message.id)
        yield line_of("message", message)
    learnt = await engine.store.read(scope, lambda tx: tx.memories.from_messages(said))
    told = await _told(engine, scope, [memory.id for memory in learnt if memory.repeat_count])
    for memory in learnt:
        yield line_of("memory", memory)
        for each in told.get(memory.id, ()):
            yield line_of("repeat", each)
    for use in await engine.store.read(scope, lambda tx: tx.links.used_by(said)):
        yield line_of("use", use)


def _header(scope: Scope) -> Line:
    return {
        "kind": "header",
        "format": FORMAT,
        "version": VERSION,
        "tenant": scope.tenant,
        "user": scope.user,
        "space": scope.space,
    }


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
    numbered = enumerate(lines, start=1)
    while page := list(islice(numbered, PAGE)):
        # On a thread: everybody else is answered from this one, and a page of lines takes a while to read.
        batch, refused = await asyncio.to_thread(_read, page, engine.config)
        total = replace(total, refused=total.refused + refused)
        if batch:
            total = await _import_batch(engine, scope, batch, total, as_admin)
    engine.wake()
    return total


def _read(page: Sequence[tuple[int, Any]], config: EngineConfig) -> tuple[list[Parsed], int]:
    """The things that lines stand for, and how many were refused for a secret."""
    batch: list[Parsed] = []
    refused = 0
    for number, line in page:
        found = _screened(line, number, config.screening)
        if found.refusal is not None:
            refused += 1
            continue
        kind, thing = parsed(found.fields, number, config.max_content_bytes)
        if kind != "header":
            batch.append((number, kind, thing))
    return batch, refused


async def _page(engine: Engine, scope: Scope, after: Any, page: Any) -> Any:
    return await engine.store.read(scope, lambda tx: page(tx, after))


def _conversations_after(tx: Tx, after: str | None) -> Sequence[Conversation]:
    return tx.conversations.scan(after, PAGE)


def _memories_after(tx: Tx, after: str | None) -> Sequence[Memory]:
    return tx.memories.scan(after, PAGE)


def _uses_after(tx: Tx, after: Use | None) -> Sequence[Use]:
    return tx.links.scan_uses(after, PAGE)


async def _told(engine: Engine, scope: Scope, ids: Sequence[str]) -> dict[str, list[Repeat]]:
    found: dict[str, list[Repeat]] = {}
    for each in await engine.store.read(scope, lambda tx: tx.links.repeats(ids)) if ids else ():
        found.setdefault(each.memory_id, []).append(each)
    return found


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


def _screened(line: Any, number: int, rules: Rules) -> Screened:
    """A line as it may be stored. What was said in a conversation is never refused for a secret in it, only masked."""
    if not isinstance(line, Mapping):
        return Screened(line)  # refused by name when it is parsed
    rules = rules if line.get("kind") == "memory" else rules.lenient
    try:
        found = screened(line, rules)
        told = line.get("fields") if line.get("kind") == "repeat" else None
        if isinstance(told, Mapping):  # a telling is a memory within its line
            found = replace(found, fields={**found.fields, "fields": screened(told, rules).fields})
        return found
    except InvalidInput as problem:
        raise InvalidInput(f"line {number}: {problem.message}") from None


async def _import_batch(
    engine: Engine, scope: Scope, batch: Sequence[Parsed], total: ImportReceipt, as_admin: bool
) -> ImportReceipt:
    generations = await engine.generations.to_fill()
    pepper = engine.config.pepper
    at = engine.clock.now()

    def work(tx: Tx) -> dict[str, int]:
        require_writable(tx, engine, as_admin=as_admin)
        counts = dict.fromkeys(("memories", "messages", "conversations", "unchanged", "refused"), 0)
        arrivals = Arrivals(tx, batch, pepper, at)
        place = ""
        try:
            for number, kind, thing in batch:
                place = f"line {number}"
                counts[arrivals.take(kind, thing)] += 1
            place = f"lines {batch[0][0]} to {batch[-1][0]}"
            arrivals.write(generations)
        except InvalidInput as problem:
            raise InvalidInput(f"{place}: {problem.message}") from None
        audit.record(tx, engine.occasion, at, "imported", **counts)
        return counts

    counts = await engine.store.write(scope, work)
    return ImportReceipt(**{each.name: getattr(total, each.name) + counts[each.name] for each in fields(total)})
