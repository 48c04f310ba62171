"""One error shape for every answer that isn't the one hoped for, and one table from our errors to status codes.

{"error": {"code": "not_found", "message": "…", "correlation_id": "…", "details": {…}}}

Nothing that was sent comes back in it, and nothing of why a login failed: that is in the log, under the correlation id.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from recollect.doors.http import correlation
from recollect.errors import RateLimited, RecollectError, Unauthenticated

logger = logging.getLogger("recollect.http")

NOBODY = "who is asking could not be established: send valid credentials"
CODES = {
    400: "invalid_input",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "unsupported_media_type",
}
MOST_PROBLEMS = 20
LONGEST_NAME = 64
QUOTING = frozenset({"union_tag_invalid"})


def error_response(
    status: int,
    code: str,
    message: str,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    error = {
        "code": code,
        "message": message,
        "correlation_id": correlation.current.get(),
        "details": dict(details or {}),
    }
    # ASCII on the wire: whatever a message quotes, broken Unicode included, can be sent.
    body = json.dumps({"error": error}, default=str)
    return Response(body, status, headers=dict(headers or {}), media_type="application/json")


def answer_to(error: RecollectError, challenge: str = 'Bearer realm="recollect"') -> Response:
    """What the client is told about an error of ours."""
    if isinstance(error, Unauthenticated):
        logger.info("not let in: %s", error.message)
        return error_response(401, error.code, NOBODY, headers={"WWW-Authenticate": challenge})
    headers = {}
    if isinstance(error, RateLimited) or "retry_after_s" in error.details:
        headers["Retry-After"] = str(max(1, round(float(error.details.get("retry_after_s", 60)))))
    if error.status >= 500:
        logger.warning("answered %s: %s", error.status, error.code)
    return error_response(error.status, error.code, error.message, error.details, headers)


def install(app: FastAPI) -> None:
    app.add_exception_handler(RecollectError, _ours)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _malformed)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _http)  # type: ignore[arg-type]


async def _ours(request: Request, error: RecollectError) -> Response:
    return answer_to(error, request.app.state.identity.challenge)


async def _malformed(request: Request, error: RequestValidationError) -> Response:
    """Where the request is wrong and why; what was sent is not echoed."""
    found = error.errors()
    problems = [{"at": _place(each["loc"]), "problem": _why(each)} for each in found[:MOST_PROBLEMS]]
    return error_response(422, "malformed", "the request does not have the expected form", {"problems": problems})


def _place(location: Sequence[int | str]) -> str:
    """Names of fields are the client's own words where we know no such field: only what looks like a name is repeated."""
    return ".".join(
        str(each) if isinstance(each, int) or (each.isidentifier() and len(each) <= LONGEST_NAME) else "?"
        for each in location
    )


def _why(problem: Mapping[str, Any]) -> str:
    """What the validator says, except where it quotes what was sent."""
    return "none of the kinds that are expected here" if problem["type"] in QUOTING else str(problem["msg"])


async def _http(request: Request, error: HTTPException) -> Response:
    """What the framework refuses by itself. Its words are its own, except where a door gave some."""
    status = error.status_code
    said = error.detail if isinstance(error.detail, str) else HTTPStatus(status).phrase
    return error_response(status, CODES.get(status, "http_error"), said, headers=error.headers)
