"""A thousand histories of tables granted and taken away: nothing that comes from a lost table ever leaves."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from recollect.model import Scope
from recollect.providers.permissions.claims import ClaimPermissions
from recollect.stores.sqlite import SqliteStore
from recollect.testing import HashEmbedder, ScriptedAnswerer
from tests.api.homes import open_store, postgres_home, sqlite_home
from tests.doors.serving import served
from tests.doors.walking import OPERATIONS, TOLD, prepared
from tests.security.lost_tables import TABLES, History, Person, answer_about, opened, people, words_of
from tests.services.postgres import Database

PEOPLE = 100
TOGETHER = 20
HISTORIES = 10


@pytest.mark.parametrize("first", range(0, PEOPLE, TOGETHER))
async def test_nothing_of_a_lost_table_leaves(first: int) -> None:
    engine = opened(await SqliteStore.open(":memory:"))
    for number, person in people(first, TOGETHER):
        await History(engine, person, Random(number)).run(HISTORIES)
    await engine.close()


async def test_nor_does_it_on_postgres(tmp_path: Path, security_database: Database) -> None:
    engine = opened(await open_store(postgres_home(tmp_path, security_database)), HashEmbedder())
    for number, person in people(PEOPLE, 2):
        await History(engine, person, Random(number)).run(5)
        await engine.flush(person.scope.data)
    await engine.close()


async def test_no_operation_of_the_server_shows_it(tmp_path: Path) -> None:
    """Whoever comes without a token that grants something has lost everything; the words of before lead to it everywhere."""
    async with served(sqlite_home(tmp_path)) as server:
        known = await prepared(server)
        engine, ana = server.engine, Person(Scope("default", known.user))
        answerer = ScriptedAnswerer()
        engine.desk.answerer, engine.desk.permissions = answerer, ClaimPermissions("databases", "tables")
        for bird in TABLES:
            answerer.add(partial(answer_about, bird, "mixed"))
            question = f"How many {TOLD} ask{bird} in tbl{bird}?"
            fields = {"session_id": f"about-{bird}", "session_name": f"{TOLD} ttl{bird}", "databases": (TABLES[bird],)}
            assert (await engine.ask_data(ana.scope, ana.ask(question, **fields))).talk is not None
        everything = str(await engine.export_data(ana.scope, ana.ask()))
        words = [word for bird in TABLES for word in words_of(bird) if not word.startswith("rel")]
        assert all(word in everything for word in words)
        for operation in (each for each in OPERATIONS if not each.removes):
            for session in (known.session, *(f"about-{bird}" for bird in TABLES)):
                answer = await server.ana.request(**operation.request(replace(known, session=session)))
                said = answer.text.replace("about-", "")
                assert not [word for word in words if word in said], (operation, answer.text)
                if "{session_id}" not in operation.path:
                    break
