"""Nothing hostile runs, nothing legitimate is refused: the guard in front of real databases."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import InvalidInput, NotAllowed
from recollect.model import DataAccess, DataQuestion
from recollect.providers.answerers import SqlAnswerer
from recollect.providers.answerers.database import Database
from recollect.providers.answerers.guard import Guard, tables_in
from recollect.providers.answerers.running import Running
from recollect.providers.answerers.schema import Column, Schema, Table
from recollect.testing.chat import ScriptedChat
from tests.answerers.grounds import CANARY, SHOP, Ground
from tests.answerers.hostile import HOSTILE
from tests.answerers.legitimate import BOTH, legitimate, statements

REFUSALS = (NotAllowed, InvalidInput)
SMALL = Schema(
    (
        Table("sales", (Column("amount", "number"), Column("region_id", "number"))),
        Table("regions", (Column("region_id", "number"), Column("region_name"))),
    ),
    default="public",
)


def refused(guard: Guard, sql: str) -> bool:
    try:
        guard.check(sql)
    except REFUSALS:
        return True
    return False


def test_the_corpora_are_as_large_as_promised() -> None:
    assert len(set(HOSTILE)) >= 400
    assert min(len(set(legitimate("sqlite"))), len(set(legitimate("postgres")))) >= 70


async def test_nothing_hostile_passes(database: Database) -> None:
    guard = Guard(database.dialect, await database.schema(), 100)
    assert [sql for sql in HOSTILE if not refused(guard, sql)] == []


async def test_a_model_that_only_says_hostile_things_changes_nothing(ground: Ground, database: Database) -> None:
    """The whole way, the round of repair included, with all the rights there are."""
    before = ground.digest()
    for sql in HOSTILE:
        said = {"answerable": True, "sql": sql, "explanation": "", "headline": "", "related_questions": []}
        answerer = SqlAnswerer(database, ScriptedChat(otherwise=said))
        answer = await answerer.answer(DataQuestion(question="?", augmented="?"))
        assert not answer.answered, sql
        assert not answer.result, sql
        assert CANARY not in repr(answer), sql
    assert ground.digest() == before


async def test_everything_legitimate_passes_and_runs(ground: Ground, database: Database) -> None:
    before = ground.digest()
    running = Running(database, DataAccess(), {})
    schema = await running.schema()
    for sql in legitimate(ground.dialect):
        done = await running.run(sql, schema)
        assert len(done.rows.rows) <= 100, sql
        assert {each.name for each in done.passed.tables} <= set(SHOP), sql
    assert ground.digest() == before


async def test_the_second_lock_holds_without_the_guard(sqlite_ground: Ground) -> None:
    """SQLite itself refuses what is not allowed, even if it is asked directly."""
    database = sqlite_ground.open(timeout_s=0.5)
    schema, before = await database.schema(), sqlite_ground.digest()
    for sql in HOSTILE:
        try:
            rows = await database.run(sql, schema)
        except (*REFUSALS, UnicodeError):
            continue
        assert CANARY not in repr(rows), sql
    assert sqlite_ground.digest() == before
    await database.close()


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM sales",
        "INSERT INTO regions VALUES (9, 'x', 'y')",
        "CREATE TABLE x (y int)",
        "SELECT lo_create(0)",
        "SELECT 1; COMMIT; DELETE FROM sales",
        "WITH d AS (DELETE FROM sales RETURNING *) SELECT * FROM d",
        "SELECT * FROM sales FOR UPDATE",
    ],
)
async def test_postgres_refuses_to_write_without_the_guard(postgres_ground: Ground, sql: str) -> None:
    database = postgres_ground.open()
    before = postgres_ground.digest()
    with pytest.raises(InvalidInput):
        await database.run(sql, await database.schema())
    assert postgres_ground.digest() == before
    await database.close()


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT t.to_json FROM (SELECT 1 AS to_json) AS "T", (SELECT amount FROM sales) AS t',
        'SELECT (SELECT t.to_json FROM (SELECT 1 AS to_json) AS "T") FROM (SELECT amount FROM sales) AS t',
        "SELECT t.to_json FROM (SELECT amount AS to_json, region_id FROM sales) AS t(a, b)",
        "SELECT v.to_json FROM (VALUES (1)) AS v(a), (SELECT 1 AS to_json) AS w",
    ],
)
def test_a_name_that_is_no_column_of_its_row_is_a_call(sql: str) -> None:
    assert refused(Guard("postgres", SMALL, 100), sql)


def test_case_counts_where_the_database_counts_it() -> None:
    """For Postgres `"Secrets"` and `secrets` are two names: a query called the one doesn't make the other allowed."""
    shadowing = 'WITH "Secrets" AS (SELECT 1 AS note) SELECT * FROM secrets'
    assert refused(Guard("postgres", SMALL, 10), shadowing)
    assert refused(Guard("postgres", SMALL, 10), 'SELECT * FROM "Sales"')
    assert not refused(Guard("postgres", SMALL, 10), "SELECT * FROM Sales")
    assert not refused(Guard("sqlite", SMALL, 10), 'SELECT * FROM "Sales"')


