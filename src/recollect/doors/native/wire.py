"""What travels: requests and answers of the native door."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MemoryIn(Strict):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "I prefer uv over pip", "type": "preference", "tags": ["python"]}]},
    )
    text: str
    type: str = "fact"
    tags: list[str] = []
    theme: str | None = None
    key: str | None = None
    value: Any = None
    pinned: bool = False
    importance: float | None = None
    confidence: float = 1.0
    expires_at: datetime | None = None


class MemoryPatch(Strict):
    text: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    theme: str | None = None
    pinned: bool | None = None
    importance: float | None = None
    expires_at: datetime | None = None


class ReceiptOut(BaseModel):
    id: str | None
    outcome: Literal["stored", "merged", "superseded", "refused"]
    embedding: str
    reason: str | None = None
    replaces: str | None = None
    until: datetime | None = None


class MemoryOut(BaseModel):
    id: str
    text: str
    type: str
    theme: str | None
    key: str | None
    value: Any
    tags: list[str]
    source: str
    confidence: float
    importance: float
    pinned: bool
    status: str
    repeat_count: int
    access_count: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


class PageOut(BaseModel):
    items: list[MemoryOut]
    total: int
    limit: int
    offset: int


class SearchIn(Strict):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"query": "which package manager?"}]})
    query: str
    limit: int = Field(10, ge=1, le=100)
    types: list[str] = []
    tags: list[str] = []
    kinds: list[Literal["memory", "message"]] = ["memory", "message"]
    recipe: str = "native"
    min_relevance: float | None = Field(None, ge=0, le=1)


class HitOut(BaseModel):
    kind: Literal["memory", "message"]
    id: str
    text: str
    type: str | None
    session_id: str | None
    relevance: float
    score: float
    signals: dict[str, float]
    created_at: datetime


class RecallOut(BaseModel):
    hits: list[HitOut]
    degraded: list[str]
    timings_ms: dict[str, float]


class ForgetOut(BaseModel):
    memories: int
    derived: int
    index_entries: int
    vectors: int
    tombstones: int
    scrubbed: bool
