"""/memory/long-term and /memory/working: look, forget one, forget all; the state of a session that is going on."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from recollect.doors.http.asking import TheEngine, TheScope
from recollect.doors.longterm import translate, wire

router = APIRouter(prefix="/memory", tags=["long-term memory"])


@router.get("/long-term", summary="List long-term memories, newest first")
async def list_long_term(
    engine: TheEngine, scope: TheScope, paging: Annotated[wire.Paging, Query()]
) -> wire.LongTermPage:
    return translate.page_out(await engine.list(scope, translate.listing_of(paging)))


@router.get("/long-term/{id}", summary="One long-term memory")
async def get_long_term(id: str, engine: TheEngine, scope: TheScope) -> wire.LongTermMemory:
    return translate.memory_out(await engine.get(scope, id))


@router.delete("/long-term/{id}", summary="Delete one memory, for good")
async def delete_long_term(id: str, engine: TheEngine, scope: TheScope) -> wire.Deleted:
    await engine.forget(scope, [id])
    return wire.Deleted(id=id)


@router.delete("/long-term", summary="Delete all memories; sessions and conversations stay")
async def clear_long_term(engine: TheEngine, scope: TheScope) -> wire.Cleared:
    return translate.cleared_out(await engine.clear(scope))


@router.get("/working/{session_id:path}", summary="The working memory of a session that is going on")
async def working(session_id: str, engine: TheEngine, scope: TheScope) -> wire.WorkingMemory:
    return translate.working_out(await engine.working(scope, session_id))
