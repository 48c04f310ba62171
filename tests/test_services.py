"""The servers the other tests stand on do what those tests take for granted."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
import redis

from tests.services.postgres import Database, PostgresServer
from tests.services.process import is_running
from tests.services.valkey import ValkeyServer

PROTECTED_TABLE = """
CREATE TABLE notes (user_id text NOT NULL, body text NOT NULL);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON notes USING (user_id = current_setting('app.user_id', true));
GRANT SELECT, INSERT ON notes TO app;
"""

DIES_WITHOUT_CLEANING_UP = """
import os, signal
from tests.services.process import is_running
from tests.services.valkey import ValkeyServer
server = ValkeyServer()
print(server._process.pid, server._folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_pgvector_is_ready_for_the_plain_role(blank_database: Database) -> None:
    with psycopg.connect(blank_database.app_url) as connection:
        row = connection.execute("SELECT '[1,0]'::vector <=> '[0,1]'::vector").fetchone()
    assert row == (1.0,)


def test_row_level_security_holds_for_owner_and_application(blank_database: Database) -> None:
    with psycopg.connect(blank_database.owner_url) as owner:
        owner.execute(PROTECTED_TABLE)
    with psycopg.connect(blank_database.app_url) as app:
        app.execute("SET app.user_id = 'ana'")
        app.execute("INSERT INTO notes VALUES ('ana', 'hers')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), app.transaction():
            app.execute("INSERT INTO notes VALUES ('ben', 'his')")
    for url in (blank_database.app_url, blank_database.owner_url):
        with psycopg.connect(url) as connection:
            connection.execute("SET app.user_id = 'ben'")
            assert connection.execute("SELECT * FROM notes").fetchall() == []
            connection.execute("SET app.user_id = 'ana'")
            assert connection.execute("SELECT body FROM notes").fetchall() == [("hers",)]


def test_no_role_of_the_product_may_pass_row_level_security(blank_database: Database) -> None:
    with psycopg.connect(blank_database.superuser_url) as connection:
        powers = connection.execute(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname IN ('app', 'owner')"
        ).fetchall()
    assert powers == [(False,), (False,)]


def test_databases_cloned_from_one_template_do_not_share_rows(postgres: PostgresServer) -> None:
    def migrate(database: Database) -> None:
        with psycopg.connect(database.owner_url) as connection:
            connection.execute("CREATE TABLE notes (body text); GRANT SELECT, INSERT ON notes TO app")

    template = postgres.build_template("notes", migrate)
    assert postgres.build_template("notes", migrate) == template
    first, second = postgres.fresh_database(template), postgres.fresh_database(template)
    with psycopg.connect(first.app_url) as connection:
        connection.execute("INSERT INTO notes VALUES ('here')")
    with psycopg.connect(second.app_url) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)
    postgres.discard(first)
    postgres.discard(second)


def test_a_killed_postgres_comes_back_with_what_was_committed(private_postgres: PostgresServer) -> None:
    database = private_postgres.fresh_database()
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("CREATE TABLE notes AS SELECT 'kept' AS body")
    private_postgres.kill()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(database.app_url, connect_timeout=2)
    private_postgres.start()
    with psycopg.connect(database.owner_url) as connection:
        assert connection.execute("SELECT body FROM notes").fetchall() == [("kept",)]


def test_each_test_finds_valkey_empty(valkey: ValkeyServer) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        assert client.dbsize() == 0
        client.set("left behind on purpose", "1")
    valkey.clear()
    with redis.Redis.from_url(valkey.url) as client:
        assert client.dbsize() == 0


def test_a_server_and_its_folder_do_not_outlive_a_killed_test_run() -> None:
    root = Path(__file__).parent.parent
    outcome = subprocess.run([sys.executable, "-c", DIES_WITHOUT_CLEANING_UP], cwd=root, capture_output=True, text=True)
    pid, folder = outcome.stdout.split()
    deadline = time.monotonic() + 60
    while (is_running(int(pid)) or Path(folder).exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(int(pid))
    assert not Path(folder).exists()
