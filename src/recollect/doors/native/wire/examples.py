"""What each thing looks like on the wire: shown in the API's own description, and held true by a test."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

from recollect.doors.http.examples import shown


def showing(example: dict[str, Any]) -> ConfigDict:
    """A model that takes nothing it doesn't know, and says what it looks like."""
    return shown(example, extra="forbid")


_AT = "2026-03-02T09:30:00Z"
_ID = "01JC5M3V6Q0000000000000000"

MEMORY: dict[str, Any] = {
    "id": _ID,
    "text": "I prefer uv over pip",
    "type": "preference",
    "theme": "tools",
    "key": None,
    "value": None,
    "role": "user",
    "tags": ["python"],
    "source": "user_stated",
    "source_ids": [],
    "source_conversation_id": None,
    "source_message_id": None,
    "confidence": 1.0,
    "importance": 0.5,
    "pinned": False,
    "manually_saved": False,
    "status": "active",
    "supersedes": None,
    "repeat_count": 0,
    "access_count": 3,
    "last_accessed": _AT,
    "created_at": _AT,
    "updated_at": _AT,
    "expires_at": None,
}
LISTED: dict[str, Any] = MEMORY | {"embedding": "ready", "embedding_error": None}
RECEIPT: dict[str, Any] = {
    "id": _ID,
    "outcome": "stored",
    "embedding": "pending",
    "replaces": None,
    "repeat": None,
    "conflicts": ["01JC5M3V6P0000000000000000"],
    "confirm": "Earlier I was told: “I prefer pip”. Does “I prefer uv over pip” replace that, or are both true?",
    "masked": [],
    "warnings": [],
}
HEALTH: dict[str, Any] = {
    "space": "default",
    "memories": 12,
    "counts": {"never_used": 1},
    "findings": [
        {
            "concern": "never_used",
            "ids": [_ID],
            "why": "never used in 90 days",
            "reason": "never",
            "facts": {"days": 90},
        }
    ],
}
CONFLICT: dict[str, Any] = {
    "later": MEMORY,
    "earlier": MEMORY | {"id": "01JC5M3V6P0000000000000000", "text": "I prefer pip"},
}
REPEATS: list[dict[str, Any]] = [
    {"id": _ID, "text": "I prefer uv over pip", "first": True, "source_message_id": None, "at": _AT},
    {
        "id": "01JC5M3V6S0000000000000000",
        "text": "i prefer uv over  pip",
        "first": False,
        "source_message_id": None,
        "at": "2026-03-04T11:00:00Z",
    },
]
HIT: dict[str, Any] = {
    "kind": "memory",
    "id": _ID,
    "text": "I prefer uv over pip",
    "type": "preference",
    "theme": "tools",
    "tags": ["python"],
    "role": "user",
    "source": "user_stated",
    "pinned": False,
    "session_id": None,
    "relevance": 0.83,
    "score": 1.42,
    "signals": {"cosine": 0.61, "coverage": 0.5},
    "truncated": False,
    "tokens": None,
    "created_at": _AT,
}
_TRACE: dict[str, Any] = {
    "degraded": [],
    "rate_limited": False,
    "truncated": False,
    "timings_ms": {"embed": 3.1, "store": 1.2, "total": 4.4},
}
RECALL: dict[str, Any] = {"hits": [HIT], "recipe": "native", "token_count": 0, **_TRACE}
CONTEXT: dict[str, Any] = {
    "text": "<memory>…</memory>",
    "token_count": 61,
    "references": [
        {
            "reference": "m1",
            "kind": "memory",
            "id": _ID,
            "source_ids": [],
            "truncated": False,
            "suspicious": False,
            "withheld": False,
        }
    ],
    **_TRACE,
}
FORGOTTEN: dict[str, Any] = {
    "memories": 1,
    "messages": 0,
    "conversations": 0,
    "derived": 0,
    "index_entries": 1,
    "vectors": 1,
    "tombstones": 1,
    "scrubbed": True,
    "scrub_owed": False,
}
MESSAGE: dict[str, Any] = {
    "id": "01JC5M3V6R0000000000000000",
    "session_id": "monday",
    "order": 0,
    "role": "user",
    "content": "Which package manager?",
    "name": None,
    "correlation_id": None,
    "created_at": _AT,
    "dated": True,
    "sql_query": None,
    "query_explanation": None,
    "tables_used": [],
    "execution_result": None,
    "tokens": {},
    "execution_time_ms": None,
    "partial": False,
}
CONVERSATION: dict[str, Any] = {
    "id": "monday",
    "title": "Which package manager?",
    "created_at": _AT,
    "updated_at": _AT,
    "expires_at": None,
    "message_count": 1,
    "is_summarized": False,
    "summary": None,
    "databases": [],
    "database_tags": [],
}
USED: dict[str, Any] = {
    "message_id": "01JC5M3V6R0000000000000000",
    "id": _ID,
    "text": "I prefer uv over pip",
    "reference": "m1",
    "cited": True,
    "at": _AT,
}
WHY: dict[str, Any] = {
    "memory": MEMORY,
    "message": MESSAGE,
    "conversation": CONVERSATION,
    "history": [],
    "derived": [],
    "used_in": [
        {
            "session_id": "monday",
            "message_id": "01JC5M3V6R0000000000000000",
            "text": "uv, as you like it [m1].",
            "reference": "m1",
            "cited": True,
            "at": _AT,
        }
    ],
    "last_scores": {"relevance": 0.83, "recency": 0.9, "importance": 0.5, "total": 2.23, "computed_at": _AT},
    "embedding": {
        "state": "ready",
        "generation": "3f2a",
        "attempts": 1,
        "error": None,
        "updated_at": _AT,
    },
}
THEME: dict[str, Any] = {
    "slug": "tools",
    "display_name": "Tools",
    "description": None,
    "count": 4,
    "created_at": _AT,
    "updated_at": _AT,
}
SETTINGS: dict[str, Any] = {
    "space": "default",
    "memory_enabled": True,
    "incognito_default": False,
    "soft_cap": 200,
    "retention_days": None,
    "shared_tags": [],
}
AUDIT: dict[str, Any] = {
    "id": _ID,
    "at": _AT,
    "action": "memory.stored",
    "target_kind": "memory",
    "target_id": _ID,
    "correlation_id": "5f0c",
    "facts": {},
}
EXPORT = (
    '{"kind": "header", "format": "recollect-export", "version": 2, "tenant": "default", "user": "ana", '
    '"space": "default"}\n{"kind": "memory", "id": "' + _ID + '", "content": "I prefer uv over pip", …}\n'
)
