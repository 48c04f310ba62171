"""/v1/me, /v1/spaces, /v1/audit, /v1/export, /v1/import: what belongs to the caller, to see, take along and erase."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from recollect.doors.http.asking import TheCaller, TheEngine, TheScope
from recollect.doors.native.erasing import MEDIA_TYPE, told_as_it_goes
from recollect.doors.native.translate import account as translate
from recollect.doors.native.translate.memories import check_confirmed, forget_out
from recollect.doors.native.wire import account as wire
from recollect.doors.native.wire.examples import EXPORT
from recollect.doors.native.wire.memories import ForgetOut, Limit, Offset
from recollect.engine import Engine
from recollect.model import Scope

router = APIRouter(tags=["account"])
LINES = "application/x-ndjson"
WRITTEN = {"content": {LINES: {"schema": {"type": "string"}, "example": EXPORT}}}
OneSpace = Annotated[str | None, Query(alias="space", description="Only this space.")]
OneTalk = Annotated[
    str | None, Query(description="Only this conversation of one space, with what is remembered from it.")
]
NAMED = {"Content-Disposition": 'attachment; filename="recollect.jsonl"'}


@router.get("/me", summary="Who am I, and where do I keep anything?")
async def me(caller: TheCaller, engine: TheEngine) -> wire.MeOut:
    scope = caller.scope
    spaces = await engine.spaces(scope.tenant, scope.user)
    return translate.me_out(scope, caller.role, spaces, engine.config.write_mode)


@router.get("/health", summary="The state of this space's memory: duplicates, contradictions, what is stale or unused")
async def health(engine: TheEngine, scope: TheScope) -> wire.HealthOut:
    return translate.health_out(await engine.health(scope))


@router.delete(
    "/me",
    summary="Erase everything of mine, in every space, settings and audit trail included",
    response_model=ForgetOut,
    responses={200: {"description": "The receipt; with `Accept: text/event-stream`, what went so far before it."}},
)
async def erase(
    sent: wire.EraseIn, engine: TheEngine, scope: TheScope, accept: Annotated[str, Header(include_in_schema=False)] = ""
) -> ForgetOut | Response:
    check_confirmed(sent.confirm, scope.user, "user")
    if MEDIA_TYPE in accept:
        return told_as_it_goes(engine, scope)
    return forget_out(await engine.erase_user(scope.tenant, scope.user))


@router.get("/spaces", summary="The spaces in which anything is kept")
async def spaces(engine: TheEngine, scope: TheScope) -> wire.SpacesOut:
    return wire.SpacesOut(spaces=list(await engine.spaces(scope.tenant, scope.user)))


@router.get("/spaces/{name:path}/settings", summary="What is set for a space")
async def settings(name: str, engine: TheEngine, scope: TheScope) -> wire.SettingsOut:
    there = scope.within(name)
    return translate.settings_out(there, await engine.space_settings(there))


@router.patch("/spaces/{name:path}/settings", summary="Change what is set for a space")
async def change_settings(name: str, sent: wire.SettingsPatch, engine: TheEngine, scope: TheScope) -> wire.SettingsOut:
    there = scope.within(name)
    return translate.settings_out(there, await engine.change_settings(there, translate.changes_of(sent)))


@router.get("/audit", summary="What was done with my memory, newest first")
async def audit(
    engine: TheEngine,
    scope: TheScope,
    limit: Annotated[Limit, Query()] = 50,
    offset: Annotated[Offset, Query()] = 0,
) -> wire.AuditPage:
    return translate.audit_out(await engine.audit_trail(scope, limit, offset))


@router.get(
    "/export",
    summary="Everything of mine as JSON lines; each space begins with a header",
    response_class=StreamingResponse,
    responses={200: {"description": "One JSON object a line.", **WRITTEN}},
)
async def export(
    engine: TheEngine, scope: TheScope, space: OneSpace = None, session_id: OneTalk = None
) -> StreamingResponse:
    kept = await engine.spaces(scope.tenant, scope.user)  # a store that is down says so before the stream begins
    if session_id is not None:
        await engine.conversation(
            scope.within(space or scope.space), session_id, 1
        )  # and so does a talk that isn't there
    spaces = kept if space is None and session_id is None else [space or scope.space]
    lines = _lines(engine, [scope.within(each) for each in spaces], session_id)
    return StreamingResponse(lines, media_type=LINES, headers=NAMED)


async def _lines(engine: Engine, scopes: list[Scope], session_id: str | None) -> AsyncIterator[bytes]:
    for scope in scopes:
        async for line in engine.export(scope, session_id):
            yield translate.line_out(line)


@router.post(
    "/import",
    summary="Take back what an export gave; what is there already is left alone",
    openapi_extra={"requestBody": {"required": True, **WRITTEN}},
)
async def import_lines(request: Request, engine: TheEngine, scope: TheScope, space: OneSpace = None) -> wire.ImportOut:
    # A million lines take seconds to read, and others are waiting.
    parts = await asyncio.to_thread(translate.parts_of, await request.body(), scope, space)
    return translate.import_out([(there, await engine.import_lines(there, lines)) for there, lines in parts])
