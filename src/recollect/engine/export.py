"""export and import: a scope as JSON lines, complete, and back again unchanged.

The first line says what the file is; then come themes, conversations with their messages, and memories of every status. Vectors
are not exported: they are made anew wherever the text lands, in whatever generation serves there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.engine import audit
from recollect.engine.drafts import checked_choice, checked_time
from recollect.engine.indexing import index_memory, index_messages
from recollect.errors import InvalidInput
from recollect.model import (
    Conversation,
    ImportReceipt,
    Memory,
    MemoryType,
    Message,
    Scope,
    Scores,
    Source,
    Status,
    Theme,
    checked_id,
)
from recollect.policy.digest import grave_digest, twin_digest
from recollect.policy.guard import checked_text
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

FORMAT = "recollect-export"
VERSION = 1
PAGE = 200

T = TypeVar("T")
Line = dict[str, Any]


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
        yield _line("theme", theme, leave_out=("count",))
    after: str | None = None
    while conversations := await _page(engine, scope, after, _conversations_after):
        for conversation in conversations:
            yield _line("conversation", conversation)
            async for message in _messages_of(engine, scope, conversation.id):
                yield _line("message", message)
        after = conversations[-1].id
    after = None
    while memories := await _page(engine, scope, after, _memories_after):
        for memory in memories:
            yield _line("memory", memory)
        after = memories[-1].id


async def import_lines(engine: Engine, scope: Scope, lines: Iterable[Mapping[str, Any]]) -> ImportReceipt:
    """Put exported lines into `scope`. What is already there under the same id is left alone: repeating is harmless."""
    total = ImportReceipt()
    batch: list[tuple[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        kind, thing = _parsed(line, number, engine.config.max_content_bytes)
        if kind != "header":
            batch.append((kind, thing))
        if len(batch) >= PAGE:
            total = await _import_batch(engine, scope, batch, total)
            batch = []
    if batch:
        total = await _import_batch(engine, scope, batch, total)
    engine.wake()
    return total


async def _page(engine: Engine, scope: Scope, after: str | None, page: Any) -> Any:
    return await engine.store.read(scope, lambda tx: page(tx, after))


def _conversations_after(tx: Tx, after: str | None) -> Sequence[Conversation]:
    return tx.conversations.scan(after, PAGE)


def _memories_after(tx: Tx, after: str | None) -> Sequence[Memory]:
    return tx.memories.scan(after, PAGE)


async def _messages_of(engine: Engine, scope: Scope, session_id: str) -> AsyncIterator[Message]:
    """Oldest first, walked from the front in windows of orders."""
    conversation = await engine.store.read(scope, lambda tx: tx.conversations.get(session_id))
    last = conversation.message_count if conversation else 0
    for end in range(PAGE, last + PAGE, PAGE):
        window = await engine.store.read(
            scope,
            lambda tx, end=end: tx.conversations.history(session_id, PAGE, before=end),  # type: ignore[misc]
        )
        for message in window:
            if message.order >= end - PAGE:
                yield message


async def _import_batch(
    engine: Engine, scope: Scope, batch: Sequence[tuple[str, Any]], total: ImportReceipt
) -> ImportReceipt:
    generations = await engine.generations.to_fill()
    pepper = engine.config.pepper
    at = engine.clock.now()

    def work(tx: Tx) -> dict[str, int]:
        counts = dict.fromkeys(("memories", "messages", "conversations", "unchanged", "refused"), 0)
        for kind, thing in batch:
            counts[_import_one(tx, kind, thing, generations, pepper, at)] += 1
        counts.pop("", None)
        audit.record(tx, at, "imported", None, None, **counts)
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
        tx.conversations.append([thing])
        index_messages(tx, [thing], generations, at)
        return "messages"
    if tx.memories.get([thing.id]):
        return "unchanged"
    if tx.space.buried(grave_digest(tx.scope, thing.content, pepper), at):
        return "refused"
    tx.memories.insert(thing, twin_digest(tx.scope, thing.content, pepper))
    if thing.status is Status.ACTIVE and thing.deleted_at is None:
        index_memory(tx, thing, generations, at)
    return "memories"


def _line(kind: str, thing: Any, leave_out: Sequence[str] = ()) -> Line:
    line: Line = {"kind": kind}
    line.update({each.name: _plain(getattr(thing, each.name)) for each in fields(thing) if each.name not in leave_out})
    return line


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value


_TIMES = frozenset({"created_at", "updated_at", "expires_at", "last_accessed", "deleted_at"})
_TUPLES = frozenset({"tags", "source_ids", "databases", "database_tags", "tables_used"})
_CLASSES: dict[str, type[Any]] = {
    "theme": Theme,
    "conversation": Conversation,
    "message": Message,
    "memory": Memory,
}


def _parsed(line: Mapping[str, Any], number: int, max_bytes: int) -> tuple[str, Any]:
    if not isinstance(line, Mapping):
        raise InvalidInput(f"line {number}: expected a JSON object")
    kind = line.get("kind")
    if kind == "header":
        if line.get("format") != FORMAT or line.get("version") != VERSION:
            raise InvalidInput(f"line {number}: not a {FORMAT} file of version {VERSION}")
        return "header", None
    if kind not in _CLASSES:
        known = ", ".join(("header", *_CLASSES))
        raise InvalidInput(f"line {number}: kind must be one of {known}, not {str(kind)[:40]!r}")
    try:
        return kind, _thing(_CLASSES[kind], line, max_bytes)
    except InvalidInput as problem:
        raise InvalidInput(f"line {number}: {problem.message}") from None
    except (TypeError, KeyError, ValueError) as problem:
        raise InvalidInput(f"line {number}: a {kind} is not complete ({type(problem).__name__})") from None


def _thing(wanted: type[T], line: Mapping[str, Any], max_bytes: int) -> T:
    values: dict[str, Any] = {}
    for name in (each.name for each in fields(wanted)):  # type: ignore[arg-type]
        if name not in line:
            continue
        value = line[name]
        if value is not None and name in _TIMES:
            value = checked_time(value, name)
        elif name in _TUPLES:
            value = tuple(checked_id(each, name) for each in value)
        values[name] = value
    for name in ("id", "slug", "session_id"):
        if name in values:
            checked_id(values[name], name)
    if "content" in values:
        checked_text(values["content"], "content", max_bytes)
    if wanted is Memory:
        values["type"] = checked_choice(values.get("type", "fact"), MemoryType, "type")
        values["source"] = checked_choice(values.get("source", "import"), Source, "source")
        values["status"] = checked_choice(values.get("status", "active"), Status, "status")
        values["last_scores"] = _scores(values.get("last_scores"))
    return wanted(**values)


def _scores(value: Any) -> Scores | None:
    if value is None:
        return None
    return Scores(**{**value, "computed_at": checked_time(value["computed_at"], "computed_at")})
