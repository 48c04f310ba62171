"""POST /memoryChat: a question over data; and what was asked before, to look at, take along and delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query

from recollect.doors.datachat import translate, wire
from recollect.doors.http.asking import TheCaller, TheEngine, in_session

router = APIRouter(prefix="/memoryChat", tags=["data chat"])
Authorization = Annotated[str | None, Header(include_in_schema=False)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=1_000_000)]


@router.post("", summary="Ask something of the data; follow-up questions are understood")
async def memory_chat(
    sent: wire.MemoryChatIn, engine: TheEngine, caller: TheCaller, authorization: Authorization = None
) -> wire.MemoryChatOut:
    asked = translate.asked_of(sent, caller, authorization)
    return translate.reply_out(await in_session(engine, sent.session_id).ask_data(caller.scope, asked))


@router.get("/conversations", summary="What was asked lately, as far as you may still see it")
async def conversations(
    engine: TheEngine, caller: TheCaller, limit: Limit = 50, offset: Offset = 0, authorization: Authorization = None
) -> wire.ConversationsOut:
    looker = translate.looker(caller, authorization)
    return translate.page_out(await engine.data_conversations(caller.scope, looker, limit, offset))


@router.get("/conversations/{session_id}", summary="One conversation, question by question")
async def conversation(
    session_id: str, engine: TheEngine, caller: TheCaller, authorization: Authorization = None
) -> wire.ConversationOut:
    looker = translate.looker(caller, authorization)
    return translate.conversation_out(await engine.data_conversation(caller.scope, looker, session_id))


@router.delete("/conversations/{session_id}", summary="Delete a conversation")
async def forget(session_id: str, engine: TheEngine, caller: TheCaller) -> wire.ErasedOut:
    return translate.erased_out(await engine.forget_data_conversation(caller.scope, session_id))


@router.get("/export", summary="Everything you asked and may still see, as one object")
async def export(engine: TheEngine, caller: TheCaller, authorization: Authorization = None) -> wire.ExportOut:
    taken = await engine.export_data(caller.scope, translate.looker(caller, authorization))
    return wire.ExportOut.model_validate(taken)


@router.delete("/memory", summary="Delete everything you ever asked here")
async def erase(sent: wire.EraseIn, engine: TheEngine, caller: TheCaller) -> wire.ErasedOut:
    translate.check_confirmed(sent.confirm, caller.scope.user)
    return translate.erased_out(await engine.erase_data(caller.scope))
