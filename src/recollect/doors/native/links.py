"""What ties memories to each other, under /v1/memories: what can't both be true, and what was told more than once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from recollect.doors.http.asking import TheEngine, TheScope
from recollect.doors.native.translate import links as translate
from recollect.doors.native.translate.memories import memory_out
from recollect.doors.native.wire import links as wire
from recollect.doors.native.wire.memories import Limit, MemoryOut

router = APIRouter(prefix="/memories", tags=["memories"])


@router.get("/conflicts", summary="Pairs that may not both be true and wait for a word, newest first")
async def conflicts(engine: TheEngine, scope: TheScope, limit: Annotated[Limit, Query()] = 100) -> wire.ConflictsOut:
    return translate.conflicts_out(await engine.conflicts(scope, limit))


@router.post("/{id}/resolve", summary="Say which is true; answers with the memory that is kept")
async def resolve(id: str, sent: wire.ResolveIn, engine: TheEngine, scope: TheScope) -> MemoryOut:
    return memory_out(await engine.resolve_conflict(scope, id, sent.keep))


@router.get("/{id}/repeats", summary="Every telling of a memory, the first one first; none when it was told once")
async def repeats(id: str, engine: TheEngine, scope: TheScope) -> wire.RepeatsOut:
    return translate.repeats_out(await engine.repeats(scope, id))


@router.post("/{id}/repeats/{repeat_id}/undo", summary="Make a telling a memory of its own again", status_code=201)
async def undo(id: str, repeat_id: str, engine: TheEngine, scope: TheScope) -> MemoryOut:
    return memory_out(await engine.unmerge(scope, id, repeat_id))
