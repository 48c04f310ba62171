"""POST /v1/recall: read-only retrieval that never stands in the way of the conversation it serves."""

from __future__ import annotations

from fastapi import APIRouter

from recollect.doors.http.asking import TheEngine, TheScope
from recollect.doors.recall import translate, wire
from recollect.errors import Broken, Unavailable

router = APIRouter(prefix="/v1", tags=["recall"])


@router.post("/recall", summary="What is remembered about a question")
async def recall(sent: wire.MemoryQueryRequest, engine: TheEngine, scope: TheScope) -> wire.MemoryQueryResponse:
    translate.check_own(sent, scope)
    try:
        return translate.answer_of(await engine.recall_softly(scope, translate.query_of(sent)))
    except (Unavailable, Broken):
        return translate.failed()
