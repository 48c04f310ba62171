"""The app: doors mounted side by side over one engine, with health, correlation ids and the error table around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit
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


def create_app(
    opening: Opening, identity: Identity, doors: list[APIRouter], hosts: frozenset[str] | None = None
) -> FastAPI:
    """`opening` gives the engine for as long as the app runs; `identity` says whose memory a request is about.

    `hosts` are the names the server answers to. Without a login they are all that keeps a web page that points its own name
    at this machine from reading along, so a server that asks nobody who they are must give them.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opening() as engine:
            app.state.engine = engine
            yield

    app = FastAPI(title="Recollect", version=__version__, lifespan=lifespan, description=__doc__)
    app.state.identity = identity
    app.state.hosts = hosts
    app.middleware("http")(_addressed)
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


async def _addressed(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse what was not meant for this server by name, and what another site's page sends on."""
    hosts: frozenset[str] | None = request.app.state.hosts
    origin = request.headers.get("origin")
    if hosts is not None:
        if _name_in(f"//{request.headers.get('host', '')}") not in hosts:
            return errors.error_response(request, 403, "not_allowed", "this server does not go by that name")
        if origin is not None and _name_in(origin) not in hosts:
            return errors.error_response(request, 403, "not_allowed", "pages of other sites may not use this server")
    return await call_next(request)


def _name_in(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


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
