"""A whole deployment on this machine: Postgres, Redis, two servers, workers of both kinds, a schedule and an embedding provider.

The first server and the first worker are never ended, only frozen: they live through everything, and so tell whether something
leaks. What is lost and comes back is all the others. The second server and the Celery worker have two processes each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from bench.chaos.blows import LONG_FROZEN_S, Kind
from bench.chaos.parts import EVERY, Bought, Ours, Part, api, provider, worker
from bench.chaos.provider import DIMENSIONS, MODEL
from recollect.stores import migrations
from tests.services.postgres import Database, running_postgres
from tests.services.process import LOOPBACK
from tests.services.valkey import running_valkey

LEASE_S = round(LONG_FROZEN_S) - 5
RUNNERS = ("both", "embedded", "celery")
STEADY = ("api-1", "worker-1")
COPIES_MB = 32
"""For the copies of indexes: so few that a run fills it, and shows that it is kept to."""


@dataclass
class Deployment:
    parts: dict[str, Part]
    ports: list[int]
    database: Database

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Raw SQL, as somebody whom no policy binds."""
        with psycopg.connect(self.database.superuser_url, autocommit=True) as server:
            return server.execute(statement.encode()).fetchall()

    def unsettled(self) -> int:
        ((count,),) = self.rows("SELECT count(*) FROM embeddings WHERE state <> 'ready'")
        return int(str(count))


@contextmanager
def deployed(runner: str) -> Iterator[Deployment]:
    """All of it, running; ended with the block."""
    with ExitStack() as held:
        postgres = held.enter_context(running_postgres())
        valkey = held.enter_context(running_valkey())
        database = postgres.fresh_database()
        migrations.upgrade(database.owner_url, app_role="app")
        embedder, port = provider()
        settings = _settings(database, valkey.url, port, celery=runner != "embedded")
        first, first_port = api("api-1", settings, (Kind.FROZEN,))
        second, second_port = api("api-2", {**settings, "RECOLLECT_WORKERS": 2}, (*EVERY, Kind.CHILD_KILLED))
        ours = [embedder, first, second, *_workers(runner, settings)]
        for each in ours:
            each.start()
            held.callback(each.close)
        parts = [Bought("postgres", postgres), Bought("redis", valkey), *ours]
        yield Deployment({part.name: part for part in parts}, [first_port, second_port], database)


def _workers(runner: str, settings: dict[str, object]) -> list[Ours]:
    found = [worker("worker-1", settings, "--no-celery", kinds=(Kind.FROZEN,))]
    if runner != "celery":
        found.append(worker("worker-2", settings, "--no-celery"))
    if runner != "embedded":
        several = ("--celery", "--processes", "2")
        found.append(worker("celery", settings, *several, kinds=(*EVERY, Kind.CHILD_KILLED)))
        found.append(worker("beat", settings, "--only-beat"))
    return found


def _settings(database: Database, redis_url: str, provider_port: int, *, celery: bool) -> dict[str, object]:
    return {
        "RECOLLECT_STORE": database.app_url,
        "RECOLLECT_REDIS_URL": redis_url,
        "RECOLLECT_BROKER_URL": redis_url.replace("/0", "/1") if celery else "",
        "RECOLLECT_WORKER": 0,
        "RECOLLECT_WORKER_POLL_S": 1,
        "RECOLLECT_EMBEDDER": "openai",
        "RECOLLECT_EMBEDDER_URL": f"http://{LOOPBACK}:{provider_port}/v1",
        "RECOLLECT_EMBEDDER_MODEL": MODEL,
        "RECOLLECT_EMBEDDER_DIMENSIONS": DIMENSIONS,
        "RECOLLECT_EMBED_LEASE_S": LEASE_S,
        "RECOLLECT_INDEX_MEMORY_MB": COPIES_MB,
        "RECOLLECT_USER_ID_SOURCE": "header",
        "OMP_NUM_THREADS": 1,
        "OPENBLAS_NUM_THREADS": 1,
    }
