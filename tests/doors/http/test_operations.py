"""How the server fared, minute by minute: differences of counts, within bounds, for administrators."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.bootstrap import engine_over, open_store
from recollect.doors.http.history import KEPT, MOST_POINTS, History, quantile
from recollect.doors.http.measuring import Metrics
from recollect.engine import Engine
from recollect.model import Look
from recollect.settings import Settings
from recollect.testing.embedder import HashEmbedder
from tests.doors.http.framed import app, asking
from tests.doors.http.test_health import embedding

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def looking(history: History, minutes: float, metrics: Metrics) -> Look:
    return history.look(metrics.samples(), NOON + timedelta(minutes=minutes))


def test_what_happened_in_a_minute_is_the_difference_of_two_looks() -> None:
    metrics, history = Metrics(), History()
    metrics.answered("GET", "/v1/memories", 200, 0.004)
    history.keep(looking(history, 0, metrics))
    for status, seconds in ((200, 0.02), (200, 0.04), (503, 2.0), (403, 0.002)):
        metrics.answered("GET", "/v1/memories", status, seconds)
    metrics.heard("recalled", {"ms": 30, "hits": 2, "stages": {}})
    metrics.heard("recalled", {"ms": 30, "hits": 0, "stages": {}})
    metrics.heard("wrote", {"outcome": "merged", "reason": None})
    history.keep(looking(history, 1, metrics))
    metrics.answered("GET", "/v1/memories", 200, 0.004)
    first, second = history.points(looking(history, 1.5, metrics), 60)
    wanted = {"requests": 4, "errors": 1, "refused": 1, "recalls": 2, "found": 1, "writes": 1, "merged": 1}
    assert {name: first.counts[name] for name in wanted} == wanted
    assert (first.at, first.seconds, first.share("found", "recalls")) == (NOON + timedelta(minutes=1), 60, 0.5)
    assert first.quantile("request", 0.5) == pytest.approx(25)
    assert first.quantile("request", 0.95) == pytest.approx(2200)
    assert first.quantile("embed", 0.5) is None
    assert (second.counts["requests"], second.counts["errors"], second.seconds) == (1, 0, 30)
    assert second.share("found", "recalls") is None


def test_a_day_is_kept_and_shown_in_few_points() -> None:
    metrics, history = Metrics(), History()
    for minute in range(KEPT + 100):
        history.keep(looking(history, minute, metrics))
        metrics.answered("GET", "/", 200, 0.001)
    now = looking(history, KEPT + 99.5, metrics)
    day, hour, moment = (history.points(now, minutes) for minutes in (KEPT, 60, 1))
    assert len(day) <= MOST_POINTS + 1
    assert sum(point.counts["requests"] for point in day) == pytest.approx(KEPT, abs=KEPT / MOST_POINTS + 1)
    assert len(hour) == 61
    assert all(point.counts["requests"] == 1 for point in hour)
    assert len(moment) == 2


def test_runs_are_told_apart_and_added_up() -> None:
    """One that ended, one beside this, one that began before the first look that is still kept, and a hole between them."""
    metrics, history = Metrics(), History()
    history.keep(looking(history, 10, metrics))
    metrics.answered("GET", "/", 200, 0.001)
    history.keep(looking(history, 11, metrics))

    def look(run: str, minute: float, requests: int, began: float | None = None) -> Look:
        since = None if began is None else NOON + timedelta(minutes=began)
        at = NOON + timedelta(minutes=minute)
        return Look(run=run, at=at, began=since, counts={"requests": requests}, levels={"pending": minute})

    others = [
        *(look("ended", 1, 5, 0.5), look("ended", 2, 7, 0.5)),
        *(look("beside", 10, 100, 9.5), look("beside", 11, 130, 9.5)),
        *(look("before", 11, 10_000, -3000), look("before", 11.2, 10_001, -3000)),
    ]
    points = history.points(looking(history, 11.5, metrics), 60, [*others, *others])
    at = [((point.at - NOON).total_seconds() / 60, point.counts["requests"]) for point in points]
    assert at == [(1, 5), (2, 2), (10, 100), (11, 31), (11.5, 1)]
    assert [point.levels.get("pending") for point in points[:3]] == [1, 2, 10]


def test_counts_that_began_anew_are_no_negative_events() -> None:
    metrics, history = Metrics(), History()
    metrics.answered("GET", "/", 200, 0.001)
    history.keep(looking(history, 0, metrics))
    (point,) = history.points(looking(history, 1, Metrics()), 60)
    assert all(value == 0 for value in point.counts.values())


def test_nothing_is_said_before_there_is_anything_to_compare() -> None:
    history = History()
    assert history.points(looking(history, 0, Metrics()), 60) == []


def test_a_time_beyond_the_last_edge_is_said_to_be_at_it() -> None:
    assert quantile({0.1: 0, 1.0: 0, float("inf"): 5}, 0.5) == 1.0
    assert quantile({}, 0.5) is None


async def test_administrators_see_it_from_the_start() -> None:
    async with asking(app(opening=embedding)) as client:
        await client.post("/door/remember", json={"word": "I prefer tea"})
        told = (await client.get("/v1/operations")).json()
        points = told["points"]
        assert 1 <= len(points) <= 2  # the minute may have turned
        assert [sum(each[name] for each in points) for name in ("requests", "writes", "errors")] == [1, 1, 0]
        assert points[-1]["backlog"] == 1
        assert any(each["request_p50_ms"] for each in points)
        assert told["since"] <= points[0]["at"]
        assert (await client.get("/v1/operations?minutes=100000")).status_code == 422


async def test_a_restart_does_not_begin_anew_and_a_store_that_is_away_is_no_reason_to_be_silent(tmp_path: Path) -> None:
    @asynccontextmanager
    async def opening() -> AsyncIterator[Engine]:
        settings = Settings.load({}, store=str(tmp_path / "memory.db"))
        engine = engine_over(await open_store(settings), HashEmbedder(), settings)
        yield engine
        await engine.close()

    async with asking(app(opening=opening)) as client:
        for _ in range(5):
            await client.post("/door/echo", json={"word": "tea"})
    again = app(opening=opening)
    async with asking(again) as client:
        await client.post("/door/echo", json={"word": "tea"})
        told = (await client.get("/v1/operations?minutes=1440")).json()["points"]
        assert sum(point["requests"] for point in told) == 6
        await again.state.engine.store.close()
        alone = (await client.get("/v1/operations?minutes=1440")).json()["points"]
        assert sum(point["requests"] for point in alone) == 2


def test_processes_that_count_together_are_one_run(tmp_path: Path) -> None:
    one, two = (app(metrics_folder=tmp_path).state.history.run for _ in range(2))
    assert one == two == tmp_path.name
    assert app().state.history.run != app().state.history.run
