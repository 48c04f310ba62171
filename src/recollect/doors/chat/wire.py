"""What travels through the chat door: a message in; a reply with the memories it used out, at once or event by event."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from recollect.doors.http.examples import shown

_MEMORY = {
    "reference": "m1",
    "kind": "memory",
    "id": "01JC5M3V6Q0000000000000000",
    "content": "I prefer uv over pip",
    "source": "you told me on 2026-02-01",
    "said_by": "user_stated",
    "type": "preference",
    "session_id": "monday",
    "message_id": "01JC5M3V6Q0000000000000001",
    "created_at": "2026-02-01T10:00:00Z",
    "relevance": 0.83,
    "cited": True,
    "suspicious": False,
    "truncated": False,
    "earlier": [],
}
_USAGE = {"prompt_tokens": 212, "completion_tokens": 17, "counted_by": "model"}
EVENT = {
    "description": "Each event of the stream.",
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["start", "memory", "delta", "error", "done"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
EVENTS = """\
event: start
data: {"session_id": "tuesday", "message_id": "01JC5M3V6Q0000000000000002", "kept": true, "reason": null, "masked": [], "warnings": []}

event: memory
data: {"memories": [], "token_count": 0, "truncated": false, "degraded": [], "rate_limited": false, "error": false}

event: delta
data: {"text": "Good morning!"}

event: done
data: {"message_id": "01JC5M3V6Q0000000000000003", "partial": false, "finish": "stop", "model": "llama3", "command": null, "cited": [], "usage": {"prompt_tokens": 40, "completion_tokens": 4, "counted_by": "model"}}

"""  # noqa: E501 -- a line of an event is a line


class ChatIn(BaseModel):
    model_config = shown(
        {"message": "Which package manager should I use?", "session_id": "tuesday", "stream": False}, extra="forbid"
    )

    message: str = Field(description="What the user says.")
    session_id: str | None = Field(
        None, min_length=1, max_length=255, description="The conversation to go on with; left out, a new one begins."
    )
    message_id: str | None = Field(
        None,
        min_length=1,
        max_length=255,
        description="An id of your own: a message that is sent again is stored once.",
    )
    stream: bool = Field(False, description="Events as they come; so does `Accept: text/event-stream`.")


class EarlierOut(BaseModel):
    content: str
    created_at: datetime
    disputed: bool = Field(description="Both are still held. Otherwise this was replaced.")


class UsedOut(BaseModel):
    model_config = shown(_MEMORY)

    reference: str = Field(description="What the reply calls it, in brackets.")
    kind: Literal["memory", "message"]
    id: str
    content: str
    source: str = Field(description="Where it comes from and from when, in words.")
    said_by: str | None = Field(description="A message's role, or a memory's source.")
    type: str | None
    session_id: str | None
    message_id: str | None
    created_at: datetime
    relevance: float = Field(ge=0, le=1)
    cited: bool = Field(description="The reply names it. Unknown, and so false, while the reply is on its way.")
    suspicious: bool = Field(description="It reads like instructions to a model, and was shown as a quotation.")
    truncated: bool
    earlier: list[EarlierOut] = Field(description="What it replaced, and what it may contradict.")


class UsageOut(BaseModel):
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    counted_by: Literal["model", "here"] = Field(description="`here`: our own count, in cl100k_base.")


class ErrorOut(BaseModel):
    code: str
    message: str


class ChatOut(BaseModel):
    model_config = shown(
        {
            "session_id": "tuesday",
            "message_id": "01JC5M3V6Q0000000000000002",
            "reply_id": "01JC5M3V6Q0000000000000003",
            "reply": "You told me on 1 February that you prefer uv over pip [m1], so uv.",
            "kept": True,
            "reason": None,
            "partial": False,
            "finish": "stop",
            "model": "llama3",
            "command": None,
            "memories": [_MEMORY],
            "token_count": 61,
            "degraded": [],
            "rate_limited": False,
            "memory_error": False,
            "masked": [],
            "warnings": [],
            "usage": _USAGE,
            "error": None,
        }
    )

    session_id: str = Field(description="Send it along to go on with this conversation.")
    message_id: str | None = Field(description="The id of what was said; null where nothing is kept.")
    reply_id: str | None
    reply: str
    kept: bool = Field(description="Whether memory is on: false when it is switched off, or the session incognito.")
    reason: str | None = Field(description="Why nothing is kept: `memory_off` or `incognito`.")
    partial: bool = Field(description="The model broke off; `error` says why.")
    finish: str
    model: str | None = Field(description="Null when no model is configured, or an order to the memory was answered.")
    command: str | None = Field(description="The order that was carried out, such as `forget` or `memory_off`.")
    memories: list[UsedOut] = Field(description="What was recalled and shown to the model.")
    token_count: int = Field(ge=0, description="Tokens of what was shown of memory.")
    degraded: list[str]
    rate_limited: bool
    memory_error: bool = Field(description="Recall failed, and the reply was made without it.")
    masked: list[str] = Field(
        description="Kinds of secrets that were blotted out before anything was stored or sent on."
    )
    warnings: list[str]
    usage: UsageOut
    error: ErrorOut | None
