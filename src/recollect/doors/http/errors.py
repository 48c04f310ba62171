"""One error shape for every answer that isn't the one hoped for, and one table from our errors to status codes.

{"error": {"code": "not_found", "message": "…", "correlation_id": "…", "details": {…}}}
"""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from recollect.errors import RecollectError

logger = logging.getLogger("recollect.http")

_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type"}


def error_response(
    request: Request, status: int, code: str, message: str, details: dict[str, Any] | None = None
) -> JSONResponse:
    correlation_id = getattr(request.state, "correlation_id", None)
    body = {"code": code, "message": message, "correlation_id": correlation_id, "details": details or {}}
    return JSONResponse({"error": body}, status_code=status)


def install(app: FastAPI) -> None:
    app.add_exception_handler(RecollectError, _ours)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _malformed)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _http)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, _unexpected)


async def _ours(request: Request, error: RecollectError) -> JSONResponse:
    return error_response(request, error.status, error.code, error.message, dict(error.details))


async def _malformed(request: Request, error: RequestValidationError) -> JSONResponse:
    """Where the request is wrong and why; what was sent is not echoed."""
    problems = [{"at": ".".join(map(str, each["loc"])), "problem": each["msg"]} for each in error.errors()]
    return error_response(
        request, 422, "malformed", "the request does not have the expected form", {"problems": problems}
    )


async def _http(request: Request, error: HTTPException) -> JSONResponse:
    return error_response(request, error.status_code, _CODES.get(error.status_code, "http_error"), str(error.detail))


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    logger.error(
        "unexpected %s", type(error).__name__, extra={"correlation_id": getattr(request.state, "correlation_id", None)}
    )
    return error_response(
        request, 500, "broken", "something went wrong on our side; the correlation id finds it in the log"
    )
