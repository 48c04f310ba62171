"""Postgres, with the application's own filter taken out: row-level security alone still shows nothing foreign.

The statements are the store's own. On their way to the server every condition on tenant, user and space is replaced by `true`,
which is what a forgotten WHERE clause would be. A superuser then sees everyone, which proves that the filter is really gone;
the application's role sees its own rows and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg

from recollect.model import Filter, Listing, Scope, Status
from recollect.ports import Tx
from recollect.stores.migrations.postgres_ddl import PROTECTED
from recollect.stores.postgres.index import PostgresIndex
from recollect.stores.postgres.session import Opening, PostgresSession
from recollect.stores.postgres.wire import DIALECT, adapters
from recollect.stores.sql.session import Dialect, Params
from recollect.stores.sql.tx import SqlTx
from recollect.testing import HashEmbedder
from tests.api.homes import Home, engine_over, open_store, postgres_home
from tests.services.postgres import Database

ANA = Scope("acme", "ana")
GENERATION = "hash:hash-64:64"
OTHERS = [Scope("acme", "bo"), Scope("globex", "ana"), Scope("acme", "ana2")]
OWN_FILTER = re.compile(r"(?:\w+\.)?(?:tenant_id|user_id|space) = %\((?:tenant_id|user_id|space)\)s(?:::\w+)?")


class Forgetful(PostgresSession):
    """A session that forgets whose rows were asked for."""

    at_once = True

    def run_many(self, statement: Any, params: Sequence[Params]) -> None:
        prepared = DIALECT.prepare(statement)
        for each in params:
            self._execute(prepared.sql, Dialect.bind(prepared, each))

    def _execute(self, text: str, params: Mapping[str, Any]) -> None:
        super()._execute(OWN_FILTER.sub("true", text), params)


@pytest.fixture
async def home(tmp_path: Any, security_database: Database) -> Home:
    home = postgres_home(tmp_path, security_database)
    engine = engine_over(await open_store(home))
    for scope in (ANA, *OTHERS):
        owner = f"{scope.tenant} {scope.user}"
        draft = {"content": f"{owner} keeps tea", "tags": ["tea"], "theme": "drinks", "key": "tea"}
        await engine.remember(scope, draft)
        await engine.remember(scope, {"content": f"{owner} forgets this", "id": "gone"})
        await engine.forget(scope, ["gone"])
        await engine.add_turns(
            scope, f"talk of {owner}", [{"role": "user", "content": f"{owner} drinks tea", "id": "said"}]
        )
        await engine.flush(scope, 120)
    await engine.close()
    return home


@contextmanager
def forgetful(url: str, *, writes: bool) -> Iterator[Tx]:
    """Ana's transaction through a session that forgot the filter; undone at the end."""
    with psycopg.connect(url, autocommit=True, context=adapters()) as connection:
        yield SqlTx(Forgetful(connection, Opening(ANA, writes), 0), ANA, PostgresIndex)
        connection.rollback()


def contents(tx: Tx) -> dict[str, list[str]]:
    """What the store's own reading statements bring, each by another way."""
    now = tx.space.audit(1, 0).items[0].at
    everything = Listing(statuses=tuple(Status))
    vector = HashEmbedder()
    return {
        "list": [each.content for each in tx.memories.list(everything)],
        "list by tag": [each.content for each in tx.memories.list(Listing(tags=("tea",), themes=("drinks",)))],
        "scan": [each.content for each in tx.memories.scan(None, 99)],
        "keyed": [each.content for each in tx.memories.keyed("tea")],
        "conversations": [each.id for each in tx.conversations.list(99, 0)],
        "scanned conversations": [each.id for each in tx.conversations.scan(None, 99)],
        "messages": [each.content for each in tx.conversations.messages(["said"]).values()],
        "changes": [" ".join(each.entry.terms) for each in tx.index.changes(0, None, 99).items],
        "entries by word": [each.target.id for each in tx.index.lexical(["tea"], Filter(), now, 99)],
        "audit": [each.id for each in tx.space.audit(99, 0)],
        "backlog": ["x"] * tx.embeddings.backlog(GENERATION).pending,
        "vector size": [str(vector.dimensions)],
    }


