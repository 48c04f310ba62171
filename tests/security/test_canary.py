"""Forgotten means gone: a word stored in every field is sought in every byte and every column, past the code that forgot it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from recollect import Memory, RecollectError
from recollect.model import Query, Scope
from recollect.testing import HashEmbedder, columns_containing, files_containing
from tests.api.homes import Home, engine_over, open_store, postgres_home
from tests.providers.wire import SIZE, EmbeddingServer, Fault
from tests.services.postgres import Database

CANARY = "qzvxkanarrr7"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
def memory(home: Home, server: EmbeddingServer) -> Iterator[Memory]:
    """With an embedder, so that vectors, jobs and caches are in play as well."""
    settings: dict[str, Any] = {"embedder": "openai", "embedder_url": f"{server.url}/v1", "embedder_model": "m"}
    with home.memory(embedder_dimensions=SIZE, embedder_timeout_s=1, **settings) as opened:
        for number in range(20):
            opened.add(f"bystander{number} about tea", tags=["plain"], theme="drinks")
        opened.add_turns("small talk", [{"role": "user", "content": "bystander in a talk"}])
        opened.flush(120)
        yield opened


def traces(home: Home) -> list[str]:
    """Wherever the canary lies: files of SQLite, columns of Postgres."""
    if home.database is not None:
        return columns_containing(home.database.superuser_url, CANARY)
    return [path.name for path in files_containing(home.folder, CANARY)]


def store_everywhere(memory: Memory) -> list[str]:
    """The canary in every field a memory has."""
    everywhere = {
        "tags": [CANARY, f"{CANARY}-two"],
        "theme": f"theme {CANARY}",
        "key": f"key {CANARY}",
        "value": {CANARY: [CANARY]},
        "role": CANARY,
        "source_conversation_id": CANARY,
        "source_message_id": CANARY,
    }
    first = memory.add(f"{CANARY} is the word, {CANARY}!", **everywhere)
    second = memory.add(f"now {CANARY.upper()} is another", **everywhere)
    assert second.outcome == "superseded", "an earlier version under the same key is kept, and must go as well"
    derived = memory.add(f"derived from {CANARY}", source_ids=[second.id])
    memory.flush(120)
    return [first.id or "", second.id or "", derived.id or ""]


def talk_everywhere(memory: Memory) -> None:
    turn = {"role": CANARY, "name": CANARY, "content": f"{CANARY} was said", "correlation_id": CANARY}
    memory.add_turns(CANARY, [turn, {"role": "assistant", "content": f"so {CANARY} it is"}])
    memory.flush(120)


def assert_not_found(memory: Memory) -> None:
    """Nothing that is found says it; what lies nearby as a vector may be shown."""
    assert not [hit for hit in memory.search(CANARY, limit=100) if CANARY in repr(hit)]


def assert_bystanders(memory: Memory) -> None:
    assert memory.list(tags=["plain"], limit=1).total == 20
    assert "bystander7 about tea" in {hit.content for hit in memory.search("bystander7")}


def test_the_probe_sees_what_is_there(memory: Memory, home: Home) -> None:
    store_everywhere(memory)
    talk_everywhere(memory)
    assert traces(home)


def test_forgotten_memories_leave_nothing(memory: Memory, home: Home) -> None:
    ids = store_everywhere(memory)
    assert memory.search(CANARY).hits
    receipt = memory.forget(*ids[:2])
    assert (receipt.memories, receipt.derived, receipt.scrubbed) == (2, 1, True)
    assert traces(home) == []
    assert_not_found(memory)
    assert_bystanders(memory)
    memory.close()
    assert traces(home) == []


def test_a_forgotten_conversation_leaves_nothing(memory: Memory, home: Home) -> None:
    talk_everywhere(memory)
    assert memory.search(CANARY, kinds=("message",)).hits
    receipt = memory.forget(session_id=CANARY)
    assert (receipt.conversations, receipt.messages, receipt.scrubbed) == (1, 2, True)
    assert traces(home) == []
    assert_bystanders(memory)


def test_erasing_a_person_leaves_nothing_not_even_names(memory: Memory, home: Home) -> None:
    for other in (memory.at(user=CANARY), memory.at(user=CANARY, space=f"space {CANARY}")):
        store_everywhere(other)
        talk_everywhere(other)
        other.add("an id too", id=CANARY)
    assert memory.at(user=CANARY).forget(everything=True).scrubbed
    assert traces(home) == []
    assert_bystanders(memory)


def test_what_an_update_replaced_is_gone_when_the_memory_is(memory: Memory, home: Home) -> None:
    receipt = memory.add(f"{CANARY} was here", tags=[CANARY], value=CANARY, theme=CANARY)
    memory.flush(120)
    memory.update(receipt.id or "", text="nothing to see", tags=["plain"], value=None, theme="drinks")
    memory.flush(120)
    assert_not_found(memory)
    assert receipt.id in {hit.target.id for hit in memory.search("nothing to see")}
    memory.forget(receipt.id or "")
    assert traces(home) == []
    assert_bystanders(memory)


def test_forgetting_before_it_was_embedded_leaves_no_job(memory: Memory, home: Home, server: EmbeddingServer) -> None:
    """The model is down and, worse, repeats what it was sent: neither the queue nor its errors keep the word."""
    body = b'{"error": {"message": "cannot embed: ' + CANARY.encode() + b' was here"}}'
    server.faults.extend([Fault(status=400, body=body)] * 200)
    receipt = memory.add(f"{CANARY} was here")
    memory.flush(120)
    errors = home.rows("SELECT error FROM embeddings WHERE error IS NOT NULL")
    assert errors
    assert not [error for (error,) in errors if CANARY in error]
    memory.forget(receipt.id or "")
    assert home.count("SELECT count(*) FROM embeddings WHERE target_id = ?", [receipt.id]) == 0
    assert traces(home) == []


_FILES = """
SELECT c.relname::text FROM pg_class c WHERE (c.relkind IN ('r', 't') OR c.relname = 'entries_tsv')
AND c.relfilenode <> 0 AND c.relnamespace <> 'pg_catalog'::regnamespace
AND (position(%(word)s::bytea IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0)
"""
_STATISTICS = """
SELECT tablename::text || '.' || attname FROM pg_stats
WHERE concat(most_common_vals, histogram_bounds, most_common_elems) LIKE '%%' || %(word)s || '%%'
"""


def server_traces(database: Database) -> dict[str, list[str]]:
    """Below the tables: bytes of dead rows and of the word index, and the samples a planner keeps."""
    with psycopg.connect(database.superuser_url, autocommit=True) as server:
        server.execute("CHECKPOINT")
        looks = {"files": _FILES, "statistics": _STATISTICS}
        return {name: [row[0] for row in server.execute(look, {"word": CANARY})] for name, look in looks.items()}


def test_a_postgres_server_keeps_no_bytes_of_it(tmp_path: Path, security_database: Database) -> None:
    """A deleted row is invisible at once, but its bytes, its words in the index and what ANALYZE noted are not gone with it."""
    home = postgres_home(tmp_path, security_database)
    with home.memory() as memory:
        ids = store_everywhere(memory)
        talk_everywhere(memory)
        for number in range(50):
            memory.add(f"bystander{number}", tags=["plain"], theme="drinks", key=f"key{number}")
        home.rows("ANALYZE")
        before = server_traces(security_database)
        assert before["files"], "the probe sees what is there"
        assert before["statistics"] == [], "nobody's words are sampled in the first place"
        memory.forget(*ids[:2])
        memory.forget(session_id=CANARY)
        assert server_traces(security_database) == {"files": [], "statistics": []}


async def test_late_work_does_not_bring_an_erased_person_back(home: Home) -> None:
    """A worker was embedding and accesses were noted when the person left: finishing that must not write their name again."""
    store = await open_store(home)
    engine = engine_over(store)
    scope = Scope("acme", CANARY)
    for number in range(2):
        await engine.remember(scope, {"content": f"{CANARY} number {number}"})
    generation = (await engine.generations.to_fill())[0]
    at = engine.clock.now()
    first, second = await store.write(scope, lambda tx: tx.embeddings.claim(generation, at, engine.config.lease, 9))
    assert await engine.recall(scope, Query(text=CANARY))
    await engine.erase_user("acme", CANARY)
    vector = (await HashEmbedder().embed([first.content]))[0]
    assert await store.write(scope, lambda tx: tx.embeddings.settle([(first, vector)], at)) == 0
    await store.write(scope, lambda tx: tx.embeddings.fail([second], "too late", at, at))
    await engine.notes.write(store, engine.clock)
    await engine.flush(scope, 120)
    await engine.close()
    assert traces(home) == []


def test_logs_never_carry_content(memory: Memory, home: Home, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        ids = store_everywhere(memory)
        talk_everywhere(memory)
        memory.search(CANARY, tags=[CANARY], themes=[CANARY], history=[CANARY])
        memory.update(ids[1], text=f"{CANARY} again", value=[CANARY])
        lines = list(memory.export())
        memory.at(space="copy").load(lines)
        memory.flush(120)
        memory.forget(*ids[:2])
        memory.forget(everything=True)
    told = [record.getMessage() + str(record.exc_text or "") for record in caplog.records]
    assert not [line for line in told if CANARY in line]


def test_errors_never_carry_content(memory: Memory) -> None:
    text = f"{CANARY} was here"
    memory.add(text, id="taken")
    memory.add_turns("talk", [{"role": "user", "content": "hello", "id": "said"}])
    attempts: list[Callable[[], Any]] = [
        lambda: memory.add(f"other {text}", id="taken"),
        lambda: memory.add(f"{text}\x00"),
        lambda: memory.add(f"{text}\ud800"),
        lambda: memory.add(text * 100_000),
        lambda: memory.add("x", tags=CANARY),
        lambda: memory.add("x", tags=[f"{CANARY}\x00"]),
        lambda: memory.add("x", key=CANARY * 100),
        lambda: memory.add("x", value={CANARY: object()}),
        lambda: memory.add("x", value=float("nan")),
        lambda: memory.add("x", type=CANARY),
        lambda: memory.add("x", expires_at=CANARY),
        lambda: memory.add("x", importance=CANARY),
        lambda: memory.update("taken", text=f"{text}\x00"),
        lambda: memory.update("taken", value=float("inf")),
        lambda: memory.add_turns("other", [{"role": "user", "content": text, "id": "said"}]),
        lambda: memory.add_turns("talk", [{"role": "user", "content": f"{text}\x00"}]),
        lambda: memory.add_turns("talk", [{"content": text, "id": "a"}, {"content": text, "id": "a"}]),
        lambda: memory.search(f"{CANARY}", min_relevance=7),
        lambda: memory.search("x", tags=[f"{CANARY}\x00"]),
        lambda: memory.search("x", since=CANARY),
        lambda: memory.load([{"kind": "memory", "content": text}]),
        lambda: memory.load([{"kind": "memory", "id": "x", "content": f"{text}\x00"}]),
        lambda: memory.load([{"kind": "message", "content": text, "tokens": CANARY}]),
    ]
    for number, attempt in enumerate(attempts):
        with pytest.raises(RecollectError) as refusal:
            attempt()
        told = "".join(traceback.format_exception(refusal.value, chain=True)) + repr(refusal.value.details)
        assert CANARY not in told, number
