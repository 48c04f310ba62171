"""What travels through the data chat door: the contract's request and response, field by field."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from recollect.doors.http.examples import shown

_SESSION = "0193c1a4-7a57-7ad8-9c70-0e7f8f4b5a11"
_CONVERSATION = {
    "conversation_id": _SESSION,
    "session_name": "Show me total sales by region for 2024",
    "message_count": 2,
    "created_at": "2026-11-13T10:00:00Z",
    "updated_at": "2026-11-13T10:30:00Z",
    "expires_at": "2026-11-20T10:00:00Z",
    "is_summarized": False,
}
_MESSAGE = {
    "message_id": "0193c1a4-8b10-7c11-8e02-3a6f0d1c2b3a",
    "created_at": "2026-11-13T10:00:00Z",
    "question": "Show me total sales by region for 2024",
    "answer": "North: 2.5M, South: 1.8M",
    "sql_query": "SELECT region, SUM(amount) FROM sales WHERE year = 2024 GROUP BY region",
    "query_explanation": "Adds up the sales of 2024 by region.",
    "tables_used": ["sales"],
    "execution_result": {"columns": ["region", "total"], "rows": [["North", 2.5], ["South", 1.8]], "row_count": 2},
}
_EXPORTED = {
    **_CONVERSATION,
    "summary_text": None,
    "messages": [_MESSAGE],
    "vdp_database_names": ["banking_db"],
    "vdp_tag_names": [],
}

SessionName = Field(None, max_length=500, description="What a new conversation is called; else its first question.")


class MemoryChatIn(BaseModel):
    """A question. What isn't about memory is passed on to whoever answers, where it is given."""

    model_config = shown(
        {"question": "What about 2023?", "session_id": _SESSION, "vdp_database_names": "banking_db"}, extra="forbid"
    )

    question: str = Field(min_length=1, description="What you want to know.")
    session_id: str | None = Field(
        None, min_length=1, max_length=255, description="The conversation to go on with; left out, a new one begins."
    )
    session_name: str | None = SessionName
    use_memory: bool = Field(True, description="False: nothing is read from memory for this question, nor kept of it.")
    max_history_messages: int | None = Field(
        None, ge=0, le=200, description="How many earlier questions, with their answers, are shown to the answerer."
    )
    semantic_search_k: int | None = Field(None, ge=0, le=50, description="How many similar questions are.")

    plot: bool = False
    plot_details: str = ""
    embeddings_provider: str | None = None
    embeddings_model: str | None = None
    vector_store_provider: str | None = None
    llm_provider: str | None = None
    llm_model: str | None = None
    llm_temperature: float | None = Field(None, allow_inf_nan=False)
    llm_max_tokens: int | None = None
    vdp_database_names: str | None = Field(None, description="With commas between.")
    vdp_tag_names: str | None = Field(None, description="With commas between.")
    use_views: str | None = None
    expand_set_views: bool | None = None
    custom_instructions: str | None = None
    markdown_response: bool | None = None
    vector_search_k: int = 5
    vector_search_sample_data_k: int = 3
    mode: Literal["default", "data", "metadata"] | None = None
    disclaimer: bool | None = None
    verbose: bool | None = None
    vql_execute_rows_limit: int | None = None
    llm_response_rows_limit: int | None = None


MEMORY_FIELDS = frozenset(
    {"question", "session_id", "session_name", "use_memory", "max_history_messages", "semantic_search_k"}
)


class ConversationMetadata(BaseModel):
    """All null where nothing is kept."""

    model_config = shown(_CONVERSATION)

    conversation_id: str | None = None
    session_name: str | None = None
    message_count: int = Field(0, ge=0, description="Questions that were asked in it, this one included.")
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = Field(None, description="When it is removed; null: never.")
    is_summarized: bool = False


