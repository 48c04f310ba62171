"""Between the contract's four types and the engine's own, and from a recall to its answer: pure functions."""

from __future__ import annotations

from recollect.doors.recall import wire
from recollect.errors import NotAllowed
from recollect.model import Filter, Hit, Query, Recall, Scope
from recollect.policy.injection import is_suspicious
from recollect.tools.types import RECALL, meant_by


def check_own(sent: wire.MemoryQueryRequest, scope: Scope) -> None:
    """Nobody asks for somebody else."""
    if sent.user_id is not None and sent.user_id != scope.user:
        raise NotAllowed("user_id must be the caller's own, or left out")


def query_of(sent: wire.MemoryQueryRequest) -> Query:
    return Query(
        text=sent.query,
        recipe="recall",
        limit=sent.limit,
        filter=Filter(kinds=("memory",), types=meant_by(sent.types, RECALL)),
        min_relevance=sent.min_score,
    )


def answer_of(recall: Recall) -> wire.MemoryQueryResponse:
    trace = recall.trace
    items = [item for hit in recall if (item := _item(hit)) is not None]
    return wire.MemoryQueryResponse(
        items=items,
        total_count=len(items),
        query_embedding_ms=round(trace.timings_ms.get("embed", 0.0)),
        retrieval_ms=round(trace.timings_ms.get("store", 0.0)),
        token_count=trace.token_count,
        truncated=trace.truncated,
        rate_limited=trace.rate_limited,
        degraded=list(trace.degraded),
        error=False,
    )


def failed() -> wire.MemoryQueryResponse:
    """Closed for the data, open for the conversation: nothing is returned, and it is said that something went wrong."""
    return wire.MemoryQueryResponse(
        items=[],
        total_count=0,
        query_embedding_ms=0,
        retrieval_ms=0,
        token_count=0,
        truncated=False,
        rate_limited=False,
        degraded=["store"],
        error=True,
    )


def _item(hit: Hit) -> wire.MemoryItem | None:
    memory = hit.memory
    if memory is None:
        return None
    return wire.MemoryItem(
        id=memory.id,
        content=memory.content,
        type=RECALL[memory.type],
        relevance_score=round(hit.relevance, 4),
        source=memory.source_message_id,
        created_at=memory.created_at,
        importance=memory.importance,
        suspicious=is_suspicious(memory.content),
    )
