"""How often a write waits for the server: what a network between the two costs, whatever a machine's speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.model import Scope
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.session import Connection, Opening, PostgresSession
from tests.engine.conftest import engine_over
from tests.services.postgres import Database

ANA = Scope("acme", "ana")
MOST = 6
"""The scope's row; what was forgotten, two looks for repeats, one for what fills the same slots; and all that is written."""


class Counting:
    def __init__(self) -> None:
        self.trips = 0

    def session(self, connection: Connection, opening: Opening, exact_below: int) -> PostgresSession:
        return _Counted(connection, opening, exact_below, self)


class _Counted(PostgresSession):
    def __init__(self, connection: Connection, opening: Opening, exact_below: int, counting: Counting) -> None:
        super().__init__(connection, opening, exact_below)
        self._counting = counting

    def flush(self) -> None:
        self._counting.trips += bool(self._held)
        super().flush()

    def _execute(self, text: str, params: Mapping[str, Any]) -> None:
        self._counting.trips += 1
        super()._execute(text, params)

    def _execute_many(self, text: str, params: Sequence[Mapping[str, Any]]) -> None:
        self._counting.trips += 1
        super()._execute_many(text, params)


async def test_what_is_written_to_many_tables_travels_together(database: Database) -> None:
    counting = Counting()
    store = await PostgresStore.open(database.app_url, sessions=counting.session)
    try:
        engine = engine_over(store)
        for content in ("My rowing club meets on Mondays.", "The parcel for Bo weighs 4 kilos."):
            counting.trips = 0
            receipt = await engine.remember(ANA, {"content": content, "tags": ["club"], "theme": "sport"})
            assert receipt.outcome == "stored"
        assert counting.trips <= MOST
    finally:
        await store.close()
