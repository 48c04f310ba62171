"""A small app in the frame: a door that does what tests need, over an engine on SQLite in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel

from recollect.bootstrap import open_engine
from recollect.doors.http.app import Manners, Opening, create_app
from recollect.doors.http.asking import TheAdmin, TheCaller, TheEngine, TheScope, in_session
from recollect.doors.http.auth.caller import Identity
from recollect.doors.http.auth.local import Local
from recollect.engine import Engine
from recollect.errors import Conflict, Unauthenticated
from recollect.model import Query, Scope
from recollect.settings import Settings

SECRET_WORD = "xylophone-canary"
door = APIRouter(prefix="/door")
page = APIRouter(include_in_schema=False)


class Sent(BaseModel):
    word: str
    count: int = 1


@door.post("/echo")
async def echo(sent: Sent) -> dict[str, Any]:
    return {"length": len(sent.word)}


@door.get("/who/{anything}")
async def who(anything: str, caller: TheCaller, scope: TheScope, engine: TheEngine) -> dict[str, Any]:
    on = engine.occasion
    return {
        "user": scope.user,
        "space": scope.space,
        "role": caller.role,
        "actor": on.actor,
        "session": on.session_id,
        "correlation": on.correlation_id,
    }


@door.get("/session")
async def session(engine: TheEngine, id: str | None = None) -> str | None:
    return in_session(engine, id).occasion.session_id


@door.get("/reserved")
async def reserved(caller: TheAdmin) -> str:
    return caller.role


@door.get("/bug")
async def bug() -> None:
    raise ValueError(f"somebody stored {SECRET_WORD}")


@door.get("/conflict")
async def conflict() -> None:
    raise Conflict("that is there already", until="tomorrow")


@door.get("/stranger")
async def stranger() -> None:
    raise Unauthenticated(f"because of {SECRET_WORD}")


@door.get("/slow")
async def slow() -> str:
    await asyncio.sleep(5)
    return "done"


@door.post("/remember")
async def remember(sent: Sent, engine: TheEngine, scope: TheScope) -> str:
    return (await engine.remember(scope, {"content": sent.word})).outcome


@door.post("/recall")
async def recall(sent: Sent, engine: TheEngine, scope: TheScope) -> int:
    return len(await engine.recall(scope, Query(text=sent.word)))


@page.get("/")
async def front() -> str:
    return "hello"


@asynccontextmanager
async def opening() -> AsyncIterator[Engine]:
    running = await open_engine(Settings.load({}, store=":memory:", embedder="off", rate_limit=1000))
    try:
        yield running.engine
    finally:
        await running.close()


def app(identity: Identity | None = None, opening: Opening = opening, **manners: Any) -> FastAPI:
    return create_app(opening, identity or Local(Scope("default", "local")), [door], [page], Manners(**manners))


@asynccontextmanager
async def asking(app: FastAPI, peer: str = "127.0.0.1", **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=True, client=(peer, 50_000))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://recollect.test", headers=headers) as client,
    ):
        yield client
