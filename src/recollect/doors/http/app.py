"""The app: doors mounted side by side over one engine, with health, correlation ids and the error table around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from uuid import uuid4

from fastapi import APIRouter, FastAPI, Request, Response

from recollect._version import __version__
from recollect.doors.http import errors
from recollect.engine import Engine
from recollect.errors import Unavailable
from recollect.model import Scope

CORRELATION = "X-Correlation-ID"
Opening = Callable[[], AbstractAsyncContextManager[Engine]]
Identity = Callable[[Request], Scope]


def create_app(opening: Opening, identity: Identity, doors: list[APIRouter]) -> FastAPI:
    """`opening` gives the engine for as long as the app runs; `identity` says whose memory a request is about."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opening() as engine:
            app.state.engine = engine
            yield

    app = FastAPI(title="Recollect", version=__version__, lifespan=lifespan, description=__doc__)
    app.state.identity = identity
    app.middleware("http")(_correlated)
    errors.install(app)
    app.include_router(_health)
    for door in doors:
        app.include_router(door)
    return app


def engine_of(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def scope_of(request: Request) -> Scope:
    scope: Scope = request.app.state.identity(request)
    return scope


async def _correlated(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    given = request.headers.get(CORRELATION, "")
    request.state.correlation_id = (
        given if given.isascii() and given.isprintable() and 0 < len(given) <= 128 else str(uuid4())
    )
    response = await call_next(request)
    response.headers[CORRELATION] = request.state.correlation_id
    return response


_health = APIRouter(tags=["health"])


@_health.get("/healthz", summary="Is the process alive?")
async def healthz() -> dict[str, str]:
    return {"status": "ok", "version": __version__}


@_health.get("/readyz", summary="Can it answer: is the store reachable?")
async def readyz(request: Request) -> dict[str, str]:
    generations = await engine_of(request).store.system(lambda system: system.generations())
    if generations is None:
        raise Unavailable("the store does not answer")
    return {"status": "ready"}
