"""What travels about the caller: who they are, their spaces and settings, their audit trail, what they bring along."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from recollect.doors.native.wire.examples import AUDIT, HEALTH, SETTINGS, showing

Switch = Annotated[bool, Field(strict=True)]


class MeOut(BaseModel):
    model_config = showing(
        {
            "tenant": "default",
            "user": "ana",
            "role": "user",
            "space": "default",
            "spaces": ["default"],
            "write_mode": "automatic",
        }
    )

    tenant: str
    user: str
    role: Literal["user", "admin"]
    space: str = Field(description="The space this request is about.")
    spaces: list[str] = Field(description="Every space in which anything is kept.")
    write_mode: Literal["read_only", "explicit", "automatic"] = Field(
        description="`read_only`: nothing can be changed."
    )


class FindingOut(BaseModel):
    concern: str
    ids: list[str] = Field(description="Of duplicates, the one to keep comes first.")
    why: str
    reason: str = Field(description="The same by name, for whoever says it in other words.")
    facts: dict[str, Any] = Field(description="What the reason is filled in with.")


class HealthOut(BaseModel):
    """What is wrong with a memory as a whole, or may be. Without content."""

    model_config = showing(HEALTH)

    space: str
    memories: int = Field(description="How many were looked at.")
    counts: dict[str, int]
    findings: list[FindingOut] = Field(description="The first thousand; `counts` knows all.")


class EraseIn(BaseModel):
    """Deliberate, or not at all: the id of the user whose everything is to go."""

    model_config = showing({"confirm": "ana"})

    confirm: str


class SpacesOut(BaseModel):
    model_config = showing({"spaces": ["default", "work"]})

    spaces: list[str]


class SettingsPatch(BaseModel):
    """What is left out stays as it is; `retention_days: null` lifts the limit."""

    model_config = showing({"memory_enabled": False})

    memory_enabled: Switch | None = None
    incognito_default: Switch | None = None
    soft_cap: int | None = Field(None, ge=0, le=10_000_000)
    retention_days: int | None = Field(None, ge=1, le=36_500)
    shared_tags: list[str] | None = None


class SettingsOut(BaseModel):
    model_config = showing(SETTINGS)

    space: str
    memory_enabled: bool
    incognito_default: bool
    soft_cap: int
    retention_days: int | None
    shared_tags: list[str]


class AuditOut(BaseModel):
    """Who did what to which id, when. Never content."""

    id: str
    at: datetime
    action: str
    target_kind: str | None
    target_id: str | None
    correlation_id: str | None
    facts: dict[str, Any]


class AuditPage(BaseModel):
    model_config = showing({"items": [AUDIT], "total": 1, "limit": 50, "offset": 0})

    items: list[AuditOut]
    total: int
    limit: int
    offset: int


class ImportOut(BaseModel):
    model_config = showing(
        {"memories": 12, "messages": 40, "conversations": 3, "unchanged": 0, "refused": 0, "spaces": ["default"]}
    )

    memories: int
    messages: int
    conversations: int
    unchanged: int = Field(description="There already under the same id, and left alone.")
    refused: int = Field(description="Forgotten not long ago, or not allowed in.")
    spaces: list[str]
