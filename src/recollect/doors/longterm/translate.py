"""Between the contract's three categories and sources and the engine's own: pure functions."""

from __future__ import annotations

from recollect.doors.longterm import wire
from recollect.model import ForgetReceipt, Listing, Memory, MemoryType, Page, WorkingMemory
from recollect.model import Source as Origin

_CATEGORIES: dict[MemoryType, wire.Category] = {
    MemoryType.PREFERENCE: "preference",
    MemoryType.INSTRUCTION: "preference",
    MemoryType.PATTERN: "pattern",
}
"""A standing instruction is how somebody likes things done. Everything that isn't listed is taken for a fact."""

_SOURCES: dict[Origin, wire.Source] = {
    Origin.USER_STATED: "user_stated",
    Origin.MANUAL: "user_stated",
    Origin.INFERRED: "inferred",
    Origin.SYSTEM: "system",
    Origin.IMPORT: "system",
}


def listing_of(paging: wire.Paging) -> Listing:
    return Listing(limit=paging.limit, offset=paging.offset)


def memory_out(memory: Memory) -> wire.LongTermMemory:
    return wire.LongTermMemory(
        id=memory.id,
        session_id=memory.source_conversation_id,
        category=_CATEGORIES.get(memory.type, "fact"),
        key=memory.key or memory.id,
        value=memory.content if memory.value is None else memory.value,
        confidence=memory.confidence,
        source=_SOURCES[memory.source],
        created_at=memory.created_at,
        last_accessed=memory.last_accessed,
        access_count=memory.access_count,
    )


def page_out(page: Page[Memory]) -> wire.LongTermPage:
    return wire.LongTermPage(
        items=[memory_out(each) for each in page],
        total=page.total,
        limit=page.limit,
        offset=page.offset,
        has_more=page.offset + len(page) < page.total,
    )


def cleared_out(receipt: ForgetReceipt) -> wire.Cleared:
    return wire.Cleared(count=receipt.memories + receipt.derived)


def working_out(working: WorkingMemory) -> wire.WorkingMemory:
    fields = {name: getattr(working, name) for name in wire.WorkingMemory.model_fields}
    return wire.WorkingMemory(**{**fields, "context_variables": dict(working.context_variables)})
