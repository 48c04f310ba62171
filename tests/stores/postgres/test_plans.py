"""`recollect db plan`: every statement has an index behind it, and a missing one is noticed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import psycopg
import pytest

from recollect.model import Scope
from recollect.ports import store as ports
from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.plans import EVERYBODY, WHOLE_SCOPE, examined, faults
from recollect.stores.postgres.rounds import SCRATCH, rounds
from tests.cli.conftest import CommandLine, cli
from tests.contract.samples import generation
from tests.services.postgres import Database, PostgresServer
from tests.stores.postgres.filling import fill

__all__ = ["cli"]

ASPECTS = {
    "memories": ports.Memories,
    "links": ports.Links,
    "conversations": ports.Conversations,
    "index": ports.Index,
    "embeddings": ports.Embeddings,
    "space": ports.Space,
}


@pytest.fixture
def filled(postgres: PostgresServer) -> Iterator[Database]:
    def build(database: Database) -> None:
        migrations.upgrade(database.owner_url, app_role="app")
        fill(database)

    made = postgres.fresh_database(postgres.build_template("filled", build))
    yield made
    postgres.discard(made)


def administer(database: Database, statement: str) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute(statement.encode())


async def test_the_rounds_know_every_verb_of_a_transaction_and_leave_nothing(store: PostgresStore) -> None:
    begun: list[str] = []
    await store.rehearse(SCRATCH, lambda tx: rounds(tx, begun.append))
    verbs = {
        f"{aspect}.{name}"
        for aspect, protocol in ASPECTS.items()
        for name, _ in inspect.getmembers(protocol, inspect.isfunction)
        if not name.startswith("_")
    }
    assert verbs - set(begun) == set()
    assert set(WHOLE_SCOPE) <= {*begun, "tx.begin"}
    assert await store.system(lambda system: system.scopes(None, 10)) == []


async def test_in_a_filled_database_every_statement_goes_by_the_right_index(filled: Database) -> None:
    store = await PostgresStore.open(filled.app_url, pool_size=1)
    await store.system(lambda system: system.add_generation(generation()))
    await store.close()
    found = await examined(filled.app_url)
    assert found.scope == Scope("acme", "ana")
    assert {plan.verb: plan.faults for plan in found.plans if plan.faults} == {}
    twin = next(plan for plan in found.plans if plan.verb == "memories.twin")
    assert (twin.summary, twin.forced) == (("Index Scan ix_memories_digest",), False)


@pytest.mark.parametrize(
    ("loss", "verb", "fault"),
    [
        ("DROP INDEX ix_memories_digest", "memories.twin", "reads all that the user has in memories"),
        ("DROP INDEX ix_messages_history", "conversations.history", "reads all that the user has in messages"),
        ("DROP INDEX ix_entries_revision", "index.changes", "reads all that the user has in entries"),
    ],
)
async def test_a_missing_index_is_noticed_in_a_filled_database(
    filled: Database, loss: str, verb: str, fault: str
) -> None:
    administer(filled, loss)
    found = await examined(filled.app_url)
    assert not found.ok
    said = {plan.verb: plan.faults for plan in found.plans if plan.faults}
    assert any(fault in each for each in said[verb])


def test_the_command_says_so_and_fails(database: Database, cli: CommandLine) -> None:
    good = cli.json("db", "plan", "--store", database.app_url)
    assert good["ok"]
    assert good["scope"] is None
    administer(database, "DROP INDEX ix_spaces_work")
    bad = cli("db", "plan", "--store", database.app_url, code=1).stdout
    said = " ".join(bad.split())
    assert (
        "NOT INDEXED system.waiting: Seq Scan spaces (with enable_seqscan off) → reads spaces from end to end" in said
    )
    assert "fill the database for a full answer" in said


def test_a_server_is_asked_for(cli: CommandLine) -> None:
    assert "about Postgres" in cli("db", "plan", code=1).output


def test_what_is_about_everything_says_why() -> None:
    assert all(len(reason.split()) > 1 for reason in (*WHOLE_SCOPE.values(), *EVERYBODY.values()))
    walk = {
        "Node Type": "Index Scan",
        "Index Name": "ix_spaces_work",
        "Relation Name": "spaces",
        "Index Cond": "(work_due <= 1)",
    }
    assert list(faults("system.waiting", walk, ())) == []
    assert list(faults("memories.get", walk, ())) == ["walks ix_spaces_work without naming the user"]
