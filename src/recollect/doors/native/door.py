"""/v1/memories: add, list, get, change, forget, search."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from recollect.doors.http.app import engine_of, scope_of
from recollect.doors.native import translate, wire
from recollect.engine import Engine
from recollect.engine.drafts import checked_choice
from recollect.model import Listing, MemoryType, Scope, Status

router = APIRouter(prefix="/v1/memories", tags=["memories"])
TheEngine = Annotated[Engine, Depends(engine_of)]
TheScope = Annotated[Scope, Depends(scope_of)]


@router.post("", summary="Remember something", status_code=201)
async def add(sent: wire.MemoryIn, request: Request, engine: TheEngine, scope: TheScope) -> wire.ReceiptOut:
    receipt = await engine.remember(scope, translate.fields_of(sent))
    return translate.receipt_out(receipt)


@router.get("", summary="List memories, newest first")
async def list_memories(
    engine: TheEngine,
    scope: TheScope,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    type: Annotated[list[str], Query()] = [],  # noqa: B006 -- FastAPI reads the default, nobody changes it
    tag: Annotated[list[str], Query()] = [],  # noqa: B006
    status: str = "active",
    pinned: bool | None = None,
) -> wire.PageOut:
    listing = Listing(
        types=tuple(checked_choice(each, MemoryType, "type") for each in type),
        tags=tuple(tag),
        statuses=(checked_choice(status, Status, "status"),),
        pinned=pinned,
        limit=limit,
        offset=offset,
    )
    return translate.page_out(await engine.list(scope, listing))


@router.post("/search", summary="Find what belongs to a question")
async def search(sent: wire.SearchIn, engine: TheEngine, scope: TheScope) -> wire.RecallOut:
    return translate.recall_out(await engine.recall(scope, translate.query_of(sent)))


@router.get("/{id}", summary="One memory")
async def get(id: str, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    return translate.memory_out(await engine.get(scope, id))


@router.patch("/{id}", summary="Change a memory")
async def change(id: str, sent: wire.MemoryPatch, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    return translate.memory_out(await engine.revise(scope, id, translate.fields_of(sent)))


@router.delete("/{id}", summary="Forget a memory, for good")
async def forget(id: str, engine: TheEngine, scope: TheScope) -> wire.ForgetOut:
    return translate.forget_out(await engine.forget(scope, [id]))
