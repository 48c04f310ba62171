"""Between the wire and the engine: pure functions, nothing decided here."""

from __future__ import annotations

from typing import Any

from recollect.doors.native.wire import (
    ForgetOut,
    HitOut,
    MemoryIn,
    MemoryOut,
    MemoryPatch,
    PageOut,
    RecallOut,
    ReceiptOut,
    SearchIn,
)
from recollect.engine.drafts import checked_choice
from recollect.model import Filter, ForgetReceipt, Hit, Memory, MemoryType, Page, Query, Recall, Receipt


def fields_of(sent: MemoryIn | MemoryPatch) -> dict[str, Any]:
    """Only what was really sent; `text` is the content."""
    fields = sent.model_dump(exclude_unset=True)
    if "text" in fields:
        fields["content"] = fields.pop("text")
    return fields


def query_of(sent: SearchIn) -> Query:
    types = tuple(checked_choice(each, MemoryType, "type") for each in sent.types)
    return Query(
        text=sent.query,
        recipe=sent.recipe,
        limit=sent.limit,
        filter=Filter(kinds=tuple(sent.kinds), types=types, tags=tuple(sent.tags)),
        min_relevance=sent.min_relevance,
    )


def receipt_out(receipt: Receipt) -> ReceiptOut:
    return ReceiptOut(
        id=receipt.id,
        outcome=receipt.outcome,
        embedding=receipt.embedding.value,
        reason=receipt.reason,
        replaces=receipt.replaces,
        until=receipt.until,
    )


def memory_out(memory: Memory) -> MemoryOut:
    names = set(MemoryOut.model_fields) - {"text", "tags"}
    return MemoryOut(text=memory.content, tags=list(memory.tags), **{name: getattr(memory, name) for name in names})


def page_out(page: Page[Memory]) -> PageOut:
    return PageOut(items=[memory_out(each) for each in page], total=page.total, limit=page.limit, offset=page.offset)


def recall_out(recall: Recall) -> RecallOut:
    trace = recall.trace
    return RecallOut(
        hits=[_hit(hit) for hit in recall], degraded=list(trace.degraded), timings_ms=dict(trace.timings_ms)
    )


def forget_out(receipt: ForgetReceipt) -> ForgetOut:
    return ForgetOut(**{name: getattr(receipt, name) for name in ForgetOut.model_fields})


def _hit(hit: Hit) -> HitOut:
    thing = hit.memory or hit.message
    assert thing is not None
    return HitOut(
        kind=hit.target.kind,
        id=thing.id,
        text=thing.content,
        type=hit.memory.type.value if hit.memory else None,
        session_id=hit.message.session_id if hit.message else None,
        relevance=round(hit.relevance, 4),
        score=round(hit.score, 6),
        signals={name: round(value, 4) for name, value in hit.signals.items()},
        created_at=thing.created_at,
    )
