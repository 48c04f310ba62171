"""POST /v1/chat: one turn of a conversation, whole or as it comes."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from recollect.doors.chat import translate, wire
from recollect.doors.chat.stream import MEDIA_TYPE, EventStream
from recollect.doors.http.asking import TheEngine, TheScope, in_session

router = APIRouter(prefix="/v1", tags=["chat"])
AS_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {MEDIA_TYPE: {"schema": wire.EVENT, "example": wire.EVENTS}}}
}


@router.post("/chat", summary="Say something and get a reply", response_model=wire.ChatOut, responses=AS_EVENTS)
async def chat(sent: wire.ChatIn, request: Request, engine: TheEngine, scope: TheScope) -> Any:
    asked = in_session(engine, sent.session_id)
    talk = await asked.converse(scope, sent.message, session_id=sent.session_id, message_id=sent.message_id)
    if translate.wants_events(sent, request.headers.get("accept", "")):
        return EventStream(talk)
    return translate.reply_out(await talk.whole())
