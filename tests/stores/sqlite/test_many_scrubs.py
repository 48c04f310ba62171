"""However often something is forgotten, the word index goes on saying what the entries say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from recollect import Memory
from recollect.stores.sqlite import fulltext

ROUNDS = 1_200
"""Each leaves the index two levels higher; at about two thousand of them SQLite damages it."""


def test_a_thousand_cleanings_leave_the_index_sound(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="off") as memory:
        kept = [{"role": "user", "content": f"kept note {number} about the harbour"} for number in range(300)]
        memory.add_turns("s", kept)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        columns = [row[1] for row in connection.execute("PRAGMA table_info(entries)") if row[1] != "seq"]
        copied = ", ".join({"target_id": "'passing'", "terms": "'passing thought'"}.get(name, name) for name in columns)
        pass_by = f"INSERT INTO entries ({', '.join(columns)}) SELECT {copied} FROM entries LIMIT 1"
        for _ in range(ROUNDS):
            connection.execute(pass_by)
            connection.execute("DELETE FROM entries WHERE target_id = 'passing'")
            fulltext.clean(connection)
        assert fulltext.agrees(connection)
    with Memory(path, embedder="off") as memory:
        assert len(memory.search("harbour", limit=500)) == 300
        assert memory.search("passing thought").hits == ()