def test_what_runs_is_written_anew() -> None:
    passed = Guard("postgres", SMALL, 10).check("select /* a */ region_name from regions -- b\n")
    assert passed.sql == "SELECT region_name FROM regions"
    assert passed.bounded == "SELECT region_name FROM regions LIMIT 11"
    assert [each.name for each in passed.tables] == ["regions"]


@pytest.mark.parametrize(
    ("asked", "bounded"),
    [("LIMIT 3", "LIMIT 3"), ("LIMIT 11", "LIMIT 11"), ("LIMIT 5000", "LIMIT 11"), ("", "LIMIT 11")],
)
def test_the_row_limit_is_never_exceeded(asked: str, bounded: str) -> None:
    assert Guard("sqlite", SMALL, 10).check(f"SELECT amount FROM sales {asked}").bounded.endswith(bounded)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM sales UNION ALL SELECT * FROM sales",
        "WITH a AS (SELECT * FROM sales) SELECT * FROM a LIMIT 99999",
    ],
)
def test_queries_of_several_parts_are_limited_as_a_whole(sql: str) -> None:
    assert Guard("sqlite", SMALL, 10).check(sql).bounded.endswith("LIMIT 11")


def test_tables_in_any_sql() -> None:
    assert tables_in("WITH a AS (SELECT * FROM x.y) SELECT * FROM a JOIN b ON 1 = 1") == ("b", "x.y")
    assert tables_in("this is no SQL (") == ()


_READS = [each for each in statements(BOTH) if each.startswith("SELECT")]
_GRAFTS = [
    "; DELETE FROM sales",
    " UNION SELECT note FROM secrets",
    ", (SELECT note FROM secrets)",
    " INTO stolen",
    " FOR UPDATE",
    ", pg_sleep(9)",
    ", load_extension('x')",
    " FROM secrets",
    " WHERE note = (SELECT note FROM secrets)",
]


@settings(max_examples=80)
@given(st.sampled_from(_READS), st.sampled_from(_GRAFTS), st.data(), st.sampled_from(["sqlite", "postgres"]))
def test_a_graft_never_lets_anything_else_in(sql: str, graft: str, data: st.DataObject, dialect: str) -> None:
    """Wherever something foreign is grafted onto a good statement: it is refused, or became a text, a name or a remark."""
    at = data.draw(st.integers(min_value=0, max_value=len(sql)))
    guard = Guard(dialect, SMALL, 10)
    try:
        passed = guard.check(sql[:at] + graft + sql[at:])
    except REFUSALS:
        return
    assert {each.name for each in passed.tables} <= {"sales", "regions"}
    outside = re.sub(r"""'[^']*'|"[^"]*\"""", "", passed.bounded).lower()
    assert not any(
        word in outside for word in ("secrets", "pg_sleep", "load_extension", "delete", " into ", "for update")
    )
    assert ";" not in outside


@settings(max_examples=80)
@given(st.text(max_size=60), st.sampled_from(_READS), st.sampled_from(["sqlite", "postgres"]))
def test_any_text_is_judged_without_breaking(text: str, sql: str, dialect: str) -> None:
    guard = Guard(dialect, SMALL, 10)
    for each in (text, sql.replace("region_name", text), f"{sql} {text}"):
        refused(guard, each)
