"""What ties memories to each other, through the native door: conflicts and tellings, and deciding both otherwise."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.doors.serving import Served


async def told(client: httpx.AsyncClient, text: str, status: int = 201, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/memories", json={"text": text, **fields})
    assert answer.status_code == status, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


async def listed(client: httpx.AsyncClient, status: str = "active") -> list[str]:
    items = (await client.get("/v1/memories", params={"status": status})).json()["items"]
    return sorted(item["text"] for item in items)


async def open_pairs(client: httpx.AsyncClient, **query: Any) -> list[tuple[str, str]]:
    answer = await client.get("/v1/memories/conflicts", params=query)
    assert answer.status_code == 200, answer.text
    return [(pair["later"]["text"], pair["earlier"]["text"]) for pair in answer.json()["conflicts"]]


async def found(client: httpx.AsyncClient, query: str) -> list[str]:
    hits = (await client.post("/v1/memories/search", json={"query": query})).json()["hits"]
    return sorted(hit["text"] for hit in hits)


async def test_what_may_not_both_be_true_is_flagged_and_asked_about(served: Served) -> None:
    tea = await told(served.ana, "I like tea")
    assert (tea["conflicts"], tea["confirm"], tea["repeat"]) == ([], None, None)
    coffee = await told(served.ana, "I like coffee")
    assert (coffee["outcome"], coffee["conflicts"], coffee["replaces"]) == ("stored", [tea["id"]], None)
    assert coffee["confirm"].endswith("?")
    assert "I like tea" in coffee["confirm"]
    assert "I like coffee" in coffee["confirm"]
    assert await listed(served.ana) == ["I like coffee", "I like tea"]
    assert await open_pairs(served.ana) == [("I like coffee", "I like tea")]
    assert await open_pairs(served.client("eva")) == []


async def test_a_new_value_replaces_the_old_without_a_key_and_without_a_question(served: Served) -> None:
    nine = await told(served.ana, "The standup is at 9")
    ten = await told(served.ana, "The standup is at 10")
    assert (ten["outcome"], ten["replaces"]) == ("superseded", nine["id"])
    assert (ten["conflicts"], ten["confirm"]) == ([], None)
    assert await listed(served.ana) == ["The standup is at 10"]
    assert await listed(served.ana, "superseded") == ["The standup is at 9"]
    assert await open_pairs(served.ana) == []


@pytest.mark.parametrize(
    ("keep", "stays", "goes"),
    [
        ("later", ["I like coffee"], ["I like tea"]),
        ("earlier", ["I like tea"], ["I like coffee"]),
        ("both", ["I like coffee", "I like tea"], []),
    ],
)
async def test_resolving_keeps_what_is_true(served: Served, keep: str, stays: list[str], goes: list[str]) -> None:
    tea, coffee = await told(served.ana, "I like tea"), await told(served.ana, "I like coffee")
    word = {"later": coffee["id"], "earlier": tea["id"]}.get(keep, keep)
    kept = await served.ana.post(f"/v1/memories/{coffee['id']}/resolve", json={"keep": word})
    assert kept.status_code == 200, kept.text
    assert (kept.json()["text"], kept.json()["status"]) == (stays[0], "active")
    assert (await listed(served.ana), await listed(served.ana, "superseded")) == (stays, goes)
    for drink in ("tea", "coffee"):
        text = f"I like {drink}"
        assert await found(served.ana, f"Do I like {drink}?") == ([text] if text in stays else [])
    assert await open_pairs(served.ana) == []


async def test_what_was_replaced_can_be_brought_back(served: Served) -> None:
    nine, ten = await told(served.ana, "The standup is at 9"), await told(served.ana, "The standup is at 10")
    kept = await served.ana.post(f"/v1/memories/{ten['id']}/resolve", json={"keep": nine["id"]})
    assert (kept.status_code, kept.json()["id"]) == (200, nine["id"])
    assert await listed(served.ana) == await found(served.ana, "when is the standup?") == ["The standup is at 9"]


async def test_a_wrong_word_settles_nothing(served: Served) -> None:
    tea, coffee = await told(served.ana, "I like tea"), await told(served.ana, "I like coffee")
    sky = await told(served.ana, "The sky is wide")
    path = f"/v1/memories/{coffee['id']}/resolve"
    for sent, status in (({"keep": sky["id"]}, 400), ({"keep": ""}, 422), ({}, 422), ({"keep": "both", "x": 1}, 422)):
        assert (await served.ana.post(path, json=sent)).status_code == status, sent
    for id in (sky["id"], "unknown"):
        assert (await served.ana.post(f"/v1/memories/{id}/resolve", json={"keep": "both"})).status_code == 404
    foreign = await served.client("eva").post(path, json={"keep": tea["id"]})
    assert foreign.status_code == 404
    assert await open_pairs(served.ana) == [("I like coffee", "I like tea")]


async def test_conflicts_come_newest_first_and_as_many_as_wanted(served: Served) -> None:
    for text in ("I like tea", "I like coffee", "I have a meeting at 9", "I have a meeting at 10"):
        await told(served.ana, text)
    pairs = [("I have a meeting at 10", "I have a meeting at 9"), ("I like coffee", "I like tea")]
    assert await open_pairs(served.ana) == pairs
    assert await open_pairs(served.ana, limit=1) == pairs[:1]
    assert (await served.ana.get("/v1/memories/conflicts", params={"limit": 0})).status_code == 422


async def test_a_merge_can_be_looked_at_and_undone(served: Served) -> None:
    first = await told(served.ana, "I drink my tea without sugar", tags=["tea"])
    path = f"/v1/memories/{first['id']}/repeats"
    assert (await served.ana.get(path)).json() == {"repeats": []}
    again = await told(served.ana, "I drink my tea  without sugar", 200, tags=["habits"])
    assert (again["outcome"], again["id"]) == ("merged", first["id"])
    tellings = (await served.ana.get(path)).json()["repeats"]
    assert [(each["id"], each["text"], each["first"]) for each in tellings] == [
        (first["id"], "I drink my tea without sugar", True),
        (again["repeat"], "I drink my tea  without sugar", False),
    ]
    alone = await served.ana.post(f"{path}/{again['repeat']}/undo")
    assert alone.status_code == 201, alone.text
    assert (alone.json()["text"], alone.json()["tags"]) == ("I drink my tea  without sugar", ["habits"])
    before = (await served.ana.get(f"/v1/memories/{first['id']}")).json()
    assert (before["tags"], before["repeat_count"]) == (["tea"], 0)
    assert (await served.ana.get(path)).json() == {"repeats": []}
    assert len(await listed(served.ana)) == 2
    assert (await served.ana.post(f"{path}/{again['repeat']}/undo")).status_code == 404


async def test_only_ones_own_tellings_and_never_the_first(served: Served) -> None:
    first = await told(served.ana, "I drink my tea without sugar")
    again = await told(served.ana, "I drink my tea  without sugar", 200)
    path = f"/v1/memories/{first['id']}/repeats"
    eva = served.client("eva")
    assert (await eva.get(path)).status_code == 404
    assert (await eva.post(f"{path}/{again['repeat']}/undo")).status_code == 404
    assert (await served.ana.post(f"{path}/{first['id']}/undo")).status_code == 404
    assert (await served.ana.get("/v1/memories/unknown/repeats")).status_code == 404
    assert len((await served.ana.get(path)).json()["repeats"]) == 2


async def test_out_of_recall_and_back(served: Served) -> None:
    id = (await told(served.ana, "The ferry leaves at noon"))["id"]
    archived = await served.ana.post(f"/v1/memories/{id}/archive")
    assert (archived.status_code, archived.json()["status"]) == (200, "archived")
    assert await found(served.ana, "when does the ferry leave?") == []
    assert await listed(served.ana, "archived") == ["The ferry leaves at noon"]
    restored = await served.ana.post(f"/v1/memories/{id}/restore")
    assert (restored.status_code, restored.json()["status"]) == (200, "active")
    assert restored.json()["manually_saved"]
    assert await found(served.ana, "when does the ferry leave?") == ["The ferry leaves at noon"]
    assert (await served.ana.post(f"/v1/memories/{id}/restore")).status_code == 409
    for verb in ("archive", "restore"):
        assert (await served.client("eva").post(f"/v1/memories/{id}/{verb}")).status_code == 404


async def test_what_is_archived_is_not_asked_about(served: Served) -> None:
    await told(served.ana, "I like tea")
    coffee = await told(served.ana, "I like coffee")
    await served.ana.post(f"/v1/memories/{coffee['id']}/archive")
    assert await open_pairs(served.ana) == []
    await served.ana.post(f"/v1/memories/{coffee['id']}/restore")
    assert await open_pairs(served.ana) == [("I like coffee", "I like tea")]
