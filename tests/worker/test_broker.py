"""Eight processes at a broker that is emptied, killed and started again, and some of them killed too: all is embedded, once."""

from __future__ import annotations

import os
import signal

import pytest
import redis

from recollect.bootstrap import open_engine
from recollect.model import Scope
from recollect.worker.tasks import QUEUE, celery_app, sender
from tests.api.homes import Home
from tests.services.collector import Collector
from tests.services.process import free_port
from tests.services.valkey import ValkeyServer
from tests.worker.machinery import (
    BATCH,
    CountingServer,
    let_leases_end,
    loaded,
    runs,
    settings_for,
    unsettled,
    until,
    value,
    working,
)

PROCESSES = 8
KILLED = 2
ANA, BO = Scope("default", "ana"), Scope("default", "bo")


def waiting(valkey: ValkeyServer) -> int:
    with redis.Redis.from_url(valkey.url) as broker:
        return int(broker.llen(QUEUE))


@pytest.mark.slow
async def test_nothing_is_missed_and_nothing_done_twice(
    home: Home, server: CountingServer, private_valkey: ValkeyServer
) -> None:
    settings = loaded(home, server, broker_url=private_valkey.url)
    running = await open_engine(settings, resident=True)
    engine = running.engine

    async def remember(count: int, word: str) -> set[str]:
        texts = {f"{word}{number} is kept by {scope.user}" for number in range(count) for scope in (ANA, BO)}
        for scope in (ANA, BO):
            for text in texts:
                if text.endswith(scope.user):
                    await engine.remember(scope, {"content": text})
        return texts

    said = await remember(130, "first")
    port = free_port()
    # As patient as can be: only a death may have a text asked for twice.
    patient = {"embed_lease_s": 600, "embedder_timeout_s": 600}
    given = settings_for(
        home, server, broker_url=private_valkey.url, worker_poll_s=1, worker_metrics_port=port, **patient
    )
    server.gate.clear()
    with working(home, "--celery", "--processes", str(PROCESSES), **given) as workers:
        until("every process holds a batch", lambda: server.inside == PROCESSES)
        private_valkey.clear()
        gone = {workers.kill_child()}
        until("the killed one is replaced", lambda: gone.isdisjoint(workers.children))
        gone.add(workers.kill_child())
        server.gate.set()
        until("the others are done", lambda: unsettled(home) <= KILLED * BATCH)
        let_leases_end(home)
        until("what the killed ones held is taken up", lambda: unsettled(home) == 0)
        again = {text for text, times in server.texts.items() if times > 1}
        assert max(server.texts.values()) <= 1 + KILLED
        assert len(again) <= KILLED * BATCH, "only what was in the hands of the killed"

        private_valkey.kill()
        said |= await remember(20, "second")
        until("they look by themselves", lambda: unsettled(home) == 0)

        private_valkey.start()
        said |= await remember(20, "third")
        until("they are woken again", lambda: unsettled(home) == 0)
        item = (await engine.remember(ANA, {"content": "the last one"})).id
        said.add("the last one")
        ana = {"tenant": ANA.tenant, "user": ANA.user, "space": ANA.space}
        send = sender(celery_app(private_valkey.url))
        for name, about in {
            "compute_memory_item_embedding": {"item_id": item or "", **ana},
            "memory_extract": {"session_id": "s1", **ana},
            **{name: {} for name in ("memory_sessions", "memory_maintain", "memory_roll_up", "memory_generations")},
        }.items():
            send(name, about)
        until("every task is taken", lambda: waiting(private_valkey) == 0 and unsettled(home) == 0)

        def counted() -> float:
            return value(port, 'recollect_embeddings_total{outcome="ready"}')

        until("all is counted, which happens after it is stored", lambda: counted() >= len(said))
        assert counted() <= len(said) + KILLED * BATCH, "of all processes together"
        assert workers.ends() == 0, workers.said()
        assert "failed" not in workers.said()
    await running.close()
    assert set(server.texts) == said
    assert {text for text, times in server.texts.items() if times > 1} == again, "each of the others once"
    assert home.count("SELECT count(*) FROM embeddings WHERE vector IS NOT NULL") == len(said)
    assert not any(text in workers.said() for text in said), "no content in the log"


async def test_a_killed_schedule_is_replaced_and_a_killed_worker_leaves_nobody_behind(
    home: Home, server: CountingServer, private_valkey: ValkeyServer
) -> None:
    running = await open_engine(loaded(home, server), resident=True)
    for number in range(3 * BATCH):
        await running.engine.remember(ANA, {"content": f"note {number} about the harbour"})
    await running.close()
    given = settings_for(home, server, broker_url=private_valkey.url, worker_poll_s=1, embed_lease_s=600)
    server.gate.clear()
    with working(home, "--celery", "--beat", "--processes", "1", **given) as workers:
        until("somebody works, and somebody sends what is due", lambda: server.inside and workers.schedules())
        (schedule,) = workers.schedules()
        os.kill(schedule, signal.SIGKILL)
        until("it is replaced", lambda: set(workers.schedules()) - {schedule})
        left = workers.children
        workers.process.kill()
        workers.process.wait()
        server.gate.set()
        until("nobody is left behind", lambda: not any(map(runs, left)))
    let_leases_end(home)
    with (
        Collector().running() as collector,
        working(home, "--celery", "--processes", "1", **given, traces_url=collector.url) as others,
    ):
        until("others take it up", lambda: unsettled(home) == 0)
        assert others.ends() == 0
        assert {("job.embed", "store.write"), ("job.embed", "embedder.embed")} <= set(map(tuple, collector.paths))
    assert max(server.texts.values()) <= 2, "once more for what was in the hands of the killed"