class MemoryContextUsed(BaseModel):
    history_messages_count: int = Field(
        0, ge=0, description="Earlier questions of this conversation, with their answers."
    )
    similar_queries_count: int = Field(0, ge=0)
    context_tokens: int = Field(
        0, ge=0, description="Of what the answerer was given, in cl100k_base; 0 without memory."
    )
    context_truncated: bool = False
    degraded: list[str] = Field(default=[], description="Parts of the memory that could not be used.")


class MemoryChatOut(BaseModel):
    model_config = shown(
        {
            "answer": "The total sales by region for 2023 are: North: 2.2M, South: 1.5M",
            "answered": True,
            "sql_query": "SELECT region, SUM(amount) AS total FROM sales WHERE year = 2023 GROUP BY region",
            "query_explanation": "Adds up the sales of 2023 by region.",
            "tokens": {"input_tokens": 812, "output_tokens": 96, "total_tokens": 908},
            "execution_result": {"columns": ["region", "total"], "rows": [["North", 2.2]], "row_count": 1},
            "related_questions": ["Which region grew most since 2022?"],
            "tables_used": ["sales"],
            "raw_graph": "",
            "sql_execution_time": 0.012,
            "vector_store_search_time": 0.004,
            "llm_time": 1.31,
            "total_execution_time": 1.35,
            "conversation_metadata": _CONVERSATION,
            "memory_context_used": {
                "history_messages_count": 1,
                "similar_queries_count": 1,
                "context_tokens": 245,
                "context_truncated": False,
                "degraded": [],
            },
            "memory_retrieval_time": 0.008,
            "warnings": [],
        }
    )

    answer: str
    answered: bool = Field(description="False: the answerer can't, and says why in `answer`.")
    sql_query: str
    query_explanation: str
    tokens: dict[str, int]
    execution_result: dict[str, Any]
    related_questions: list[str]
    tables_used: list[str]
    raw_graph: str
    sql_execution_time: float
    vector_store_search_time: float
    llm_time: float
    total_execution_time: float
    conversation_metadata: ConversationMetadata
    memory_context_used: MemoryContextUsed
    memory_retrieval_time: float = Field(description="Seconds that reading and searching the memory took.")
    warnings: list[str]


class ConversationsOut(BaseModel):
    model_config = shown({"items": [_CONVERSATION], "total": 1, "limit": 50, "offset": 0})

    items: list[ConversationMetadata]
    total: int
    limit: int
    offset: int


class MessageOut(BaseModel):
    model_config = shown(_MESSAGE)

    message_id: str | None
    created_at: datetime | None
    question: str
    answer: str = Field(description="Empty where there is none.")
    sql_query: str | None
    query_explanation: str | None
    tables_used: list[str]
    execution_result: Any = Field(description="No more rows than are kept.")


class ConversationOut(ConversationMetadata):
    model_config = shown({**_CONVERSATION, "summary_text": None, "messages": [_MESSAGE]})

    summary_text: str | None = None
    messages: list[MessageOut] = []


class ExportedConversation(ConversationOut):
    model_config = shown(_EXPORTED)

    vdp_database_names: list[str] = []
    vdp_tag_names: list[str] = []


class ExportOut(BaseModel):
    model_config = shown(
        {
            "format": "recollect-datachat",
            "version": 1,
            "tenant": "default",
            "user_id": "ana",
            "space": "default",
            "exported_at": "2026-11-14T09:00:00Z",
            "conversations": [_EXPORTED],
        }
    )

    format: str
    version: int
    tenant: str
    user_id: str
    space: str
    exported_at: datetime
    conversations: list[ExportedConversation]


class EraseIn(BaseModel):
    model_config = shown({"confirm": "ana"}, extra="forbid")

    confirm: str = Field(description="Your user id, to show that it is meant.")


class ErasedOut(BaseModel):
    model_config = shown({"conversations": 2, "messages": 18, "vectors": 9, "scrubbed": True, "scrub_owed": False})

    conversations: int
    messages: int
    vectors: int
    scrubbed: bool = Field(description="The store's files are free of it as well.")
    scrub_owed: bool = Field(default=False, description="They are not yet; a worker sees to it.")
