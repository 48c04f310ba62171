"""`recollect db reindex` mends what the doctor finds."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from typer.testing import CliRunner

from recollect import Memory
from recollect.cli import app


def test_a_damaged_word_index_is_found_and_mended(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="off") as memory:
        memory.add("the harbour at night")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO entries_fts(entries_fts) VALUES ('delete-all')")

    def run(*args: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, [*args, "--store", str(path)], env={"RECOLLECT_EMBEDDER": "off"})
        return done.exit_code, done.stdout

    code, said = run("doctor")
    assert code == 1
    assert "recollect db reindex" in " ".join(said.split())
    assert json.loads(run("db", "reindex", "--json")[1]) == {"reindexed": True}
    assert run("doctor")[0] == 0
    with Memory(path, embedder="off") as memory:
        assert len(memory.search("harbour", recipe="recall")) == 1
