"""The database behind the guard: bounded in time and rows, told apart from a database that is away."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recollect.errors import InvalidInput, NotAllowed, Unavailable, Unsupported
from recollect.model import DataAccess
from recollect.providers.answerers.database import THREADS, Database
from recollect.providers.answerers.running import Running
from tests.answerers.grounds import SHOP, Ground

BOMB = "SELECT SUM(a.amount * b.amount) FROM sales a CROSS JOIN sales b CROSS JOIN sales c CROSS JOIN sales d"


async def test_what_would_take_for_ever_is_ended(ground: Ground, database: Database) -> None:
    schema = await database.schema()
    hurried = ground.open(timeout_s=1.0)
    running = Running(hurried, DataAccess(), {})
    with pytest.raises(InvalidInput, match="longer than 1 s"):
        await running.run(BOMB, schema)
    assert (await running.run("SELECT COUNT(*) FROM regions", schema)).rows.rows == ((4,),)
    await hurried.close()


async def test_who_would_wait_too_long_is_told_to_come_back(ground: Ground, database: Database) -> None:
    schema = await database.schema()
    hurried = ground.open(timeout_s=0.3)
    running = Running(hurried, DataAccess(), {})
    told = await asyncio.gather(*(running.run(BOMB, schema) for _ in range(40)), return_exceptions=True)
    waited = [each for each in told if isinstance(each, Unavailable)]
    assert len(waited) >= 40 - 3 * THREADS
    assert {each.details["retry_after_s"] for each in waited} == {0.3}
    assert all(isinstance(each, InvalidInput) for each in told if each not in waited)
    await hurried.close()


async def test_a_cross_join_gives_no_more_than_the_limit(database: Database) -> None:
    running = Running(database, DataAccess(), {"vql_execute_rows_limit": 7})
    done = await running.run("SELECT a.sale_id FROM sales a, sales b", await running.schema())
    assert len(done.rows.rows) == 7
    assert done.rows.truncated


async def test_a_large_result_ends_where_there_is_no_more_room(postgres_ground: Ground) -> None:
    database = postgres_ground.open()
    schema = await database.schema()
    found = await database.run("SELECT repeat('x', 200000) AS wide FROM sales LIMIT 101", schema)
    assert found.truncated
    assert 40 <= len(found.rows) < 100
    assert found.columns == ("wide",)
    await database.close()


async def test_the_schema_is_read_with_links_and_words(database: Database) -> None:
    schema = await database.schema()
    assert [each.name for each in schema.tables] == sorted(SHOP)
    sales, regions = schema.table("sales"), schema.table("regions")
    assert sales is not None
    assert regions is not None
    assert {(each.column, each.table) for each in sales.links} == {
        ("region_id", "regions"),
        ("product_id", "products"),
        ("customer_id", "customers"),
    }
    names = regions.column("region_name")
    assert names is not None
    assert names.values == ("East", "North", "South", "West")
    assert names.complete
    assert {each.name: each.kind for each in sales.columns}["sale_date"] == "date"


async def test_only_tables_on_the_list_exist(ground: Ground) -> None:
    database = ground.open(tables=("sales", "nowhere"))
    assert [each.name for each in (await database.schema()).tables] == ["sales"]
    await database.close()


async def test_links_nobody_declared_are_found(tmp_path: Path) -> None:
    path = tmp_path / "loose.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE stores (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE visits (store_id INTEGER, day TEXT);"
            "INSERT INTO stores VALUES (1, 'Main'); INSERT INTO visits VALUES (1, '2024-05-01')"
        )
    database = Database(f"sqlite:///{path}")
    visits = (await database.schema()).table("visits")
    assert visits is not None
    assert [(each.column, each.table, each.key) for each in visits.links] == [("store_id", "stores", "id")]
    assert visits.columns[1].kind == "date"
    await database.close()


async def test_a_view_may_read_what_it_was_made_of(tmp_path: Path) -> None:
    path = tmp_path / "views.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE raw (n INTEGER); INSERT INTO raw VALUES (3); CREATE VIEW shown AS SELECT n FROM raw"
        )
    database = Database(f"sqlite:///{path}", ("shown",))
    running = Running(database, DataAccess(), {})
    schema = await running.schema()
    assert (await running.run("SELECT n FROM shown", schema)).rows.rows == ((3,),)
    with pytest.raises(NotAllowed):
        await running.run("SELECT n FROM raw", schema)
    await database.close()


async def test_values_that_json_has_no_words_for(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE odd (n REAL, raw BLOB, broken TEXT, long TEXT)")
        connection.execute("INSERT INTO odd VALUES (9e999, x'00ff', CAST(x'61ff62' AS TEXT), ?)", ("x" * 5000,))
    database = Database(f"sqlite:///{path}")
    running = Running(database, DataAccess(), {})
    done = await running.run("SELECT n, raw, broken, long FROM odd", await running.schema())
    assert done.rows.rows == (("inf", "(2 bytes)", "a\ufffdb", "x" * 2000),)
    json.dumps(done.rows.as_result(), allow_nan=False)
    await database.close()


async def test_numbers_of_postgres_are_numbers(postgres_ground: Ground) -> None:
    database = postgres_ground.open()
    running = Running(database, DataAccess(), {})
    sql = "SELECT CAST('NaN' AS NUMERIC), CAST(2.50 AS NUMERIC), CAST(3 AS NUMERIC), POWER(CAST(10 AS NUMERIC), 99)"
    [(nan, half, three, huge)] = (await running.run(sql, await running.schema())).rows.rows
    assert (nan, half, three) == ("NaN", 2.5, 3)
    assert isinstance(huge, str)
    await database.close()


async def test_grants_cut_the_schema(database: Database) -> None:
    running = Running(database, DataAccess(tables=frozenset({"sales"})), {})
    schema = await running.schema()
    assert [each.name for each in schema.tables] == ["sales"]
    assert schema.tables[0].links == ()
    with pytest.raises(NotAllowed):
        await running.run("SELECT * FROM regions", schema)
    other = Running(database, DataAccess(databases=frozenset({"elsewhere"})), {})
    assert (await other.schema()).tables == ()
    for grant, tables in ((f"{database.name}.sales", ["sales"]), ("elsewhere.sales", [])):
        qualified = Running(database, DataAccess(tables=frozenset({grant})), {})
        assert [each.name for each in (await qualified.schema()).tables] == tables


async def test_a_database_that_is_away_is_unavailable(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path / 'missing.db'}", "postgresql://nobody:x@127.0.0.1:9/none?connect_timeout=2"):
        database = Database(url)
        with pytest.raises(Unavailable) as caught:
            await database.schema()
        assert "nobody" not in caught.value.message
        await database.close()


@pytest.mark.parametrize("url", ["", "not a url", "sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=rw"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InvalidInput, match="RECOLLECT_DATA_URL"):
        Database(url)


def test_unknown_databases_are_named() -> None:
    with pytest.raises(Unsupported, match="access"):
        Database("access+pyodbc://x")


@pytest.mark.parametrize("limit", [0, -1, True, "5", 1.5])
async def test_an_odd_row_limit_is_the_callers_mistake(shop: Database, limit: object) -> None:
    with pytest.raises(InvalidInput, match="vql_execute_rows_limit"):
        Running(shop, DataAccess(), {"vql_execute_rows_limit": limit})
