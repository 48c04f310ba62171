"""What travels through the long-term door, under the names its contract gives."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from recollect.doors.http.examples import shown

Category = Literal["preference", "fact", "pattern"]
Source = Literal["user_stated", "inferred", "system"]

_ENTRY = {
    "id": "01JC5M3V6Q0000000000000000",
    "session_id": "monday",
    "category": "preference",
    "key": "editor.language",
    "value": {"language": "Python"},
    "confidence": 0.9,
    "source": "user_stated",
    "created_at": "2026-03-02T09:30:00Z",
    "last_accessed": None,
    "access_count": 0,
}


class Paging(BaseModel):
    """Which part of the whole to show."""

    limit: int = Field(10, ge=1, le=1000, description="How many entries to show.")
    offset: int = Field(0, ge=0, le=2**53, description="How many of the newest to pass over.")


class LongTermMemory(BaseModel):
    model_config = shown(_ENTRY)

    id: str
    session_id: str | None = Field(description="The session it comes from, where it comes from one.")
    category: Category
    key: str = Field(description="The name it is kept under; its id when nobody gave it one.")
    value: Any = Field(description="Any JSON; the text itself when nothing more structured is known.")
    confidence: float = Field(ge=0, le=1)
    source: Source
    created_at: datetime
    last_accessed: datetime | None
    access_count: int = Field(ge=0)


class LongTermPage(BaseModel):
    model_config = shown({"items": [_ENTRY], "total": 1, "limit": 10, "offset": 0, "has_more": False})

    items: list[LongTermMemory]
    total: int = Field(ge=0, description="How many there are, on this page or not.")
    limit: int
    offset: int
    has_more: bool = Field(description="Whether another page follows.")


class Deleted(BaseModel):
    """A confirmation: what is named here is gone for good."""

    model_config = shown({"deleted": True, "id": _ENTRY["id"]})

    deleted: Literal[True] = True
    id: str


class Cleared(BaseModel):
    model_config = shown({"deleted": True, "count": 12})

    deleted: Literal[True] = True
    count: int = Field(ge=0, description="How many memories were removed.")


class WorkingMemory(BaseModel):
    model_config = shown(
        {
            "session_id": "monday",
            "current_topic": "package managers",
            "context_variables": {"language": "Python"},
            "turn_count": 3,
            "last_emotion": None,
            "created_at": "2026-03-02T09:30:00Z",
            "updated_at": "2026-03-02T09:41:00Z",
        }
    )

    session_id: str
    current_topic: str | None
    context_variables: dict[str, Any]
    turn_count: int = Field(ge=0)
    last_emotion: str | None
    created_at: datetime
    updated_at: datetime
