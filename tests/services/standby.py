"""A streaming replica of a test's PostgreSQL, made with pg_basebackup, whose lag a test can set."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.services.postgres import Database, PostgresServer
from tests.services.process import LOOPBACK, Process, free_port


class Standby:
    def __init__(self, primary: PostgresServer) -> None:
        self._primary = primary
        self._folder = Path(tempfile.mkdtemp(prefix="recollect-standby-"))
        primary._own(self._folder)
        source = primary._database("postgres").superuser_url
        backup = (primary._bin / "pg_basebackup", "-d", source, "-D", self._folder / "data")
        primary._run(*backup, "--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync")
        self.port = free_port()
        self._start()

    def url(self, of: str) -> str:
        """The same database, here."""
        parts = urlsplit(of)
        return parts._replace(netloc=f"{parts.username}:{parts.password}@{LOOPBACK}:{self.port}").geturl()

    def pause(self, database: Database) -> None:
        """Receive, but show nothing new until `resume`."""
        self._say(database, "SELECT pg_wal_replay_pause()")

    def resume(self, database: Database) -> None:
        self._say(database, "SELECT pg_wal_replay_resume()")

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.discard()

    def _say(self, database: Database, statement: str) -> None:
        with psycopg.connect(self.url(database.superuser_url), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _start(self) -> None:
        settings = {**self._primary._settings, "port": str(self.port)}
        said = [f"--{name}={value}" for name, value in settings.items()]
        command: list[str | Path] = [self._primary._bin / "postgres", "-D", self._folder / "data", *said]
        self._process = Process(command, folder=self._folder, account=self._primary._account)
        self._process.wait_until(self._accepts_connections)

    def _accepts_connections(self) -> bool:
        url = self.url(self._primary._database("postgres").superuser_url)
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def standing_by(primary: PostgresServer) -> Iterator[Standby]:
    replica = Standby(primary)
    try:
        yield replica
    finally:
        replica.close()
