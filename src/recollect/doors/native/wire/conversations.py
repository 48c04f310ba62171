"""What travels about conversations: turns in, verbatim messages out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from recollect.doors.native.wire.examples import CONVERSATION, MESSAGE, USED, showing


class TurnIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: str = "user"
    content: str
    name: str | None = Field(None, description="Who spoke, where that is more than the role.")
    created_at: datetime | None = None
    id: str | None = Field(None, description="An id of the caller's own makes sending a turn again harmless.")


class TurnsIn(BaseModel):
    model_config = showing(
        {"messages": [{"role": "user", "content": "Which package manager?"}, {"role": "assistant", "content": "uv."}]}
    )

    messages: list[TurnIn] = Field(min_length=1, max_length=1000)


class TurnsOut(BaseModel):
    model_config = showing(
        {"session_id": "monday", "ids": [MESSAGE["id"]], "stored": 1, "embedding": "pending", "masked": []}
    )

    session_id: str
    ids: list[str]
    stored: int = Field(description="How many are new; the others were there under the same id.")
    embedding: str
    masked: list[str]


class MessageOut(BaseModel):
    id: str
    session_id: str
    order: int
    role: str
    content: str
    name: str | None
    correlation_id: str | None
    created_at: datetime
    dated: bool = Field(description="False when nobody said when it was; `created_at` is then the time of storing.")
    sql_query: str | None
    query_explanation: str | None
    tables_used: list[str]
    execution_result: Any
    tokens: dict[str, int]
    execution_time_ms: float | None
    partial: bool


class ConversationOut(BaseModel):
    id: str
    title: str | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    message_count: int
    is_summarized: bool
    summary: str | None
    databases: list[str]
    database_tags: list[str]


class ConversationPage(BaseModel):
    model_config = showing({"items": [CONVERSATION], "total": 1, "limit": 50, "offset": 0})

    items: list[ConversationOut]
    total: int
    limit: int
    offset: int


class ConversationWithMessages(ConversationOut):
    model_config = showing(CONVERSATION | {"messages": [MESSAGE]})

    messages: list[MessageOut] = Field(description="The last ones, oldest first.")


class UsedOut(BaseModel):
    """A memory that a reply was made with."""

    message_id: str
    id: str
    text: str = Field(description="What the memory says now.")
    reference: str
    cited: bool = Field(description="The reply names it; otherwise it was only before the model.")
    at: datetime


class UsesOut(BaseModel):
    model_config = showing({"session_id": "monday", "uses": [USED]})

    session_id: str
    uses: list[UsedOut]
