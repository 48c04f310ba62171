"""What travels through the companion door, under the names its contract gives."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from recollect.doors.http.examples import shown

Switch = Annotated[bool, Field(strict=True)]
Space = Annotated[str | None, Field(description="The space it is about; the caller's usual one when left out.")]

_ENTRY: dict[str, Any] = {
    "id": "01JC5M3V6Q0000000000000000",
    "user_id": "ana",
    "space": "TheoEngine",
    "role": "user",
    "text": "The weekly review is on Thursday at 15:00",
    "created_at": "2026-03-02T09:30:00Z",
    "needs_embedding": False,
    "simhash": "11400714819323198485",
    "repeat_count": 0,
    "tags": ["meetings"],
    "source_ids": [],
    "metadata_confidence": 0.0,
    "importance": 0.5,
    "pinned": False,
    "manually_saved": True,
    "last_scores": None,
    "status": "active",
}
_SETTINGS: dict[str, Any] = {
    "space": "TheoEngine",
    "memory_enabled": True,
    "incognito_default": False,
    "soft_cap": 200,
    "retention_days": None,
    "shared_tags": [],
}


class InSpace(BaseModel):
    space: Space = None


class EntryFilter(InSpace):
    """Which entries to list."""

    pinned: bool | None = Field(None, description="Only pinned ones, or only the others.")
    manually_saved: bool | None = Field(None, description="Only those somebody saved by hand, or only the others.")
    tags: list[str] = Field([], description="Only entries that carry one of these; may be given several times.")
    status: Literal["active", "superseded", "archived"] = Field(
        "active", description="Archived and superseded entries are not recalled any more, but can be looked at."
    )
    limit: int = Field(50, ge=1, le=1000)
    offset: int = Field(0, ge=0, le=2**53)


class EntryIn(BaseModel):
    model_config = shown({"text": _ENTRY["text"], "space": "TheoEngine", "tags": ["meetings"]}, extra="forbid")

    text: str
    space: Space = None
    tags: list[str] = []
    manually_saved: Switch = False
    session_id: str | None = Field(None, description="The session it is said in, if not in the header X-Session-ID.")


class LastScores(BaseModel):
    relevance: float
    recency: float
    importance: float
    total: float
    computed_at: datetime


class Entry(BaseModel):
    model_config = shown(_ENTRY)

    id: str
    user_id: str
    space: str
    role: str
    text: str
    created_at: datetime
    needs_embedding: bool
    simhash: str = Field(description="An unsigned 64-bit number, as text: JSON numbers lose its last bits.")
    repeat_count: int
    tags: list[str]
    source_ids: list[str]
    metadata_confidence: float
    importance: float
    pinned: bool
    manually_saved: bool
    last_scores: LastScores | None
    status: Literal["active", "superseded", "archived"]


class SavedEntry(Entry):
    """An entry and what saving did: with `duplicate`, it was known, and has been strengthened instead."""

    model_config = shown(
        _ENTRY
        | {
            "outcome": "stored",
            "duplicate": False,
            "replaces": None,
            "repeat": None,
            "conflicts": [],
            "confirm": None,
            "masked": [],
            "warnings": [],
        }
    )

    outcome: Literal["stored", "merged", "superseded"]
    duplicate: bool
    replaces: str | None
    repeat: str | None = Field(description="Of a duplicate: the name of this telling, by which it can be undone.")
    conflicts: list[str] = Field(description="Entries that may not be true beside this one; they stay for now.")
    confirm: str | None = Field(description="With `conflicts`: the question to put to the person, in words.")
    masked: list[str] = Field(description="Kinds of private data that were blotted out before storing.")
    warnings: list[str]


class Entries(BaseModel):
    model_config = shown({"entries": [_ENTRY], "total": 1, "limit": 50, "offset": 0})

    entries: list[Entry]
    total: int
    limit: int
    offset: int


class Counts(BaseModel):
    total: int
    pinned: int
    manually_saved: int
    archived: int


class Counted(BaseModel):
    name: str
    count: int


class Summary(BaseModel):
    model_config = shown(
        {
            "space": "TheoEngine",
            "summary": "1 memory in TheoEngine, last added to on 2 March 2026. 1 is saved by hand.",
            "counts": {"total": 1, "pinned": 0, "manually_saved": 1, "archived": 0},
            "themes": [],
            "tags": [{"name": "meetings", "count": 1}],
            "pinned": [],
            "memory_enabled": True,
        }
    )

    space: str
    summary: str
    counts: Counts
    themes: list[Counted] = Field(description="The largest themes first.")
    tags: list[Counted] = Field(description="The commonest tags of the newest entries.")
    pinned: list[Entry]
    memory_enabled: bool


class Forgotten(BaseModel):
    model_config = shown({"deleted": True, "id": _ENTRY["id"], "tombstone_until": "2026-03-03T09:30:00Z"})

    deleted: Literal[True] = True
    id: str
    tombstone_until: datetime | None = Field(
        description="Until then the same text is refused; None when nothing is kept to recognise it by."
    )


class SettingsIn(BaseModel):
    """What is left out stays as it is."""

    model_config = shown({"space": "TheoEngine", "memory_enabled": False}, extra="forbid")

    space: Space = None
    memory_enabled: Switch | None = None
    incognito_default: Switch | None = None
    soft_cap: int | None = Field(None, ge=0, le=10_000_000, description="How many entries are kept; 0 is no limit.")
    retention_days: int | None = Field(None, ge=1, le=36_500, description="How long conversations are kept.")
    shared_tags: list[str] | None = Field(None, description="Entries with these tags may be recalled elsewhere.")


class Settings(BaseModel):
    model_config = shown(_SETTINGS)

    space: str
    memory_enabled: bool
    incognito_default: bool
    soft_cap: int
    retention_days: int | None
    shared_tags: list[str]


class IncognitoIn(BaseModel):
    model_config = shown({"session_id": "monday"}, extra="forbid")

    session_id: str | None = Field(None, description="The session meant, if not in the header X-Session-ID.")
    space: Space = None


class Incognito(BaseModel):
    model_config = shown({"session_id": "monday", "space": "TheoEngine", "incognito": True})

    session_id: str = Field(description="Send it as X-Session-ID with everything that belongs to this session.")
    space: str
    incognito: bool
