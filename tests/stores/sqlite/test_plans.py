"""No statement that names an id, a digest, a key or a moment reads a whole scope, let alone a whole table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.expression import SelectBase

from recollect.stores import migrations
from recollect.stores.sql import conversations, embeddings, index, ledger, memories, space, system
from recollect.stores.sqlite.session import DIALECT

WHOLE_SCOPE = {
    "memories._SCAN",
    "memories._DESCENDANTS",
    "conversations._LIST",
    "conversations._COUNT",
    "conversations._SCAN",
    "embeddings._MISSING",
    "ledger._HOLDS_ANYTHING",
    "embeddings._BACKLOG",
    "space._THEMES",
    "space._EXHUME",
    "space._GRAVES",
    "space._DECLARED_LONG_AGO",
    "space._DROP_DECLARED",
    "space._AUDIT",
    "space._AUDITED",
    "space._IDLE",
    "space._STONES",
    "space._SAYINGS",
    "space._WORKINGS",
}
"""What is asked of these is about everything a scope holds (or, on the way, about a few rows of it)."""

WHOLE_TABLE = {"system._ALL", "system._RETIRE", "system._DROP_VECTORS", "system._BACKLOG"}
"""A handful of generations; dropping one; and counting what waits, in an index that holds nothing else."""


HARMLESS = {"SCAN CONSTANT ROW", "SCAN generations"}
"""No table at all, and one that never has more than a handful of rows."""


def statements() -> Iterator[tuple[str, Any]]:
    for module in (conversations, embeddings, index, ledger, memories, space, system):
        for name, value in vars(module).items():
            if isinstance(value, (SelectBase, UpdateBase)):
                yield f"{module.__name__.rsplit('.', 1)[-1]}.{name}", value


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("plans") / "memory.db"
    migrations.upgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        yield connection


@pytest.mark.parametrize(
    ("name", "statement"), [*statements()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_planner_finds_rows_by_their_key(name: str, statement: Any, database: sqlite3.Connection) -> None:
    sql = DIALECT.prepare(statement).sql
    params = dict.fromkeys(re.findall(r":(\w+)", sql), "[]")
    plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
    tables = [step for step in plan if "VIRTUAL TABLE" not in step and step not in HARMLESS]
    own = [step for step in tables if step.startswith(("SCAN", "SEARCH"))]
    if name not in WHOLE_TABLE:
        assert [step for step in own if step.startswith("SCAN")] == []
    if name not in WHOLE_SCOPE:
        assert [
            step for step in own if step.endswith("(tenant_id=? AND user_id=? AND space=?)") and "spaces" not in step
        ] == []
