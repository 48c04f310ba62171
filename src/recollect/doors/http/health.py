"""/healthz, /readyz, /metrics: for whoever keeps the server running. The first two are open, the last is for administrators."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from recollect._version import __version__
from recollect.doors.http.asking import TheAdmin
from recollect.doors.http.examples import shown
from recollect.doors.http.measuring import CONTENT_TYPE, Metrics
from recollect.engine import Engine
from recollect.errors import RecollectError, Unavailable
from recollect.model import Backlog
from recollect.ports import System

PATIENCE_SECONDS = 2.0
router = APIRouter(tags=["health"])


class Alive(BaseModel):
    model_config = shown({"status": "ok", "version": __version__})
    status: Literal["ok"] = "ok"
    version: str = __version__


class Ready(BaseModel):
    model_config = shown({"status": "ready"})
    status: Literal["ready"] = "ready"


class Probe:
    """Asks the store whether it is there. However many ask at once, it is asked once: a store that hangs gets no queue."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asking: asyncio.Task[Any] | None = None

    async def __call__(self) -> None:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        done, _ = await asyncio.wait([self._asking], timeout=PATIENCE_SECONDS)
        if not done or not self._asking.result():
            raise Unavailable("the store does not answer")

    async def _ask(self) -> bool:
        try:
            await self._engine.store.system(lambda system: system.generations())
        except RecollectError:
            return False
        return True


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> Alive:
    return Alive()


@router.get("/readyz", summary="Can it answer: is the store reachable?")
async def readyz(request: Request) -> Ready:
    await request.app.state.probe()
    return Ready()


@router.get(
    "/metrics",
    summary="Counts and times, for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"example": 'recollect_writes_total{outcome="stored"} 12.0\n'}}}},
)
async def metrics(request: Request, _: TheAdmin) -> Response:
    counted: Metrics = request.app.state.metrics
    with suppress(RecollectError, TimeoutError):
        await note_backlog(request.app.state.engine, counted)
    return Response(counted.text(), media_type=CONTENT_TYPE)


async def note_backlog(engine: Engine, counted: Metrics) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        serving = await engine.generations.serving()

        def look(system: System) -> tuple[datetime | None, tuple[Backlog, datetime | None] | None]:
            return system.scrub_owed(), (system.backlog(serving.id), system.next_due()) if serving else None

        owed, waiting = await engine.store.system(look)
        counted.owes(owed)
        if waiting is not None:
            counted.waits(*waiting)
