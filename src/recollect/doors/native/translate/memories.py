"""Memories, questions and receipts, from the wire to the engine and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.doors.native.translate.conversations import conversation_out, message_out
from recollect.doors.native.wire import memories as wire
from recollect.engine.remembering.drafts import checked_time
from recollect.errors import InvalidInput
from recollect.model import (
    EmbeddingStatus,
    Filter,
    ForgetReceipt,
    Hit,
    Listing,
    Memory,
    MemoryType,
    Message,
    Page,
    Provenance,
    Query,
    Recall,
    Receipt,
    Status,
    Target,
    Theme,
    Trace,
    Use,
)
from recollect.policy.guard import checked_label, checked_labels, slug
from recollect.policy.render import Block, Shown

_LISTS = {"text", "tags", "source_ids"}
BEGINNING = 200


def fields_of(sent: wire.MemoryIn | wire.MemoryPatch) -> dict[str, Any]:
    """Only what was really sent; `text` is the content."""
    fields = sent.model_dump(exclude_unset=True)
    if "text" in fields:
        fields["content"] = fields.pop("text")
    return fields


def listing_of(wanted: wire.ListIn) -> Listing:
    return Listing(
        types=tuple(MemoryType(each) for each in wanted.type),
        tags=checked_labels(wanted.tag, "tag"),
        themes=tuple(slug(theme) for theme in checked_labels(wanted.theme, "theme")),
        statuses=tuple(Status(each) for each in wanted.status),
        pinned=wanted.pinned,
        manually_saved=wanted.manually_saved,
        since=_moment(wanted.since, "since"),
        until=_moment(wanted.until, "until"),
        limit=wanted.limit,
        offset=wanted.offset,
    )


def query_of(sent: wire.SearchIn, *, token_budget: int | None = None) -> Query:
    return Query(
        text=sent.query,
        recipe=checked_label(sent.recipe, "recipe"),
        limit=sent.limit,
        filter=Filter(
            kinds=tuple(sent.kinds),
            types=tuple(MemoryType(each) for each in sent.types),
            tags=checked_labels(sent.tags, "tags"),
            themes=tuple(slug(theme) for theme in checked_labels(sent.themes, "themes")),
            sessions=checked_labels(sent.sessions, "sessions"),
            since=_moment(sent.since, "since"),
            until=_moment(sent.until, "until"),
        ),
        min_relevance=sent.min_relevance,
        token_budget=token_budget,
        now=_moment(sent.now, "now"),
        topic=sent.topic,
        typing=sent.typing,
        history=tuple(sent.history),
    )


def receipt_out(id: str, receipt: Receipt) -> wire.ReceiptOut:
    return wire.ReceiptOut(
        id=id,
        outcome=receipt.outcome,
        embedding=receipt.embedding.value,
        replaces=receipt.replaces,
        repeat=receipt.repeat,
        conflicts=list(receipt.conflicts),
        confirm=receipt.confirm,
        masked=list(receipt.masked),
        warnings=list(receipt.warnings),
    )


def memory_out(memory: Memory) -> wire.MemoryOut:
    names = wire.MemoryOut.model_fields.keys() - _LISTS
    return wire.MemoryOut(
        text=memory.content,
        tags=list(memory.tags),
        source_ids=list(memory.source_ids),
        **{name: getattr(memory, name) for name in names},
    )


def page_out(page: Page[Memory], embeddings: Mapping[Target, EmbeddingStatus]) -> wire.PageOut:
    items = [_listed(each, embeddings.get(Target("memory", each.id))) for each in page]
    return wire.PageOut(items=items, total=page.total, limit=page.limit, offset=page.offset)


def _listed(memory: Memory, status: EmbeddingStatus | None) -> wire.ListedOut:
    shown = memory_out(memory).model_dump()
    return wire.ListedOut(
        **shown, embedding=status.state.value if status else "off", embedding_error=status.error if status else None
    )


def recall_out(recall: Recall) -> wire.RecallOut:
    trace = recall.trace
    return wire.RecallOut(
        hits=[_hit(hit) for hit in recall], recipe=trace.recipe, token_count=trace.token_count, **_course(trace)
    )


def context_out(block: Block, trace: Trace) -> wire.ContextOut:
    return wire.ContextOut(
        text=block.text,
        token_count=block.token_count,
        references=[_reference(shown) for shown in block.shown],
        **_course(trace) | {"truncated": trace.truncated or block.truncated},
    )


def forget_out(receipt: ForgetReceipt) -> wire.ForgetOut:
    return wire.ForgetOut(**{name: getattr(receipt, name) for name in wire.ForgetOut.model_fields})


def why_out(why: Provenance) -> wire.WhyOut:
    scores = why.memory.last_scores
    return wire.WhyOut(
        memory=memory_out(why.memory),
        message=message_out(why.message) if why.message else None,
        conversation=conversation_out(why.conversation) if why.conversation else None,
        history=[memory_out(each) for each in why.history],
        derived=[memory_out(each) for each in why.derived],
        used_in=[_used_in(*each) for each in why.uses],
        last_scores=wire.ScoresOut(**{name: getattr(scores, name) for name in wire.ScoresOut.model_fields})
        if scores
        else None,
        embedding=_embedding(why.embedding),
    )


def _used_in(use: Use, reply: Message) -> wire.UsedInOut:
    return wire.UsedInOut(
        session_id=reply.session_id,
        message_id=reply.id,
        text=reply.content[:BEGINNING],
        reference=use.reference,
        cited=use.cited,
        at=use.at,
    )


def themes_out(themes: Sequence[Theme]) -> wire.ThemesOut:
    names = wire.ThemeOut.model_fields
    return wire.ThemesOut(themes=[wire.ThemeOut(**{name: getattr(each, name) for name in names}) for each in themes])


def check_confirmed(sent: str, meant: str, what: str) -> None:
    if sent != meant:
        raise InvalidInput(f"nothing was removed: `confirm` must be the name of the {what} that is to be emptied")


def _moment(value: datetime | None, what: str) -> datetime | None:
    return None if value is None else checked_time(value, what)


def _course(trace: Trace) -> dict[str, Any]:
    return {
        "degraded": list(trace.degraded),
        "rate_limited": trace.rate_limited,
        "truncated": trace.truncated,
        "timings_ms": dict(trace.timings_ms),
    }


def _reference(shown: Shown) -> wire.ReferenceOut:
    return wire.ReferenceOut(
        reference=shown.reference,
        kind=shown.target.kind,
        id=shown.target.id,
        source_ids=list(shown.source_ids),
        truncated=shown.truncated,
        suspicious=shown.suspicious,
        withheld=shown.withheld,
    )


def _embedding(status: EmbeddingStatus) -> wire.EmbeddingOut:
    return wire.EmbeddingOut(
        state=status.state.value,
        generation=status.generation or None,
        attempts=status.attempts,
        error=status.error,
        updated_at=status.updated_at,
    )


def _hit(hit: Hit) -> wire.HitOut:
    thing = hit.memory or hit.message
    assert thing is not None
    return wire.HitOut(
        kind=hit.target.kind,
        id=thing.id,
        text=thing.content,
        type=hit.memory.type.value if hit.memory else None,
        theme=hit.memory.theme if hit.memory else None,
        tags=list(hit.memory.tags) if hit.memory else [],
        role=thing.role,
        source=hit.memory.source.value if hit.memory else None,
        pinned=hit.memory.pinned if hit.memory else None,
        session_id=hit.message.session_id if hit.message else None,
        relevance=round(hit.relevance, 4),
        score=round(hit.score, 6),
        signals={name: round(value, 4) for name, value in hit.signals.items()},
        tokens=hit.tokens,
        truncated=hit.truncated,
        created_at=thing.created_at,
    )
