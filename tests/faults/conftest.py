"""A home on each store for every test that asks for one; a missing server fails it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.homes import KINDS, Home, migrated, postgres_home, sqlite_home
from tests.services.postgres import Database, PostgresServer

pytest.register_assert_rewrite("tests.faults.ledger", "tests.faults.soundness")  # a failure there shows what differs


@pytest.fixture(scope="session")
def faults_database(postgres: PostgresServer) -> Database:
    return migrated(postgres)


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    if request.param == "sqlite":
        return sqlite_home(tmp_path)
    return postgres_home(tmp_path, request.getfixturevalue("faults_database"))
