"""The app: doors mounted side by side over one engine, with everything around them that they share.

From the street inwards: the frame (correlation, headers, log, counts, last resort), the address (names, form), the caller,
the body, the error table, the doors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from recollect._version import __version__
from recollect.doors.http import errors, health, openapi, operations
from recollect.doors.http.addressing import Addressed
from recollect.doors.http.asking import engine_of, scope_of
from recollect.doors.http.auth.caller import Identity
from recollect.doors.http.bodies import Bodies
from recollect.doors.http.framing import Frame
from recollect.doors.http.history import History
from recollect.doors.http.knowing import Known
from recollect.doors.http.measuring import Metrics
from recollect.engine import Engine

__all__ = ["Manners", "Opening", "create_app", "engine_of", "scope_of"]

Opening = Callable[[], AbstractAsyncContextManager[Engine]]
DESCRIPTION = "Memory for AI assistants: remember, recall and forget. Every error has one shape."
OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How the server treats those who ask.

    `hosts` are the names it answers to. Without a login they are all that keeps a web page that points its own name at this
    machine from reading along, so a server that asks nobody who they are must give them. `origins` are names whose pages may use
    it beside its own.
    """

    hosts: frozenset[str] | None = None
    origins: frozenset[str] = frozenset()
    max_body_bytes: int = 4 * 1024 * 1024
    body_timeout_s: float = 30.0
    request_limit: int = 0
    metrics_folder: Path | None = None


def _history(manners: Manners) -> History:
    """Processes that count together are one run: their folder is the name they share."""
    return History(manners.metrics_folder.name if manners.metrics_folder else None)


def create_app(
    opening: Opening,
    identity: Identity,
    doors: Sequence[APIRouter],
    pages: Sequence[APIRouter] = (),
    manners: Manners = Manners(),  # noqa: B008 -- frozen
) -> FastAPI:
    """`opening` gives the engine for as long as the app runs; `identity` says who asks. `pages` are open to everyone: what they
    show they fetch through the doors."""
    metrics = Metrics(manners.metrics_folder)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opening() as engine:
            app.state.engine = engine
            engine.heard = metrics.heard
            app.state.probe = health.Probe(engine)
            async with operations.watched(engine, metrics, app.state.history):
                yield

    app = FastAPI(
        title="Recollect",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.identity, app.state.metrics, app.state.history = identity, metrics, _history(manners)
    open_paths = OPEN | {route.path for page in pages for route in page.routes if isinstance(route, APIRoute)}
    # The last one added is the first one asked.
    app.add_middleware(Bodies, most_bytes=manners.max_body_bytes, seconds=manners.body_timeout_s)
    app.add_middleware(Known, identity=identity, open_paths=open_paths, limit=manners.request_limit)
    app.add_middleware(Addressed, hosts=manners.hosts, origins=manners.origins)
    app.add_middleware(Frame, metrics=metrics)
    errors.install(app)
    for router in (health.router, operations.router, *doors, *pages):
        app.include_router(router)
    openapi.describe(app, identity, open_paths)
    return app
