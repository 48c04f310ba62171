"""The description of the API: what every operation has in common is added here, once.

Each may answer with any of the errors of the table, in the one shape, and each says which login it needs. What a name means
wherever it is sent is said in `vocabulary`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from recollect.doors.http import correlation, vocabulary
from recollect.doors.http.asking import SESSION, SPACE
from recollect.doors.http.auth.caller import Identity
from recollect.model import MAX_ID_CHARS

ERRORS = {
    400: ("invalid_input", "What was asked can't be done as it stands."),
    401: ("unauthenticated", "Who is asking could not be established."),
    403: ("not_allowed", "Understood, and refused by a rule."),
    404: ("not_found", "Absent, forgotten or somebody else's: these look the same."),
    408: ("too_slow", "The body took too long to arrive."),
    409: ("conflict", "Right in itself, but not with what is stored."),
    413: ("too_large", "Over a size limit."),
    415: ("unsupported_media_type", "The body is not JSON."),
    422: ("malformed", "The request does not have the expected form."),
    429: ("rate_limited", "Too many requests; Retry-After says when to come back."),
    500: ("broken", "Something went wrong on our side."),
    501: ("unsupported", "This server can't do that."),
    503: ("unavailable", "A part we depend on is down, full or too slow."),
}
TAGS = {
    "memories": "What is remembered: add, find, change, forget.",
    "conversations": "What was said, turn by turn.",
    "account": "Everything of a person: take it along, look at the trail, have it erased.",
    "long-term memory": "The contract of assistants with working and long-term memory.",
    "companion": "The contract of companions: entries, pins, spaces, incognito.",
    "recall": "The contract of chats that only ask.",
    "chat": "A conversation with an assistant that remembers.",
    "data chat": "The contract of questions over data: what was asked before is known, as far as it may still be seen.",
    "agent tools": "The contract of agents: tools by their names, and what a prompt says of them.",
    "embedding provider": "Where embeddings come from: for administrators.",
    "health": "For whoever keeps the server running.",
}
HEADERS = {
    "Space": (SPACE, "Which of your spaces; without it, the usual one."),
    "Session": (SESSION, "The session this is asked in."),
    "Correlation": (correlation.HEADER, "What you call this request: it comes back, and is in log and audit."),
}
LOGIN = "login"
LEFT_OVER = ("HTTPValidationError", "ValidationError")


def describe(app: FastAPI, identity: Identity, open_paths: frozenset[str]) -> None:
    """Let the app describe itself with what is common to all operations."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            tags = [{"name": name, "description": text} for name, text in TAGS.items()]
            schema = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes, tags=tags
            )
            app.openapi_schema = completed(schema, identity.scheme, open_paths)
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def completed(schema: dict[str, Any], login: dict[str, Any] | None, open_paths: frozenset[str]) -> dict[str, Any]:
    components = schema.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in LEFT_OVER:
        schemas.pop(name, None)
    vocabulary.spell_out(schema)
    schemas["Error"] = _shape()
    components["parameters"] = {name: _header(*about) for name, about in HEADERS.items()}
    components["responses"] = {f"Error{status}": _response(status) for status in ERRORS}
    if login:
        components["securitySchemes"] = {LOGIN: login}
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            for status in ERRORS:
                operation["responses"][str(status)] = {"$ref": f"#/components/responses/Error{status}"}
            if path not in open_paths:
                operation["parameters"] = [*operation.get("parameters", []), *_references("parameters", HEADERS)]
                operation.update({"security": [{LOGIN: []}]} if login else {})
    return schema


def _references(kind: str, names: Iterable[str]) -> list[dict[str, str]]:
    return [{"$ref": f"#/components/{kind}/{name}"} for name in names]


def _header(name: str, meaning: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 128 if name == correlation.HEADER else MAX_ID_CHARS}
    return {"name": name, "in": "header", "required": False, "description": meaning, "schema": schema}


def _shape() -> dict[str, Any]:
    text = {"type": "string"}
    error = {
        "type": "object",
        "required": ["code", "message", "correlation_id", "details"],
        "properties": {
            "code": {**text, "description": "For machines: one of a few words."},
            "message": {**text, "description": "For people."},
            "correlation_id": {**text, "description": "Finds the request in the log."},
            "details": {"type": "object", "additionalProperties": True},
        },
    }
    return {"title": "Error", "type": "object", "required": ["error"], "properties": {"error": error}}


def _response(status: int) -> dict[str, Any]:
    code, meaning = ERRORS[status]
    example = {
        "error": {
            "code": code,
            "message": meaning,
            "correlation_id": "6f0c9c1e-7a57-4ad8-9c70-0e7f8f4b5a11",
            "details": {},
        }
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "example": example}}
    return {"description": meaning, "content": content}
