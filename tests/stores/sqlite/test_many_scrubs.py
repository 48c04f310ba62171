"""However often something is forgotten, the word index goes on saying what the entries say."""

from __future__ import annotations

from pathlib import Path

from recollect import Memory
from recollect.model import Scope
from recollect.stores.sqlite import SqliteStore

ROUNDS = 110
"""More than the 64 levels an FTS5 index can have: each merge takes one, and running out of them damages it."""


async def test_a_hundred_forgets_leave_the_index_sound(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="off") as memory:
        for number in range(40):
            memory.add(f"kept note {number} about the harbour")
        for number in range(ROUNDS):
            receipt = memory.add(f"passing thought {number} about the weather")
            assert memory.forget(receipt.id or "").scrubbed
        assert len(memory.search("harbour", limit=100)) == 40
        assert memory.search("weather").hits == ()
    store = await SqliteStore.open(path)
    assert [finding for finding in await store.checkup() if not finding.ok] == []
    found = await store.read(Scope("default", "local"), lambda tx: tx.index.frequencies(["weather", "harbour"]))
    await store.close()
    assert (found.get("weather", 0), found["harbour"]) == (0, 40)
