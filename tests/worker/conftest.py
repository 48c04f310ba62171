"""Databases and an embedding server for workers of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.homes import Home, migrated, postgres_home
from tests.services.postgres import Database, PostgresServer
from tests.worker.machinery import CountingServer


@pytest.fixture(scope="session")
def workers_database(postgres: PostgresServer) -> Database:
    return migrated(postgres)


@pytest.fixture
def home(tmp_path: Path, workers_database: Database) -> Home:
    return postgres_home(tmp_path, workers_database)


@pytest.fixture
def server() -> Iterator[CountingServer]:
    with CountingServer().running() as running:
        assert isinstance(running, CountingServer)
        yield running
        running.gate.set()
