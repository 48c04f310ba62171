"""What travels about memories: adding, listing, searching, changing, forgetting, explaining."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from recollect.doors.native.wire.conversations import ConversationOut, MessageOut
from recollect.doors.native.wire.examples import (
    CONTEXT,
    FORGOTTEN,
    HIT,
    LISTED,
    MEMORY,
    RECALL,
    RECEIPT,
    THEME,
    WHY,
    showing,
)

Type = Literal["fact", "preference", "decision", "note", "pattern", "instruction", "summary", "other"]
StatusName = Literal["active", "superseded", "archived"]
Origin = Literal["user_stated", "inferred", "system", "manual", "import"]
Switch = Annotated[bool, Field(strict=True)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Limit = Annotated[int, Field(ge=1, le=1000)]
Offset = Annotated[int, Field(ge=0, le=2**53)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MemoryIn(Strict):
    model_config = showing({"text": "I prefer uv over pip", "type": "preference", "tags": ["python"]})

    text: str
    type: Type = "fact"
    tags: list[str] = []
    theme: str | None = None
    key: str | None = Field(None, description="A name: what is stored under it replaces what was.")
    value: Any = None
    role: str = "user"
    source: Origin = "user_stated"
    pinned: Switch = False
    manually_saved: Switch = False
    importance: Fraction | None = None
    confidence: Fraction = 1.0
    source_ids: list[str] = []
    source_conversation_id: str | None = None
    source_message_id: str | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    id: str | None = Field(None, description="An id of the caller's own; left out, one is made.")


class MemoryPatch(Strict):
    """Only what is sent is changed."""

    model_config = showing({"text": "The standup is at 10", "pinned": True})

    text: str | None = None
    type: Type | None = None
    tags: list[str] | None = None
    theme: str | None = None
    key: str | None = None
    value: Any = None
    pinned: Switch | None = None
    manually_saved: Switch | None = None
    importance: Fraction | None = None
    confidence: Fraction | None = None
    expires_at: datetime | None = None


class ReceiptOut(BaseModel):
    """`stored`; `superseded`: stored, and `replaces` is no longer current; or `merged`: it repeated `id`."""

    model_config = showing(RECEIPT)

    id: str
    outcome: Literal["stored", "merged", "superseded"]
    embedding: Literal["pending", "ready", "error", "off"]
    replaces: str | None
    repeat: str | None = Field(description="Of what was merged: the name of this telling, by which it can be undone.")
    conflicts: list[str] = Field(description="Memories that may not be true beside this one; they stay until resolved.")
    confirm: str | None = Field(description="With `conflicts`: the question to put to the person, in words.")
    masked: list[str] = Field(description="Kinds of private data that were blotted out before storing.")
    warnings: list[str] = Field(description="`injection`: it reads like instructions to a model.")


class ScoresOut(BaseModel):
    relevance: float
    recency: float
    importance: float
    total: float
    computed_at: datetime


class MemoryOut(BaseModel):
    model_config = showing(MEMORY)

    id: str
    text: str
    type: Type
    theme: str | None
    key: str | None
    value: Any
    role: str
    tags: list[str]
    source: Origin
    source_ids: list[str]
    source_conversation_id: str | None
    source_message_id: str | None
    confidence: float
    importance: float
    pinned: bool
    manually_saved: bool
    status: StatusName
    supersedes: str | None
    repeat_count: int
    access_count: int
    last_accessed: datetime | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


class ListedOut(MemoryOut):
    model_config = showing(LISTED)

    embedding: Literal["pending", "ready", "error", "off"]
    embedding_error: str | None = Field(description="Why there is no vector, where making one failed.")


class ListIn(Strict):
    """Which memories to list. `type`, `tag`, `theme` and `status` may be given several times."""

    limit: Limit = 50
    offset: Offset = 0
    type: list[Type] = []
    tag: list[str] = []
    theme: list[str] = []
    status: list[StatusName] = ["active"]
    pinned: bool | None = None
    manually_saved: bool | None = None
    since: datetime | None = None
    until: datetime | None = None


class PageOut(BaseModel):
    model_config = showing({"items": [LISTED], "total": 1, "limit": 50, "offset": 0})

    items: list[ListedOut]
    total: int
    limit: int
    offset: int


class SearchIn(Strict):
    model_config = showing({"query": "which package manager?", "limit": 5})

    query: str
    limit: Limit | None = Field(None, description="Left out, as many as the recipe says (10).")
    kinds: list[Literal["memory", "message"]] = Field(["memory", "message"], min_length=1)
    types: list[Type] = []
    tags: list[str] = []
    themes: list[str] = []
    sessions: list[str] = Field([], description="Only what was said in these sessions.")
    since: datetime | None = None
    until: datetime | None = None
    recipe: str = "native"
    min_relevance: Fraction | None = None
    token_budget: int | None = Field(None, ge=1, le=2**53)
    now: datetime | None = Field(None, description="When it is asked, for questions such as `yesterday`.")
    topic: str | None = Field(None, description="What the session is about at the moment.")
    typing: Switch = Field(False, description="Still being typed: the last word may be the beginning of a longer one.")
    looking: Switch = Field(False, description="Somebody only looks: what is found does not count as used.")
    history: list[str] = Field([], description="Earlier turns, oldest first; they complete a short follow-up.")


class ContextIn(SearchIn):
    model_config = showing({"query": "which package manager?", "token_budget": 400})

    token_budget: int | None = Field(1000, ge=1, le=2**53, description="The most tokens of the block.")
    withhold_suspicious: Switch = Field(False, description="Leave out what reads like instructions to a model.")


class HitOut(BaseModel):
    model_config = showing(HIT)

    kind: Literal["memory", "message"]
    id: str
    text: str
    type: str | None
    theme: str | None
    tags: list[str]
    role: str
    source: Origin | None
    pinned: bool | None
    session_id: str | None
    relevance: float
    score: float
    signals: dict[str, float]
    truncated: bool
    tokens: int | None = Field(description="Of its text, as it counts towards the budget; null without one.")
    created_at: datetime


class TraceOut(BaseModel):
    degraded: list[str] = Field(description="What had to be left out, such as `dense`, `memory_off` or `incognito`.")
    rate_limited: bool
    truncated: bool
    timings_ms: dict[str, float]


class RecallOut(TraceOut):
    model_config = showing(RECALL)

    hits: list[HitOut]
    recipe: str
    token_count: int


class ReferenceOut(BaseModel):
    reference: str
    kind: Literal["memory", "message"]
    id: str
    source_ids: list[str]
    truncated: bool
    suspicious: bool
    withheld: bool


class ContextOut(TraceOut):
    """A block for a prompt, delimited and escaped, and what each of its lines stands for. Empty when nothing matches."""

    model_config = showing(CONTEXT)

    text: str
    token_count: int
    references: list[ReferenceOut]


class IdsIn(Strict):
    model_config = showing({"ids": [MEMORY["id"]]})

    ids: list[str] = Field(min_length=1, max_length=1000)


class ConfirmIn(Strict):
    """Nothing goes without being named: say the name of what is to be emptied."""

    model_config = showing({"confirm": "default"})

    confirm: str


class ForgetOut(BaseModel):
    """What was removed, counted."""

    model_config = showing(FORGOTTEN)

    memories: int
    messages: int
    conversations: int
    derived: int
    index_entries: int
    vectors: int
    tombstones: int
    scrubbed: bool = Field(description="The store's files are free of it as well.")
    scrub_owed: bool = Field(default=False, description="They are not yet; a worker sees to it.")


class EmbeddingOut(BaseModel):
    state: Literal["pending", "ready", "error", "off"]
    generation: str | None
    attempts: int
    error: str | None
    updated_at: datetime | None


class UsedInOut(BaseModel):
    """A reply that was made with a memory."""

    session_id: str
    message_id: str
    text: str = Field(description="How the reply begins.")
    reference: str = Field(description="What the reply calls the memory by.")
    cited: bool = Field(description="The reply names it; otherwise it was only before the model.")
    at: datetime


class WhyOut(BaseModel):
    """Where a memory comes from, what it replaced, what came of it, and how it last fared."""

    model_config = showing(WHY)

    memory: MemoryOut
    message: MessageOut | None
    conversation: ConversationOut | None
    history: list[MemoryOut] = Field(description="What it replaced, newest first.")
    derived: list[MemoryOut] = Field(description="What names it as a source, or replaced it.")
    used_in: list[UsedInOut] = Field(description="The last replies of the chat that were made with it, newest first.")
    last_scores: ScoresOut | None
    embedding: EmbeddingOut


class ThemeOut(BaseModel):
    model_config = showing(THEME)

    slug: str
    display_name: str
    description: str | None
    count: int
    created_at: datetime
    updated_at: datetime


class ThemesOut(BaseModel):
    model_config = showing({"themes": [THEME]})

    themes: list[ThemeOut]