def test_without_its_filter_the_application_still_sees_its_own_only(home: Home) -> None:
    assert home.database is not None
    with forgetful(home.database.superuser_url, writes=False) as tx:
        unbound = contents(tx)
    for way in ("list", "list by tag", "scan", "keyed", "conversations", "scanned conversations", "changes", "audit"):
        assert len(unbound[way]) >= 4, f"{way}: the filter is really gone"
    with forgetful(home.url, writes=False) as tx:
        bound = contents(tx)
        with_vectors = tx.index.changes(0, GENERATION, 99).items
    assert bound["list"] == bound["scan"] == bound["keyed"] == bound["list by tag"] == ["acme ana keeps tea"]
    assert bound["conversations"] == bound["scanned conversations"] == ["talk of acme ana"]
    assert bound["messages"] == ["acme ana drinks tea"]
    assert len(bound["changes"]) == len(with_vectors) == 2
    assert len(bound["entries by word"]) == 2


def test_without_its_filter_the_application_still_changes_its_own_only(home: Home) -> None:
    ids = [id for (id,) in home.rows("SELECT id FROM memories")]
    before = _everything_of_others(home)
    with psycopg.connect(home.url, autocommit=True, context=adapters()) as connection:
        tx = SqlTx(Forgetful(connection, Opening(ANA, writes=True), 0), ANA, PostgresIndex)
        assert tx.memories.delete(ids) == 1
        assert tx.conversations.delete([f"talk of {scope.tenant} {scope.user}" for scope in (ANA, *OTHERS)]) == 1
        receipt = tx.erase()
        connection.commit()
    assert receipt.index_entries == 2
    assert _everything_of_others(home) == before
    assert before


def _everything_of_others(home: Home) -> dict[str, list[tuple[Any, ...]]]:
    mine = "tenant_id = 'acme' AND user_id = 'ana'"
    return {table: sorted(home.rows(f"SELECT t::text FROM {table} t WHERE NOT ({mine})")) for table in PROTECTED}


@pytest.mark.parametrize("table", PROTECTED)
def test_bare_statements_reach_no_further(home: Home, table: str) -> None:
    """As the application's role: no scope shows nothing, a scope shows its own, and rows for others can't be made."""
    name = psycopg.sql.Identifier(table)
    look = psycopg.sql.SQL("SELECT tenant_id, user_id FROM {}").format(name)
    with psycopg.connect(home.url) as connection:
        assert connection.execute(look).fetchall() == []
        connection.execute("SELECT set_config('app.tenant_id', 'acme', true), set_config('app.user_id', 'ana', true)")
        assert set(connection.execute(look).fetchall()) <= {("acme", "ana")}
        count = home.count(f"SELECT count(*) FROM {table} WHERE tenant_id = 'acme' AND user_id = 'ana'")
        touched = connection.execute(psycopg.sql.SQL("UPDATE {} SET space = space").format(name)).rowcount
        assert touched == count
        if count:
            with pytest.raises(pg.InsufficientPrivilege):
                connection.execute(psycopg.sql.SQL("UPDATE {} SET user_id = 'bo'").format(name))


def test_the_application_cannot_lift_its_own_bounds(home: Home) -> None:
    attempts = (
        "SET row_security = off; SELECT * FROM memories",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_rows ON memories",
        "SET ROLE owner",
        "TRUNCATE memories",
        "CREATE FUNCTION public.leak() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
        "CREATE TABLE mine AS SELECT * FROM memories",
        "COPY memories TO PROGRAM 'cat'",
    )
    with psycopg.connect(home.url, autocommit=True) as connection:
        for attempt in attempts:
            with pytest.raises(pg.InsufficientPrivilege):
                connection.execute(attempt)
    assert home.count("SELECT count(*) FROM memories") == 1 + len(OTHERS)


def test_the_work_that_spans_users_tells_numbers_only(home: Home) -> None:
    with psycopg.connect(home.url) as connection:
        row = connection.execute("SELECT pending, error FROM recollect_backlog('hash:hash-64:64')").fetchone()
        assert row == (0, 0)
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,), "and leaves no scope behind"
