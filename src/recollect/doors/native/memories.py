"""/v1/memories and /v1/themes: add, list, search, put into a prompt, look at, explain, change, pin, archive, forget."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from recollect.doors.http.asking import TheEngine, TheScope
from recollect.doors.http.receipts import taken
from recollect.doors.native.translate import memories as translate
from recollect.doors.native.wire import memories as wire
from recollect.model import Target
from recollect.policy.render import context_block

router = APIRouter(tags=["memories"])
Said = Annotated[bool, Query(description="Also the message it was told in, and every one that tells it again.")]
MERGED: dict[int | str, dict[str, Any]] = {
    200: {"model": wire.ReceiptOut, "description": "Nothing new: it was known already, and has been strengthened."}
}


@router.post("/memories", summary="Remember something", status_code=201, responses=MERGED)
async def add(sent: wire.MemoryIn, engine: TheEngine, scope: TheScope, response: Response) -> wire.ReceiptOut:
    receipt = await engine.remember(scope, translate.fields_of(sent))
    response.status_code = 200 if receipt.outcome == "merged" else 201
    return translate.receipt_out(taken(receipt), receipt)


@router.get("/memories", summary="List memories, newest first")
async def list_memories(engine: TheEngine, scope: TheScope, wanted: Annotated[wire.ListIn, Query()]) -> wire.PageOut:
    page = await engine.list(scope, translate.listing_of(wanted))
    return translate.page_out(page, await engine.embedding_status(scope, [Target("memory", each.id) for each in page]))


@router.post("/memories/search", summary="Find what belongs to a question")
async def search(sent: wire.SearchIn, engine: TheEngine, scope: TheScope) -> wire.RecallOut:
    recall = await engine.recall(scope, translate.query_of(sent, token_budget=sent.token_budget))
    if sent.looking:
        engine.passed_over(scope, recall.hits, ())
    return translate.recall_out(recall)


@router.post("/memories/context", summary="What belongs to a question, as a block for a prompt")
async def context(sent: wire.ContextIn, engine: TheEngine, scope: TheScope) -> wire.ContextOut:
    recall = await engine.recall(scope, translate.query_of(sent))
    budget = sent.token_budget or 1000
    # Long texts take a while to count and to write out, and others are waiting.
    block = await asyncio.to_thread(
        context_block, recall.hits, budget, query=sent.query, withhold_suspicious=sent.withhold_suspicious
    )
    engine.passed_over(scope, recall.hits, () if sent.looking else block.used)
    return translate.context_out(block, recall.trace)


@router.post("/memories/forget", summary="Forget several memories, for good: all of them, or none if one is unknown")
async def forget_several(sent: wire.IdsIn, engine: TheEngine, scope: TheScope) -> wire.ForgetOut:
    return translate.forget_out(await engine.forget(scope, sent.ids))


@router.post("/memories/clear", summary="Forget every memory of this space; conversations stay")
async def clear(sent: wire.ConfirmIn, engine: TheEngine, scope: TheScope) -> wire.ForgetOut:
    translate.check_confirmed(sent.confirm, scope.space, "space")
    return translate.forget_out(await engine.clear(scope))


@router.get("/memories/{id}", summary="One memory")
async def get(id: str, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    return translate.memory_out(await engine.get(scope, id))


@router.get("/memories/{id}/why", summary="Why is this known? Provenance, history, last scores, embedding state")
async def why(id: str, engine: TheEngine, scope: TheScope) -> wire.WhyOut:
    return translate.why_out(await engine.why(scope, id))


@router.patch("/memories/{id}", summary="Change a memory")
async def change(id: str, sent: wire.MemoryPatch, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    return translate.memory_out(await engine.revise(scope, id, translate.fields_of(sent)))


@router.post("/memories/{id}/pin", summary="Pin a memory: it is never trimmed or aged away")
async def pin(id: str, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    return translate.memory_out(await engine.revise(scope, id, {"pinned": True}))


@router.delete("/memories/{id}/pin", summary="Unpin a memory")
async def unpin(id: str, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    return translate.memory_out(await engine.revise(scope, id, {"pinned": False}))


@router.post("/memories/{id}/archive", summary="Take a memory out of recall; it can be looked at and restored")
async def archive(id: str, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    (archived,) = await engine.archive(scope, [id])
    return translate.memory_out(archived)


@router.post("/memories/{id}/restore", summary="Bring an archived memory back into recall, for good")
async def restore(id: str, engine: TheEngine, scope: TheScope) -> wire.MemoryOut:
    return translate.memory_out(await engine.restore(scope, id))


@router.delete("/memories/{id}", summary="Forget a memory, for good; with `said`, the messages that say it, too")
async def forget(id: str, engine: TheEngine, scope: TheScope, said: Said = False) -> wire.ForgetOut:
    return translate.forget_out(await engine.unsay(scope, id) if said else await engine.forget(scope, [id]))


@router.get("/themes", summary="The themes in use, largest first")
async def themes(engine: TheEngine, scope: TheScope) -> wire.ThemesOut:
    return translate.themes_out(await engine.themes(scope))
