"""A client of the long-term memory contract: its paths, its field names, its status codes, and nothing it doesn't say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.doors.longterm import translate, wire
from recollect.model import Memory, MemoryType, Page, Scope, Source, WorkingMemory
from tests.doors.serving import Served

ANA = Scope("default", "ana")
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
FIELDS = {
    "id",
    "session_id",
    "category",
    "key",
    "value",
    "confidence",
    "source",
    "created_at",
    "last_accessed",
    "access_count",
}


async def told(served: Served, text: str, **fields: Any) -> str:
    receipt = await served.engine.remember(ANA, {"content": text, **fields})
    assert receipt.id
    return receipt.id


async def session(served: Served, id: str, **fields: Any) -> datetime:
    """A session that is under way: one that was quiet for half an hour is gone."""
    at = datetime.now(UTC).replace(microsecond=0)
    working = WorkingMemory(session_id=id, turn_count=1, created_at=at, updated_at=at, **fields)
    await served.engine.store.write(ANA, lambda tx: tx.space.save_working(working))
    return at


async def test_list_long_term_memories_with_pagination(served: Served) -> None:
    ids = [await told(served, f"fact number {number}") for number in range(12)]
    first = await served.ana.get("/memory/long-term?limit=10&offset=0")
    assert first.status_code == 200
    body = first.json()
    assert (len(body["items"]), body["total"], body["limit"], body["offset"], body["has_more"]) == (10, 12, 10, 0, True)
    rest = (await served.ana.get("/memory/long-term", params={"limit": 10, "offset": 10})).json()
    assert (len(rest["items"]), rest["total"], rest["has_more"]) == (2, 12, False)
    assert [item["id"] for item in body["items"] + rest["items"]] == ids[::-1]
    assert all(item.keys() == FIELDS for item in body["items"])


async def test_paging_has_bounds(served: Served) -> None:
    for query in ("limit=0", "limit=1001", "limit=many", "offset=-1", "offset=99999999999999999999"):
        assert (await served.ana.get(f"/memory/long-term?{query}")).status_code == 422, query
    empty = (await served.ana.get("/memory/long-term?offset=5")).json()
    assert (empty["items"], empty["total"], empty["has_more"]) == ([], 0, False)


async def test_create_long_term_memory_from_user_statement(served: Served) -> None:
    """What somebody stated says so, and is believed."""
    id = await told(
        served,
        "我喜欢用 Python 写代码",
        type="preference",
        key="language",
        value={"language": "Python"},
        confidence=0.9,
        source_conversation_id="monday",
    )
    item = (await served.ana.get(f"/memory/long-term/{id}")).json()
    assert item["session_id"] == "monday"
    assert (item["category"], item["key"], item["value"]) == ("preference", "language", {"language": "Python"})
    assert (item["source"], item["confidence"]) == ("user_stated", 0.9)
    assert (item["last_accessed"], item["access_count"]) == (None, 0)
    assert datetime.fromisoformat(item["created_at"]).tzinfo is not None


async def test_memory_access_tracking(served: Served) -> None:
    id = await told(served, "I like Python best")
    found = await served.ana.post("/v1/memories/search", json={"query": "Python", "recipe": "longterm"})
    assert [hit["id"] for hit in found.json()["hits"]] == [id]
    item = (await served.ana.get(f"/memory/long-term/{id}")).json()
    assert item["access_count"] == 1
    assert (await served.ana.get("/memory/long-term")).json()["items"] == [item]
    assert datetime.fromisoformat(item["last_accessed"]) >= datetime.fromisoformat(item["created_at"])


async def test_user_delete_specific_memory(served: Served) -> None:
    doomed, kept = await told(served, "the old address"), await told(served, "the new address")
    answer = await served.ana.delete(f"/memory/long-term/{doomed}")
    assert (answer.status_code, answer.json()) == (200, {"deleted": True, "id": doomed})
    assert (await served.ana.get(f"/memory/long-term/{doomed}")).status_code == 404
    assert (await served.ana.delete(f"/memory/long-term/{doomed}")).status_code == 404
    assert (await served.ana.get(f"/memory/long-term/{kept}")).status_code == 200
    assert not served.home.rows("SELECT id FROM memories WHERE id = ?", [doomed])


async def test_user_clear_all_memories(served: Served) -> None:
    """All long-term memories go; working memory stays until its session ends."""
    for number in range(3):
        await told(served, f"fact number {number}")
    await served.engine.add_turns(ANA, "monday", [{"role": "user", "content": "good morning"}])
    await session(served, "monday", current_topic="mornings")
    bobs = await served.engine.remember(Scope("default", "bob"), {"content": "bob's own"})
    answer = await served.ana.delete("/memory/long-term")
    assert (answer.status_code, answer.json()) == (200, {"deleted": True, "count": 3})
    assert (await served.ana.get("/memory/long-term")).json()["total"] == 0
    assert (await served.ana.get("/memory/working/monday")).json()["current_topic"] == "mornings"
    assert (await served.ana.get("/v1/conversations/monday")).json()["message_count"] == 1
    assert (await served.client("bob").get(f"/memory/long-term/{bobs.id}")).status_code == 200
    assert (await served.ana.delete("/memory/long-term")).json()["count"] == 0


async def test_get_working_memory_for_session(served: Served) -> None:
    variables = {"kind": "green"}
    at = await session(served, "chat/42", current_topic="tea", context_variables=variables, last_emotion="calm")
    told_at = at.isoformat().replace("+00:00", "Z")
    answer = await served.ana.get("/memory/working/chat/42")
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "session_id": "chat/42",
            "current_topic": "tea",
            "context_variables": {"kind": "green"},
            "turn_count": 1,
            "last_emotion": "calm",
            "created_at": told_at,
            "updated_at": told_at,
        },
    )
    assert (await served.ana.get("/memory/working/elsewhere")).status_code == 404
    assert (await served.client("bob").get("/memory/working/chat/42")).status_code == 404


async def test_nobody_sees_or_deletes_anothers(served: Served) -> None:
    id = await told(served, "ana's own")
    bob = served.client("bob")
    absent = (await bob.get("/memory/long-term/absent")).json()["error"]
    foreign = (await bob.get(f"/memory/long-term/{id}")).json()["error"]
    assert (foreign["code"], foreign["message"].replace(id, "absent")) == (absent["code"], absent["message"])
    assert (await bob.delete(f"/memory/long-term/{id}")).status_code == 404
    assert (await bob.delete("/memory/long-term")).json()["count"] == 0
    assert (await served.ana.get(f"/memory/long-term/{id}")).status_code == 200


@pytest.mark.parametrize(
    ("type", "category"),
    [
        ("preference", "preference"),
        ("instruction", "preference"),
        ("pattern", "pattern"),
        ("fact", "fact"),
        ("decision", "fact"),
        ("note", "fact"),
        ("summary", "fact"),
        ("other", "fact"),
    ],
)
def test_every_type_has_a_category(type: str, category: str) -> None:
    shown = translate.memory_out(Memory(id="m", content="x", type=MemoryType(type), created_at=NOW, updated_at=NOW))
    assert shown.category == category


@pytest.mark.parametrize("source", list(Source))
def test_every_source_has_a_name_in_the_contract(source: Source) -> None:
    shown = translate.memory_out(Memory(id="m", content="x", source=source, created_at=NOW, updated_at=NOW))
    assert shown.source in {"user_stated", "inferred", "system"}


@pytest.mark.parametrize("value", [0, False, "", [], {"a": None}])
def test_a_value_is_shown_as_it_is_however_empty(value: object) -> None:
    """Only where there is none does the text stand in for it."""
    kept = Memory(id="m", content="the text", key="k", value=value, created_at=NOW, updated_at=NOW)
    assert translate.memory_out(kept).value == value
    plain = translate.memory_out(Memory(id="m", content="the text", created_at=NOW, updated_at=NOW))
    assert (plain.key, plain.value) == ("m", "the text")


def test_the_last_page_knows_that_it_is() -> None:
    page: Page[Memory] = Page(items=(), total=20, limit=10, offset=20)
    assert translate.page_out(page) == wire.LongTermPage(items=[], total=20, limit=10, offset=20, has_more=False)
