"""What belongs to a space beside its memories: themes, settings, tombstones, audit facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """A heading under which memories are kept, and how many there are."""

    slug: str
    display_name: str
    description: str | None = None
    count: int = 0
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceSettings:
    """Per space. `soft_cap` 0 means no cap; `shared_tags` lets memories with these tags be recalled from other spaces."""

    memory_enabled: bool = True
    incognito_default: bool = False
    soft_cap: int = 200
    shared_tags: tuple[str, ...] = ()
    retention_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A keyed digest of something forgotten: enough to refuse its quiet return, useless for reading it."""

    digest: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A session, by a keyed digest of its id, that was declared incognito here, or expressly not."""

    session: str
    incognito: bool
    declared_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Who did what to which id, when. Ids, hashes and counts only: never content."""

    id: str
    at: datetime
    action: str
    target_kind: str | None = None
    target_id: str | None = None
    correlation_id: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
