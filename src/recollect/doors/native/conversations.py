"""/v1/conversations and /v1/uses: keep turns word for word, look at them, forget a conversation with all that came of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from recollect.doors.http.asking import TheEngine, TheScope, in_session
from recollect.doors.native.translate import conversations as translate
from recollect.doors.native.translate.memories import forget_out
from recollect.doors.native.wire import conversations as wire
from recollect.doors.native.wire.memories import ForgetOut, Limit, Offset

router = APIRouter(tags=["conversations"])


@router.get("/uses", summary="The memories that the replies of a conversation were made with")
async def uses(
    engine: TheEngine, scope: TheScope, session_id: Annotated[str, Query(min_length=1, max_length=255)]
) -> wire.UsesOut:
    return translate.uses_out(session_id, await engine.used(scope, session_id))


@router.get("/conversations", summary="List conversations, most recent first")
async def list_conversations(
    engine: TheEngine,
    scope: TheScope,
    limit: Annotated[Limit, Query()] = 50,
    offset: Annotated[Offset, Query()] = 0,
) -> wire.ConversationPage:
    return translate.page_out(await engine.conversations(scope, limit, offset))


@router.post("/conversations/{session_id:path}/messages", summary="Keep turns of a conversation", status_code=201)
async def add_messages(session_id: str, sent: wire.TurnsIn, engine: TheEngine, scope: TheScope) -> wire.TurnsOut:
    engine = in_session(engine, session_id)
    turns = translate.turns_of(sent, engine.occasion.correlation_id)
    return translate.turns_out(await engine.add_turns(scope, session_id, turns))


@router.get("/conversations/{session_id:path}", summary="A conversation and its last messages, oldest first")
async def get(
    session_id: str, engine: TheEngine, scope: TheScope, limit: Annotated[Limit, Query()] = 100
) -> wire.ConversationWithMessages:
    return translate.with_messages(*await engine.conversation(scope, session_id, limit))


@router.delete(
    "/conversations/{session_id:path}", summary="Forget a conversation and what was remembered from it alone"
)
async def forget(session_id: str, engine: TheEngine, scope: TheScope) -> ForgetOut:
    return forget_out(await engine.forget_conversation(scope, session_id))
