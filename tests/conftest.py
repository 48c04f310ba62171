"""Servers and databases for tests that ask for them. Each starts with its first user and ends with the run.

A server that cannot start fails the tests that need it; nothing is skipped. Under `pytest -n` every worker
has servers of its own, so tests never meet each other's data.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.services.postgres import Database, PostgresServer, running_postgres
from tests.services.valkey import ValkeyServer, running_valkey

# Where nobody may write bytecode, each of the many processes started here would compile the package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A busy machine is no fault of the code under test: benchmarks and pytest-timeout are the judges of time. The examples are the
# same in every run, so that a change is never blamed for what chance has found; to look for more on purpose, let chance choose:
# make test ARGS="--hypothesis-profile=explore -k word"
settings.register_profile("recollect", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("recollect"), derandomize=False, print_blob=True)
settings.load_profile("recollect")


def pytest_xdist_auto_num_workers() -> int:
    """Twice the processors: half of the time a test waits for a server, a browser or another process."""
    return 2 * (os.cpu_count() or 1)


gc.disable()  # nothing that is imported or collected becomes garbage


def pytest_collection_finish() -> None:
    """What was collected stays to the end: looking through it for garbage, again and again, took a seventh of the time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The session's PostgreSQL. For a database use `blank_database`; for faults use `private_postgres`."""
    with running_postgres(durable=False) as server:
        yield server


@pytest.fixture
def blank_database(postgres: PostgresServer) -> Iterator[Database]:
    """An empty database with pgvector: `.owner_url` to migrate it, `.app_url` to use it."""
    database = postgres.fresh_database()
    yield database
    postgres.discard(database)


@pytest.fixture
def private_postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL of this test alone, free to `kill()` and `start()` again."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def _shared_valkey() -> Iterator[ValkeyServer]:
    with running_valkey() as server:
        yield server


@pytest.fixture
def valkey(_shared_valkey: ValkeyServer) -> ValkeyServer:
    """The session's Valkey, emptied before the test; `.url` is what Redis clients take."""
    _shared_valkey.clear()
    return _shared_valkey


@pytest.fixture
def private_valkey() -> Iterator[ValkeyServer]:
    """A Valkey of this test alone, free to `kill()` and `start()` again."""
    with running_valkey() as server:
        yield server
