"""/v1/memory: see, add, pin, restore and forget entries; switch memory off; be incognito."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from recollect.doors.companion import translate, wire
from recollect.doors.companion.searching import embeddings_of, surveyed, wherever
from recollect.doors.http.asking import TheEngine, TheScope, in_session
from recollect.doors.http.receipts import taken
from recollect.errors import InvalidInput

router = APIRouter(prefix="/v1/memory", tags=["companion"])
WhichSpace = Annotated[wire.InSpace, Query()]


@router.get("/summary", summary="What is remembered here, in a few sentences")
async def summary(engine: TheEngine, scope: TheScope, where: WhichSpace) -> wire.Summary:
    survey = await surveyed(engine, translate.within(scope, where.space))
    return translate.summary_out(survey, await embeddings_of(engine, survey.scope, survey.pinned))


@router.get("/entries", summary="List entries, newest first")
async def list_entries(
    engine: TheEngine, scope: TheScope, wanted: Annotated[wire.EntryFilter, Query()]
) -> wire.Entries:
    there = translate.within(scope, wanted.space)
    page = await engine.list(there, translate.listing_of(wanted))
    return translate.entries_out(there, page, await embeddings_of(engine, there, page.items))


@router.post(
    "/entries",
    summary="Save an entry",
    status_code=201,
    responses={200: {"model": wire.SavedEntry, "description": "It was known already, and is now more important."}},
)
async def add_entry(sent: wire.EntryIn, engine: TheEngine, scope: TheScope, response: Response) -> wire.SavedEntry:
    there = translate.within(scope, sent.space)
    engine = in_session(engine, sent.session_id)
    receipt = await engine.remember(there, translate.fields_of(sent))
    memory = await engine.get(there, taken(receipt))
    response.status_code = 200 if receipt.outcome == "merged" else 201
    return translate.saved_out(there, memory, await embeddings_of(engine, there, [memory]), receipt)


@router.post("/entries/{id}/pin", summary="Pin an entry: it is never trimmed or aged away")
async def pin(id: str, engine: TheEngine, scope: TheScope, where: WhichSpace) -> wire.Entry:
    return await _pinned(id, True, engine, scope, where)


@router.delete("/entries/{id}/pin", summary="Unpin an entry")
async def unpin(id: str, engine: TheEngine, scope: TheScope, where: WhichSpace) -> wire.Entry:
    return await _pinned(id, False, engine, scope, where)


async def _pinned(id: str, pinned: bool, engine: TheEngine, scope: TheScope, where: wire.InSpace) -> wire.Entry:
    there, _ = await wherever(engine, scope, where.space, lambda each: engine.get(each, id))
    memory = await engine.revise(there, id, {"pinned": pinned})
    return translate.entry_out(there, memory, await embeddings_of(engine, there, [memory]))


@router.post("/entries/{id}/restore", summary="Bring an archived entry back; it counts as saved by hand from now on")
async def restore(id: str, engine: TheEngine, scope: TheScope, where: WhichSpace) -> wire.Entry:
    there, _ = await wherever(engine, scope, where.space, lambda each: engine.get(each, id))
    memory = await engine.restore(there, id)
    return translate.entry_out(there, memory, await embeddings_of(engine, there, [memory]))


@router.delete("/entries/{id}", summary="Forget an entry, for good; it can't come back for a day")
async def forget(id: str, engine: TheEngine, scope: TheScope, where: WhichSpace) -> wire.Forgotten:
    before = engine.clock.now()
    _, receipt = await wherever(engine, scope, where.space, lambda each: engine.forget(each, [id]))
    return wire.Forgotten(id=id, tombstone_until=before + engine.config.tombstone if receipt.tombstones else None)


@router.get("/settings", summary="What is set for a space")
async def settings(engine: TheEngine, scope: TheScope, where: WhichSpace) -> wire.Settings:
    there = translate.within(scope, where.space)
    return translate.settings_out(there, await engine.space_settings(there))


@router.post("/settings", summary="Switch memory on or off for a space, or make incognito its default")
async def change_settings(sent: wire.SettingsIn, engine: TheEngine, scope: TheScope) -> wire.Settings:
    there = translate.within(scope, sent.space)
    return translate.settings_out(there, await engine.change_settings(there, translate.changes_of(sent)))


@router.post("/incognito/start", summary="From now on this session leaves no trace and sees none")
async def start_incognito(engine: TheEngine, scope: TheScope, sent: wire.IncognitoIn | None = None) -> wire.Incognito:
    sent = sent or wire.IncognitoIn()
    there = translate.within(scope, sent.space)
    session = await engine.start_incognito(there, sent.session_id or engine.occasion.session_id)
    return wire.Incognito(session_id=session, space=there.space, incognito=True)


@router.post("/incognito/end", summary="This session is an ordinary one again")
async def end_incognito(engine: TheEngine, scope: TheScope, sent: wire.IncognitoIn | None = None) -> wire.Incognito:
    sent = sent or wire.IncognitoIn()
    there = translate.within(scope, sent.space)
    session = sent.session_id or engine.occasion.session_id
    if session is None:
        raise InvalidInput("say which session ends: session_id, or the header X-Session-ID")
    await engine.end_incognito(there, session)
    return wire.Incognito(session_id=session, space=there.space, incognito=False)
