"""Between entries and memories, and from a refusal to the error that says why: pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.doors.companion import wire
from recollect.doors.companion.summary import Survey, told
from recollect.model import (
    EmbeddingState,
    EmbeddingStatus,
    Listing,
    Memory,
    Page,
    Receipt,
    Scope,
    Source,
    SpaceSettings,
    Status,
    Target,
)
from recollect.policy.guard import checked_labels

Embeddings = Mapping[Target, EmbeddingStatus]


def within(scope: Scope, space: str | None) -> Scope:
    return scope if space is None else scope.within(space)


def listing_of(wanted: wire.EntryFilter) -> Listing:
    return Listing(
        tags=checked_labels(wanted.tags, "tags"),
        statuses=(Status(wanted.status),),
        pinned=wanted.pinned,
        manually_saved=wanted.manually_saved,
        limit=wanted.limit,
        offset=wanted.offset,
    )


def fields_of(sent: wire.EntryIn) -> dict[str, Any]:
    # What an app captures by itself counts to the cap.
    source = Source.MANUAL if sent.manually_saved else Source.INFERRED
    return {"content": sent.text, "tags": sent.tags, "manually_saved": sent.manually_saved, "source": source}


def entry_out(scope: Scope, memory: Memory, embeddings: Embeddings) -> wire.Entry:
    return wire.Entry(**_entry(scope, memory, embeddings))


def saved_out(scope: Scope, memory: Memory, embeddings: Embeddings, receipt: Receipt) -> wire.SavedEntry:
    return wire.SavedEntry(
        **_entry(scope, memory, embeddings),
        outcome=receipt.outcome,
        duplicate=receipt.outcome == "merged",
        replaces=receipt.replaces,
        repeat=receipt.repeat,
        conflicts=list(receipt.conflicts),
        confirm=receipt.confirm,
        masked=list(receipt.masked),
        warnings=list(receipt.warnings),
    )


def entries_out(scope: Scope, page: Page[Memory], embeddings: Embeddings) -> wire.Entries:
    return wire.Entries(
        entries=[entry_out(scope, memory, embeddings) for memory in page],
        total=page.total,
        limit=page.limit,
        offset=page.offset,
    )


def changes_of(sent: wire.SettingsIn) -> dict[str, Any]:
    """Only what was sent. Null clears what may be unset (`retention_days`), and elsewhere says nothing."""
    changes = sent.model_dump(exclude_unset=True, exclude={"space"})
    return {name: value for name, value in changes.items() if value is not None or name == "retention_days"}


def settings_out(scope: Scope, settings: SpaceSettings) -> wire.Settings:
    return wire.Settings(
        space=scope.space,
        memory_enabled=settings.memory_enabled,
        incognito_default=settings.incognito_default,
        soft_cap=settings.soft_cap,
        retention_days=settings.retention_days,
        shared_tags=list(settings.shared_tags),
    )


def target_of(memory: Memory) -> Target:
    return Target("memory", memory.id)


def _entry(scope: Scope, memory: Memory, embeddings: Embeddings) -> dict[str, Any]:
    names = ("id", "role", "created_at", "repeat_count", "metadata_confidence", "importance", "pinned")
    scores = memory.last_scores
    return {
        **{name: getattr(memory, name) for name in names},
        "user_id": scope.user,
        "space": scope.space,
        "text": memory.content,
        "needs_embedding": _needs(embeddings.get(target_of(memory))),
        "simhash": str(memory.simhash),
        "tags": list(memory.tags),
        "source_ids": list(memory.source_ids),
        "manually_saved": memory.manually_saved,
        "last_scores": {name: getattr(scores, name) for name in wire.LastScores.model_fields} if scores else None,
        "status": memory.status.value,
    }


def _needs(status: EmbeddingStatus | None) -> bool:
    """Without an embedder nothing is to come, and so nothing is needed."""
    return status is not None and status.state in (EmbeddingState.PENDING, EmbeddingState.ERROR)


def summary_out(survey: Survey, embeddings: Embeddings) -> wire.Summary:
    return wire.Summary(
        space=survey.scope.space,
        summary=told(survey),
        counts=wire.Counts(
            total=survey.total,
            pinned=survey.pinned_count,
            manually_saved=survey.saved_count,
            archived=survey.archived_count,
        ),
        themes=[wire.Counted(name=theme.display_name, count=theme.count) for theme in survey.themes],
        tags=[wire.Counted(name=name, count=count) for name, count in survey.tags],
        pinned=[entry_out(survey.scope, memory, embeddings) for memory in survey.pinned],
        memory_enabled=survey.settings.memory_enabled,
    )
