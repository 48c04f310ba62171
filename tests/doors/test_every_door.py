"""One memory behind every door: what goes in through one is there through all the others, and so is its end.

And silence behind every door: while memory is off, or the session incognito, none of them stores or finds anything durable. The
walk covers the app's own table of operations, so that a new door can't be left out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
import redis
from pydantic import BaseModel

from recollect.doors.companion import wire as companion_wire
from recollect.doors.datachat import wire as datachat_wire
from recollect.doors.longterm import wire as longterm_wire
from recollect.doors.native.wire import account as native_account
from recollect.doors.native.wire import conversations as native_conversations
from recollect.doors.native.wire import links as native_links
from recollect.doors.native.wire import memories as native_memories
from recollect.doors.recall import wire as recall_wire
from recollect.engine.embedding import embed
from recollect.model import Scope
from recollect.settings import Settings
from recollect.stores.sql.tables import metadata
from recollect.testing import columns_containing, files_containing
from tests.api.homes import KINDS, Home, migrated, postgres_home, sqlite_home
from tests.doors.serving import Served, app_over
from tests.doors.serving import served as serving
from tests.doors.walking import BEFORE, NOW, OPERATIONS, TOLD, Operation, prepared
from tests.providers.wire import SIZE, EmbeddingServer
from tests.services.valkey import ValkeyServer

ANA = Scope("default", "ana")
TEXT = "The zeppelin lands on Thursday"

Writer = Callable[[httpx.AsyncClient, str], Awaitable[httpx.Response]]
Reader = Callable[[httpx.AsyncClient, str], Awaitable[httpx.Response]]


def _line(text: str) -> str:
    at = "2026-01-01T00:00:00+00:00"
    return json.dumps(
        {"kind": "memory", "id": uuid4().hex, "content": text, "theme": "travel", "created_at": at, "updated_at": at}
    )


LINES = {"Content-Type": "application/x-ndjson"}
WRITERS: dict[str, Writer] = {
    "native": lambda c, text: c.post("/v1/memories", json={"text": text, "theme": "Travel"}),
    "companion": lambda c, text: c.post("/v1/memory/entries", json={"text": text}),
    "nova": lambda c, text: c.post("/v1/tools/memory.add", json={"type": "fact", "content": text, "theme": "Travel"}),
    "import": lambda c, text: c.post("/v1/import", content=_line(text), headers=LINES),
}
READERS: dict[str, Reader] = {
    "native list": lambda c, _: c.get("/v1/memories"),
    "native get": lambda c, id: c.get(f"/v1/memories/{id}"),
    "native why": lambda c, id: c.get(f"/v1/memories/{id}/why"),
    "native search": lambda c, _: c.post("/v1/memories/search", json={"query": "zeppelin"}),
    "native context": lambda c, _: c.post("/v1/memories/context", json={"query": "zeppelin"}),
    "native export": lambda c, _: c.get("/v1/export"),
    "companion entries": lambda c, _: c.get("/v1/memory/entries"),
    "long-term list": lambda c, _: c.get("/memory/long-term"),
    "long-term get": lambda c, id: c.get(f"/memory/long-term/{id}"),
    "recall": lambda c, _: c.post("/v1/recall", json={"query": "when does the zeppelin land?"}),
    "nova search": lambda c, _: c.post("/v1/tools/memory.search", json={"query": "zeppelin"}),
    "nova get": lambda c, id: c.post("/v1/tools/memory.get", json={"item_id": id}),
    "nova items": lambda c, _: c.get("/v1/items"),
    "nova query_memory": lambda c, _: c.post("/v1/tools/query_memory", json={"query": "zeppelin landing"}),
}
FORGETTERS: dict[str, Reader] = {
    "native": lambda c, id: c.delete(f"/v1/memories/{id}"),
    "native several": lambda c, id: c.post("/v1/memories/forget", json={"ids": [id]}),
    "native clear": lambda c, _: c.post("/v1/memories/clear", json={"confirm": "default"}),
    "companion": lambda c, id: c.delete(f"/v1/memory/entries/{id}"),
    "long-term": lambda c, id: c.delete(f"/memory/long-term/{id}"),
    "long-term all": lambda c, _: c.delete("/memory/long-term"),
    "nova": lambda c, id: c.post("/v1/tools/memory.delete", json={"item_id": id}),
    "erase": lambda c, _: c.request("DELETE", "/v1/me", json={"confirm": c.headers["X-User-ID"]}),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=KINDS)
async def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """One app for many people: each test is somebody else."""
    folder = tmp_path_factory.mktemp("shared")
    if request.param == "sqlite":
        home = sqlite_home(folder)
    else:
        home = postgres_home(folder, migrated(request.getfixturevalue("postgres")))
    async with serving(home) as app:
        yield app


@pytest.fixture
def person(shared: Served) -> httpx.AsyncClient:
    return shared.client(uuid4().hex)


async def remembered(writer: str, person: httpx.AsyncClient) -> str:
    answer = await WRITERS[writer](person, TEXT)
    assert answer.status_code in (200, 201), answer.text
    (item,) = (await person.get("/v1/memories")).json()["items"]
    id: str = item["id"]
    return id


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("writer", WRITERS)
async def test_written_through_one_read_through_every_other(
    person: httpx.AsyncClient, shared: Served, writer: str, reader: str
) -> None:
    id = await remembered(writer, person)
    shown = await READERS[reader](person, id)
    assert (shown.status_code, TEXT in shown.text) == (200, True), shown.text
    foreign = await READERS[reader](shared.client("stranger"), id)
    assert foreign.status_code in (200, 404)
    assert TEXT not in foreign.text


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("forgetter", FORGETTERS)
@pytest.mark.parametrize("writer", ["native", "companion", "nova"])
async def test_forgotten_through_one_gone_from_every_other(
    person: httpx.AsyncClient, shared: Served, writer: str, forgetter: str
) -> None:
    id = await remembered(writer, person)
    gone = await FORGETTERS[forgetter](person, id)
    assert gone.status_code == 200, gone.text
    for name, reader in READERS.items():
        shown = await reader(person, id)
        assert shown.status_code in (200, 404), name
        assert TEXT not in shown.text, name
    buried = forgetter != "erase"
    for name in ("native", "companion", "nova"):
        again = await WRITERS[name](person, TEXT)
        assert ("tombstone" in again.text) is buried, (name, again.text)
        await person.post("/v1/memories/clear", json={"confirm": "default"})
        buried = True


@pytest.mark.asyncio(loop_scope="module")
async def test_changed_through_one_changed_for_every_other(person: httpx.AsyncClient) -> None:
    id = await remembered("companion", person)
    await person.post(f"/v1/memory/entries/{id}/pin")
    assert (await person.get(f"/v1/memories/{id}")).json()["pinned"]
    await person.delete(f"/v1/memories/{id}/pin")
    assert (await person.get("/v1/memory/entries?pinned=true")).json()["total"] == 0
    await person.post("/v1/tools/memory.update", json={"item_id": id, "content": "The zeppelin lands on Friday"})
    assert (await person.get(f"/memory/long-term/{id}")).json()["value"] == "The zeppelin lands on Friday"
    await person.patch(f"/v1/memories/{id}", json={"type": "decision"})
    (item,) = (await person.post("/v1/recall", json={"query": "zeppelin"})).json()["items"]
    assert (item["type"], item["content"]) == ("decision", "The zeppelin lands on Friday")
    await person.post("/v1/memory/settings", json={"memory_enabled": False})
    assert not (await person.get("/v1/spaces/default/settings")).json()["memory_enabled"]


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
async def watched(home: Home, embeddings: EmbeddingServer, valkey: ValkeyServer) -> AsyncIterator[Served]:
    """With everything that could keep a trace: an embedder, a shared cache, a log."""
    settings = {"embedder": "openai", "embedder_url": f"{embeddings.url}/v1", "embedder_model": "m"}
    async with serving(home, **settings, embedder_dimensions=SIZE, redis_url=valkey.url) as app:
        yield app


def operations(*kinds: str) -> list[Operation]:
    return [operation for operation in OPERATIONS if operation.kind in kinds]


Tables = dict[str, list[tuple[Any, ...]]]


async def tables(served: Served) -> Tables:
    """Every row of every table, past the code under test, once everything that was put off is written.

    But for the server's own counts, which are nobody's: a look at them is written whenever a minute begins.
    """
    await served.engine.flush(ANA, 120)
    await served.engine.settle_debts()
    named = set(metadata.tables) - {"operations"}
    return {name: sorted(served.home.rows(f"SELECT * FROM {name}"), key=repr) for name in named}


def traces(served: Served, word: str) -> list[str]:
    """Wherever the word lies: files of SQLite, columns of Postgres."""
    if served.home.database is not None:
        return columns_containing(served.home.database.superuser_url, word)
    return [path.name for path in files_containing(served.home.folder, word)]


def cached(valkey: ValkeyServer) -> dict[bytes, bytes | None]:
    """Whatever the shared cache holds but counters, which hold a number."""
    with redis.Redis.from_url(valkey.url) as client:
        kept = {key: client.get(key) for key in client.scan_iter()}
    return {key: value for key, value in kept.items() if not (value or b"").isdigit()}


async def _incognito(served: Served) -> httpx.AsyncClient:
    started = await served.ana.post("/v1/memory/incognito/start")
    return served.client("ana", X_Session_ID=started.json()["session_id"])


async def _off(served: Served) -> httpx.AsyncClient:
    await served.ana.post("/v1/memory/settings", json={"memory_enabled": False})
    return served.ana


async def _incognito_by_default(served: Served) -> httpx.AsyncClient:
    await served.ana.post("/v1/memory/settings", json={"incognito_default": True})
    return served.ana


async def _incognito_session_by_default(served: Served) -> httpx.AsyncClient:
    await served.ana.post("/v1/memory/settings", json={"incognito_default": True})
    return served.client("ana", X_Session_ID="not declared to be anything")


MODES = [_incognito, _off, _incognito_by_default, _incognito_session_by_default]
SEES_NOTHING = (_incognito, _incognito_session_by_default)


def test_the_walk_passes_every_operation(tmp_path: Path) -> None:
    paths = app_over(Settings.load({}, data_dir=tmp_path)).openapi()["paths"]
    there = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert there == {(each.method, each.path) for each in OPERATIONS}


async def test_the_walk_would_leave_traces_if_it_were_let(watched: Served) -> None:
    """Otherwise it would prove nothing: with memory on, every look and recall finds, and every write stores."""
    known = await prepared(watched)
    for operation in operations("look", "recall"):
        answer = await watched.ana.request(**operation.request(known))
        assert answer.status_code == 200, (operation, answer.text)
        assert BEFORE in answer.text.lower(), operation
    for operation in operations("write"):
        before = await tables(watched)
        answer = await watched.ana.request(**operation.request(known))
        assert answer.is_success, (operation, answer.text)
        after = await tables(watched)
        assert any(after[name] != before[name] for name in after if name != "audit_events"), operation
    assert traces(watched, NOW)


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_durable_is_stored_or_found(
    watched: Served,
    valkey: ValkeyServer,
    embeddings: EmbeddingServer,
    caplog: pytest.LogCaptureFixture,
    mode: Callable[[Served], Awaitable[httpx.AsyncClient]],
) -> None:
    known = await prepared(watched)
    client = await mode(watched)
    before, kept, asked = await tables(watched), cached(valkey), len(embeddings.seen)
    with caplog.at_level(logging.DEBUG):
        for operation in operations("write", "recall", "look"):
            answer = await client.request(**operation.request(known))
            assert answer.status_code < 500, (operation, answer.text)
            assert NOW not in answer.text, operation
            if operation.kind == "recall" or (operation.kind == "look" and mode in SEES_NOTHING):
                assert BEFORE not in answer.text.lower(), operation
            if operation.kind == "write":
                assert answer.is_client_error or "refused" in answer.text, (operation, answer.text)
    after = await tables(watched)
    if mode not in SEES_NOTHING:
        # That its owner looked, or was refused, may be known; what it was about may not.
        before["audit_events"] = after["audit_events"] = []
    assert after == before
    assert traces(watched, NOW) == []
    assert cached(valkey) == kept
    assert len(embeddings.seen) == asked, "not even the question leaves the house"
    assert NOW not in caplog.text
    assert BEFORE not in caplog.text


AUDITED = [
    operation
    for operation in OPERATIONS
    if operation.kind != "control" or operation.removes or operation.path.endswith(("/export", "/start"))
]


@pytest.mark.parametrize("operation", AUDITED, ids=lambda operation: f"{operation.method} {operation.path}")
@pytest.mark.asyncio(loop_scope="module")
async def test_everything_done_with_a_memory_is_audited(shared: Served, operation: Operation) -> None:
    """Who, what, when and for which request; never what it was about. Whoever is erased takes the trail along."""
    user = uuid4().hex
    person, known = shared.client(user), await prepared(shared, user)
    sent = operation.request(replace(known, user=user))
    sent["headers"] = sent.get("headers", {}) | {"X-Correlation-ID": "this-one"}
    answer = await person.request(**sent)
    assert answer.is_success, answer.text
    trail = (await person.get("/v1/audit", params={"limit": 1000})).json()["items"]
    facts = [event for event in trail if event["correlation_id"] == "this-one"]
    assert bool(facts) is (operation.path != "/v1/me")
    assert {event["facts"]["by"] for event in facts} <= {"header"}
    assert BEFORE not in json.dumps(facts)
    assert NOW not in json.dumps(facts)


async def test_no_way_around_an_incognito_session(served: Served) -> None:
    """Neither by leaving its header out, nor by naming another session beside it."""
    await served.ana.post("/v1/memory/incognito/start", json={"session_id": "hush"})
    hushed = served.client("ana", X_Session_ID="hush")
    said = {"messages": [{"content": f"{NOW} was said"}]}
    for client, session, status in (
        (served.ana, "hush", 403),
        (hushed, "hush", 403),
        (hushed, "loud", 400),
        (served.client("ana", X_Session_ID="loud"), "hush", 400),
    ):
        answer = await client.post(f"/v1/conversations/{session}/messages", json=said)
        assert answer.status_code == status, (session, answer.text)
    for session in ("hush", "loud"):
        answer = await hushed.post("/v1/memory/entries", json={"text": f"{NOW} was saved", "session_id": session})
        assert answer.status_code == (403 if session == "hush" else 400)
    assert traces(served, NOW) == []
    assert (await served.ana.post("/v1/conversations/loud/messages", json=said)).status_code == 201


async def test_jobs_leave_alone_what_is_switched_off(watched: Served, embeddings: EmbeddingServer) -> None:
    await prepared(watched)
    await watched.ana.post("/v1/memories", json={"text": f"{NOW} is still to be embedded"})
    await _off(watched)
    (generation,) = await watched.engine.generations.alive()
    asked = len(embeddings.seen)
    await embed.drain(watched.engine)
    await embed.fill(watched.engine, generation)
    assert len(embeddings.seen) == asked
    assert watched.home.count("SELECT count(*) FROM embeddings WHERE state = 'pending'") == 1
    await watched.ana.post("/v1/memory/settings", json={"memory_enabled": True})
    await watched.engine.flush(ANA, 120)
    assert watched.home.count("SELECT count(*) FROM embeddings WHERE state = 'pending'") == 0


@pytest.mark.parametrize("mode", MODES)
async def test_control_stays_with_the_person(
    watched: Served, mode: Callable[[Served], Awaitable[httpx.AsyncClient]]
) -> None:
    """Whatever is switched off: settings, taking one's data along, forgetting, and the way back stay open."""
    known = await prepared(watched)
    client = await mode(watched)
    controls = sorted(operations("control"), key=lambda each: (each.removes, each.path == "/v1/me"))
    for operation in controls:
        answer = await client.request(**operation.request(known))
        assert answer.status_code in (200, 403, 404), (operation, answer.text)
        assert answer.status_code != 403 or operation.path.rpartition("/")[2] in (
            "embedding-provider",
            "metrics",
            "operations",
        )
        if operation.path == "/v1/export":
            assert TOLD in answer.text
        if operation.removes:
            assert known.memory not in (await watched.ana.get("/v1/export")).text, operation
    assert traces(watched, BEFORE) == []
    assert not [name for name in metadata.tables if _rows_of_ana(watched.home, name)]


def _rows_of_ana(home: Home, table: str) -> bool:
    if "user_id" not in metadata.tables[table].columns:
        return False
    return bool(home.rows(f"SELECT 1 FROM {table} WHERE user_id = ?", ["ana"]))


NATIVE = (native_memories, native_links, native_conversations, native_account)
MODELS = [
    model
    for module in (*NATIVE, companion_wire, datachat_wire, longterm_wire, recall_wire)
    for model in vars(module).values()
    if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == module.__name__
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.__module__.split('.')[2]}-{model.__name__}")
def test_every_example_is_one(model: type[BaseModel]) -> None:
    schema = model.model_json_schema()
    for example in schema.get("examples", []):
        read = model.model_validate(example)
        assert read.model_dump(mode="json", exclude_unset=True) == example
