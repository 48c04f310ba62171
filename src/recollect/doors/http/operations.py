"""/v1/operations: how the server fared in the last hours, for administrators. What `/metrics` counts, point by point."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from recollect.doors.http.asking import TheAdmin
from recollect.doors.http.examples import shown
from recollect.doors.http.health import note_backlog
from recollect.doors.http.history import EVERY_SECONDS, KEPT, History, Point, kept_since, start_of, step_of
from recollect.doors.http.measuring import Metrics
from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.model import Look

logger = logging.getLogger("recollect.http")
READ_SECONDS, KEEP_SECONDS = 10.0, 20.0
MOST_LOOKS = 20_000

router = APIRouter(tags=["health"])
POINT = {
    "at": "2026-03-02T09:31:00Z",
    "seconds": 60.0,
    "requests": 120,
    "errors": 0,
    "refused": 1,
    "writes": 14,
    "merged": 2,
    "trimmed": 0,
    "recalls": 40,
    "hit_rate": 0.95,
    "cache_rate": 0.5,
    "request_p50_ms": 2.1,
    "request_p95_ms": 9.4,
    "recall_p95_ms": 12.0,
    "embed_p50_ms": 120.0,
    "embed_p95_ms": 480.0,
    "backlog": 0,
    "failed": 0,
    "backlog_age_s": 0.0,
}


class PointOut(BaseModel):
    """What happened in a while, and how it was at its end. A share or a time of nothing is null."""

    at: datetime = Field(description="When the while ended.")
    seconds: float = Field(description="How long it was.")
    requests: int
    errors: int = Field(description="Requests answered with 5xx.")
    refused: int
    writes: int
    merged: int = Field(description="Known already, and not stored twice.")
    trimmed: int
    recalls: int
    hit_rate: float | None = Field(description="The share of recalls that found something.")
    cache_rate: float | None = Field(description="The share of looks into caches that found something.")
    request_p50_ms: float | None
    request_p95_ms: float | None
    recall_p95_ms: float | None
    embed_p50_ms: float | None = Field(description="From a text's writing to its vector.")
    embed_p95_ms: float | None
    backlog: int = Field(description="Texts that wait for a vector.")
    failed: int = Field(description="Texts that failed to get one.")
    backlog_age_s: float


class OperationsOut(BaseModel):
    model_config = shown({"since": "2026-03-02T09:30:00Z", "points": [POINT]})

    since: datetime | None = Field(description="Where what follows begins. A day is kept, whatever was restarted.")
    points: list[PointOut] = Field(
        description="Oldest first; the last is under way. Where no server ran, there is none."
    )


@router.get("/v1/operations", summary="How the server fared: requests, errors, times, backlog, minute by minute")
async def operations(
    request: Request,
    _: TheAdmin,
    minutes: Annotated[int, Query(ge=1, le=KEPT, description="How far back. Long ones come in longer steps.")] = 60,
) -> OperationsOut:
    state = request.app.state
    history: History = state.history
    now = await look_at(state.engine, state.metrics, history)
    points = history.points(now, minutes, await kept(state.engine, now.at, minutes))
    return OperationsOut(
        since=points[0].since if points else None,
        points=[_point_out(point) for point in points],
    )


async def look_at(engine: Engine, metrics: Metrics, history: History) -> Look:
    with suppress(RecollectError, TimeoutError):
        await note_backlog(engine, metrics)
    return history.look(metrics.samples(), engine.clock.now())


async def kept(engine: Engine, now: datetime, minutes: int) -> Sequence[Look]:
    """What the store has. While it is away this process still knows what it saw itself."""
    start, step = start_of(now, minutes), step_of(minutes)
    with suppress(RecollectError, TimeoutError):
        async with asyncio.timeout(READ_SECONDS):
            return await engine.store.system(lambda system: system.looks(start, step, MOST_LOOKS))
    return ()


async def keep(engine: Engine, metrics: Metrics, history: History) -> None:
    try:
        look = await look_at(engine, metrics, history)
        history.keep(look)
        async with asyncio.timeout(KEEP_SECONDS):
            await engine.store.system(lambda system: system.keep_look(look, kept_since(look.at)))
    except (
        OSError,
        ValueError,
        RecollectError,
    ) as problem:  # the other processes' figures, or the store, are away just now
        logger.warning("this minute is missing from the operations: %s", type(problem).__name__)


@asynccontextmanager
async def watched(engine: Engine, metrics: Metrics, history: History) -> AsyncIterator[None]:
    """While this is open there is a look at the beginning, one every minute of the clock, and one at the end."""

    async def watch() -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS - engine.clock.now().timestamp() % EVERY_SECONDS)
            await keep(engine, metrics, history)

    history.keep(history.look(metrics.samples(), engine.clock.now()))
    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await keep(engine, metrics, history)


def _point_out(point: Point) -> PointOut:
    names = ("requests", "errors", "refused", "writes", "merged", "trimmed", "recalls")
    return PointOut(
        at=point.at,
        seconds=round(point.seconds, 3),
        **{name: int(point.counts.get(name, 0)) for name in names},
        hit_rate=point.share("found", "recalls"),
        cache_rate=point.share("cached", "lookups"),
        request_p50_ms=point.quantile("request", 0.5),
        request_p95_ms=point.quantile("request", 0.95),
        recall_p95_ms=point.quantile("recall", 0.95),
        embed_p50_ms=point.quantile("embed", 0.5),
        embed_p95_ms=point.quantile("embed", 0.95),
        backlog=int(point.levels.get("pending", 0)),
        failed=int(point.levels.get("error", 0)),
        backlog_age_s=round(point.levels.get("backlog_age", 0.0), 1),
    )
