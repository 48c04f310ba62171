"""`recollect worker` as operators use it: alone, once, by the schedule; and what it says when it can't."""

from __future__ import annotations

import json

import pytest
import redis
from typer.testing import CliRunner

from recollect.bootstrap import open_engine
from recollect.cli import app
from recollect.model import Scope
from recollect.worker.tasks import QUEUE, Schedule
from tests.api.homes import Home
from tests.doors.http.process import environment
from tests.services.process import free_port
from tests.services.valkey import ValkeyServer
from tests.worker.machinery import CountingServer, loaded, settings_for, unsettled, until, value, working

ANA = Scope("default", "ana")


async def remembered(home: Home, server: CountingServer, count: int) -> None:
    running = await open_engine(loaded(home, server))
    for number in range(count):
        await running.engine.remember(ANA, {"content": f"note {number} about the harbour"})
    await running.close()


def run(home: Home, *options: str, **settings: object) -> tuple[int, str]:
    env = environment(home.folder, **{name: str(value) for name, value in settings.items()})
    result = CliRunner().invoke(app, ["worker", *options], env=env)
    return result.exit_code, result.output


async def test_it_works_beside_a_server_that_leaves_it_undone(home: Home, server: CountingServer) -> None:
    await remembered(home, server, 20)
    port = free_port()
    with working(home, **settings_for(home, server, worker_poll_s=1, worker_metrics_port=port)) as worker:
        until("what was there is done", lambda: unsettled(home) == 0)
        running = await open_engine(loaded(home, server))
        await running.engine.remember(ANA, {"content": "told to nobody"})
        until("what another process wrote is found", lambda: unsettled(home) == 0)
        await running.close()
        until("it is counted", lambda: value(port, 'recollect_embeddings_total{outcome="ready"}') == 21)
        until("so is the wait", lambda: value(port, "recollect_embedding_wait_seconds_count") == 21)
        assert worker.ends() == 0
    assert set(server.texts.values()) == {1}
    assert server.texts["told to nobody"] == 1


def test_once_does_what_is_due_and_ends(home: Home, server: CountingServer) -> None:
    with home.memory(
        embedder="openai", embedder_url=f"{server.url}/v1", embedder_model="m", embedder_dimensions=8, worker=False
    ) as memory:
        memory.add("the harbour is closed on Mondays")
    code, said = run(home, "--once", "--json", **settings_for(home, server))
    assert code == 0, said
    assert json.loads(said)["embedded"] == 1
    assert unsettled(home) == 0


@pytest.mark.parametrize(
    ("options", "settings", "words"),
    [
        (["--celery"], {"broker_url": ""}, "RECOLLECT_BROKER_URL"),
        ([], {"store": ":memory:"}, "in memory"),
        (["--processes", "0"], {}, "processes"),
    ],
)
def test_what_cannot_work_is_said(
    home: Home, server: CountingServer, options: list[str], settings: dict[str, str], words: str
) -> None:
    code, said = run(home, *options, **(settings_for(home, server) | settings))
    assert code == 2
    assert words in said


def test_every_round_has_its_schedule() -> None:
    assert set(Schedule().entries()) == {
        "memory_embed_backfill",
        "memory_generations",
        "memory_sessions",
        "memory_maintain",
    }
    assert "memory_maintain" not in Schedule(maintain=None).entries()
    assert all(entry["task"] == name for name, entry in Schedule(roll_up=Schedule().sessions).entries().items())


def test_the_schedule_is_sent_by_a_process_of_its_own(
    home: Home, server: CountingServer, private_valkey: ValkeyServer
) -> None:
    given = settings_for(home, server, broker_url=private_valkey.url)
    with working(home, "--only-beat", **given) as beat, redis.Redis.from_url(private_valkey.url) as broker:
        until("it is there", lambda: (home.folder / "data").exists())

        def sent() -> set[str]:
            return {json.loads(each)["headers"]["task"] for each in broker.lrange(QUEUE, 0, -1)}

        until("what was never sent is sent at once, be it due once a day", lambda: sent() == set(Schedule().entries()))
        assert beat.ends() == 0
        broker.flushall()
    with working(home, "--only-beat", **given) as beat, redis.Redis.from_url(private_valkey.url) as broker:
        until("what is due every half minute is sent again", lambda: "memory_embed_backfill" in sent())
        assert "memory_maintain" not in sent(), "what was sent today is known"
        assert beat.ends() == 0


async def test_what_nobody_sends_is_done_all_the_same(
    home: Home, server: CountingServer, private_valkey: ValkeyServer
) -> None:
    """Two processes at a broker, and no schedule."""
    await remembered(home, server, 1)
    home.rows("UPDATE memories SET expires_at = now() - interval '1 hour'")
    given = settings_for(home, server, broker_url=private_valkey.url, redis_url=private_valkey.url, worker_poll_s=1)
    with working(home, "--celery", "--processes", "2", **given) as workers:
        until("what is over is gone", lambda: home.count("SELECT count(*) FROM memories WHERE status = 'active'") == 0)
        with redis.Redis.from_url(private_valkey.url) as shared:
            until("both have asked, and one went", lambda: shared.get("worker_round:tidy_up") == b"2")
        assert workers.ends() == 0, workers.said()
