"""What a version says to Postgres, written down: every statement of every verb, with its values, in the order in which it came.

`python -m tests.stores.postgres.recording` writes the present revision's down, beside the earlier ones. Do so before a new
revision is added: what its predecessor's code says is then held against the new schema, long after that code is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.rounds import SCRATCH, rounds, system_rounds
from recollect.stores.postgres.session import Connection, Opening, PostgresSession
from recollect.stores.postgres.wire import Halfvec, vector
from tests.services.postgres import running_postgres

SPOKEN = Path(__file__).parent / "spoken"
HEADING = "-- "


class Said(NamedTuple):
    verb: str
    statement: str
    rows: int
    """How many rows came back or were changed."""


class Recorder:
    def __init__(self) -> None:
        self.verb = "tx.begin"
        self.said: list[Said] = []

    def begin(self, verb: str) -> None:
        self.verb = verb

    def session(self, connection: Connection, opening: Opening, exact_below: int) -> PostgresSession:
        return _Recorded(connection, opening, exact_below, self)


class _Recorded(PostgresSession):
    at_once = True

    def __init__(self, connection: Connection, opening: Opening, exact_below: int, recorder: Recorder) -> None:
        super().__init__(connection, opening, exact_below)
        self._recorder = recorder

    def _execute(self, text: str, params: Mapping[str, Any]) -> None:
        super()._execute(text, params)
        self._note(text, params)

    def _execute_many(self, text: str, params: Sequence[Mapping[str, Any]]) -> None:
        self._open()
        for each in params:
            self._cursor.execute(text.encode(), each)
            self._note(text, each)

    def _note(self, text: str, params: Mapping[str, Any]) -> None:
        plain = {name: _plain(value) for name, value in params.items()}
        statement = psycopg.ClientCursor(self._connection).mogrify(text.encode(), plain)
        self._recorder.said.append(Said(self._recorder.verb, " ".join(statement.split()), self._cursor.rowcount))


def _plain(value: Any) -> Any:
    return str(vector(value).tolist()) if isinstance(value, Halfvec) else value


def read(revision: str) -> Iterator[Said]:
    lines = (SPOKEN / f"{revision}.sql").read_text().rstrip("\n").split("\n")
    for heading, statement in zip(lines[::2], lines[1::2], strict=True):
        verb, rows = heading.removeprefix(HEADING).rsplit(maxsplit=1)
        yield Said(verb, statement, int(rows))


async def record(url: str) -> list[Said]:
    """Let every verb run, and take everything back."""
    recorder = Recorder()
    store = await PostgresStore.open(url, pool_size=1, sessions=recorder.session)
    try:
        await store.rehearse(SCRATCH, lambda tx: rounds(tx, recorder.begin))
        await store.system(lambda system: system_rounds(system, recorder.begin))
    finally:
        await store.close()
    return recorder.said


def main() -> None:
    with running_postgres(durable=False) as server:
        database = server.fresh_database()
        migrations.upgrade(database.owner_url, app_role="app")
        said = asyncio.run(record(database.app_url))
    SPOKEN.mkdir(exist_ok=True)
    lines = (f"{HEADING}{each.verb} {each.rows}\n{each.statement}\n" for each in said)
    (SPOKEN / f"{migrations.head()}.sql").write_text("".join(lines))


if __name__ == "__main__":
    main()
