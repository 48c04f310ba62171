"""A client of the companion contract: entries, pins, forgetting, settings and incognito under /v1/memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.doors.companion import translate, wire
from recollect.doors.companion.summary import Survey, told
from recollect.doors.http.receipts import taken
from recollect.errors import Conflict, NotAllowed
from recollect.model import (
    EmbeddingState,
    EmbeddingStatus,
    Memory,
    MemoryType,
    Receipt,
    Scope,
    Scores,
    SpaceSettings,
    Target,
    Theme,
)
from tests.api.homes import sqlite_home
from tests.doors.serving import Served
from tests.doors.serving import served as serving

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
KEY = "sk-proj-" + "Zk3Vq9TnB7xLw2Rf8YhD5sGm" * 2
FIELDS = {
    "id",
    "user_id",
    "space",
    "role",
    "text",
    "created_at",
    "needs_embedding",
    "simhash",
    "repeat_count",
    "tags",
    "source_ids",
    "metadata_confidence",
    "importance",
    "pinned",
    "manually_saved",
    "last_scores",
}


async def save(served: Served, text: str, **fields: Any) -> dict[str, Any]:
    answer = await served.ana.post("/v1/memory/entries", json={"text": text, "space": "TheoEngine", **fields})
    assert answer.status_code in (200, 201), answer.text
    entry: dict[str, Any] = answer.json()
    return entry


async def entries(served: Served, **query: Any) -> list[str]:
    answer = await served.ana.get("/v1/memory/entries", params={"space": "TheoEngine", **query})
    assert answer.status_code == 200, answer.text
    return [entry["text"] for entry in answer.json()["entries"]]


async def test_create_an_entry(served: Served) -> None:
    answer = await served.ana.post(
        "/v1/memory/entries",
        json={"text": "Weekly review on Thursday", "space": "TheoEngine", "tags": ["meetings"], "manually_saved": True},
    )
    assert answer.status_code == 201
    entry = answer.json()
    assert entry.keys() >= FIELDS
    assert (entry["text"], entry["space"], entry["user_id"]) == ("Weekly review on Thursday", "TheoEngine", "ana")
    assert (entry["tags"], entry["manually_saved"], entry["pinned"]) == (["meetings"], True, False)
    assert (entry["role"], entry["repeat_count"], entry["source_ids"]) == ("user", 0, [])
    assert (entry["outcome"], entry["duplicate"], entry["last_scores"]) == ("stored", False, None)
    assert 0 <= int(entry["simhash"]) < 2**64
    assert 0.0 <= entry["importance"] <= 1.0


async def test_only_the_text_is_needed(served: Served) -> None:
    answer = await served.ana.post("/v1/memory/entries", json={"text": "plain"})
    assert (answer.status_code, answer.json()["space"]) == (201, "default")
    for wrong in ({}, {"text": 5}, {"text": "x", "pinned": True}, {"text": "x", "manually_saved": "yes"}):
        assert (await served.ana.post("/v1/memory/entries", json=wrong)).status_code == 422, wrong
    assert (await served.ana.post("/v1/memory/entries", json={"text": " "})).status_code == 400
    assert (await served.ana.post("/v1/memory/entries", json={"text": "x", "space": ""})).status_code == 400


async def test_a_duplicate_is_counted_on_the_canonical_entry(served: Served) -> None:
    """No second row; the flag and the tags of the repeat are kept on the first."""
    first = await save(served, "I drink my tea without sugar", tags=["tea"])
    answer = await served.ana.post(
        "/v1/memory/entries",
        json={
            "text": "I drink my tea   without sugar",
            "space": "TheoEngine",
            "tags": ["habits"],
            "manually_saved": True,
        },
    )
    again = answer.json()
    assert (answer.status_code, again["duplicate"], again["outcome"]) == (200, True, "merged")
    assert (again["id"], again["repeat_count"]) == (first["id"], 1)
    assert (again["tags"], again["manually_saved"]) == (["tea", "habits"], True)
    assert again["importance"] > first["importance"]
    assert len(await entries(served)) == 1


async def test_list_entries_with_filtering(served: Served) -> None:
    await save(served, "plain")
    await save(served, "by hand", manually_saved=True, tags=["a", "b"])
    pinned = await save(served, "held", tags=["b", "c"])
    await served.ana.post(f"/v1/memory/entries/{pinned['id']}/pin")
    assert await entries(served) == ["held", "by hand", "plain"]
    assert await entries(served, pinned=True) == ["held"]
    assert await entries(served, pinned=False) == ["by hand", "plain"]
    assert await entries(served, manually_saved=True) == ["by hand"]
    assert await entries(served, tags=["a", "c"]) == ["held", "by hand"]
    assert await entries(served, tags=["b"], pinned=False) == ["by hand"]
    assert await entries(served, limit=1, offset=1) == ["by hand"]
    assert await entries(served, status="archived") == []
    page = (await served.ana.get("/v1/memory/entries", params={"space": "TheoEngine", "limit": 2})).json()
    assert (page["total"], page["limit"], page["offset"]) == (3, 2, 0)


async def test_spaces_keep_their_boundaries(served: Served) -> None:
    await save(served, "about the engine")
    await save(served, "about the pests", space="PestIQ")
    assert await entries(served) == ["about the engine"]
    assert await entries(served, space="PestIQ") == ["about the pests"]
    assert await entries(served, space="nowhere") == []


async def test_pin_and_unpin(served: Served) -> None:
    """By the id alone, whichever of one's own spaces it is in."""
    entry = await save(served, "never to be trimmed")
    pinned = await served.ana.post(f"/v1/memory/entries/{entry['id']}/pin")
    assert (pinned.status_code, pinned.json()["pinned"], pinned.json()["space"]) == (200, True, "TheoEngine")
    assert (await served.ana.post(f"/v1/memory/entries/{entry['id']}/pin")).json()["pinned"], "again is harmless"
    assert pinned.json()["importance"] == pytest.approx(entry["importance"] + 0.5), "as if it had been saved by hand"
    unpinned = await served.ana.delete(f"/v1/memory/entries/{entry['id']}/pin")
    assert (unpinned.status_code, unpinned.json()["pinned"]) == (200, False)
    assert unpinned.json()["importance"] == entry["importance"]
    for method in ("POST", "DELETE"):
        assert (await served.ana.request(method, "/v1/memory/entries/absent/pin")).status_code == 404
        foreign = await served.client("bob").request(method, f"/v1/memory/entries/{entry['id']}/pin")
        assert foreign.status_code == 404
        elsewhere = await served.ana.request(
            method, f"/v1/memory/entries/{entry['id']}/pin", params={"space": "PestIQ"}
        )
        assert elsewhere.status_code == 404, "a space that is named is the only one looked into"


async def test_forget_an_entry_and_store_a_24_hour_tombstone(served: Served) -> None:
    entry = await save(served, "My old address is Elm Street")
    before = datetime.now(UTC)
    gone = await served.ana.delete(f"/v1/memory/entries/{entry['id']}")
    assert (gone.status_code, gone.json()["deleted"], gone.json()["id"]) == (200, True, entry["id"])
    assert await entries(served) == []
    again = await served.ana.post(
        "/v1/memory/entries", json={"text": "my old address is elm street", "space": "TheoEngine"}
    )
    assert again.status_code == 409
    error = again.json()["error"]
    assert (error["code"], error["details"]["reason"]) == ("conflict", "tombstone")
    until = datetime.fromisoformat(error["details"]["until"])
    assert timedelta(hours=23) < until - before <= timedelta(hours=24, minutes=1)
    assert datetime.fromisoformat(gone.json()["tombstone_until"]) <= until
    assert "Elm" not in again.text
    assert (await served.ana.delete(f"/v1/memory/entries/{entry['id']}")).status_code == 404
    elsewhere = {"text": "my old address is elm street", "space": "PestIQ"}
    assert (await served.ana.post("/v1/memory/entries", json=elsewhere)).status_code == 201


async def test_nobody_forgets_for_anybody_else(served: Served) -> None:
    entry = await save(served, "ana's own")
    assert (await served.client("bob").delete(f"/v1/memory/entries/{entry['id']}")).status_code == 404
    assert (await served.client("bob").get("/v1/memory/entries?space=TheoEngine")).json()["total"] == 0
    assert await entries(served) == ["ana's own"]


async def test_memory_can_be_switched_off_per_space(served: Served) -> None:
    await save(served, "from before")
    off = await served.ana.post("/v1/memory/settings", json={"space": "TheoEngine", "memory_enabled": False})
    assert (off.status_code, off.json()["memory_enabled"], off.json()["incognito_default"]) == (200, False, False)
    refused = await served.ana.post("/v1/memory/entries", json={"text": "no more", "space": "TheoEngine"})
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (403, "memory_off")
    assert await entries(served) == ["from before"], "the person can still look at what is kept"
    assert "switched off" in (await served.ana.get("/v1/memory/summary?space=TheoEngine")).json()["summary"]
    assert (await served.ana.post("/v1/memory/entries", json={"text": "elsewhere"})).status_code == 201
    await served.ana.post("/v1/memory/settings", json={"space": "TheoEngine", "memory_enabled": True})
    assert (await save(served, "no more"))["outcome"] == "stored"


@pytest.mark.parametrize(
    ("settings", "text", "reason"),
    [({"secrets": "refuse"}, f"my key is {KEY}", "secret"), ({"write_mode": "read_only"}, "anything", "read_only")],
)
async def test_what_is_refused_is_refused_with_its_reason(
    tmp_path: Path, settings: dict[str, Any], text: str, reason: str
) -> None:
    async with serving(sqlite_home(tmp_path), **settings) as served:
        answer = await served.ana.post("/v1/memory/entries", json={"text": text})
        assert (answer.status_code, answer.json()["error"]["details"]["reason"]) == (403, reason)
        assert KEY not in answer.text
        assert await entries(served) == []


async def test_a_secret_is_blotted_out(served: Served) -> None:
    entry = await save(served, f"my key is {KEY}")
    assert entry["masked"]
    assert KEY not in str(entry)


async def test_settings_change_only_what_is_sent(served: Served) -> None:
    await served.ana.post("/v1/memory/settings", json={"soft_cap": 50, "retention_days": 30, "shared_tags": ["all"]})
    answer = await served.ana.post("/v1/memory/settings", json={"incognito_default": True})
    expected = {
        "space": "default",
        "memory_enabled": True,
        "incognito_default": True,
        "soft_cap": 50,
        "retention_days": 30,
        "shared_tags": ["all"],
    }
    assert answer.json() == expected == (await served.ana.get("/v1/memory/settings")).json()
    lifted = await served.ana.post("/v1/memory/settings", json={"retention_days": None, "memory_enabled": None})
    assert (lifted.json()["retention_days"], lifted.json()["memory_enabled"]) == (None, True)
    for wrong in ({"memory_enabled": "off"}, {"soft_cap": -1}, {"unknown": 1}):
        assert (await served.ana.post("/v1/memory/settings", json=wrong)).status_code == 422, wrong


async def test_incognito_skips_persistence_and_retrieval(served: Served) -> None:
    await save(served, "from before", space="default")
    started = await served.ana.post("/v1/memory/incognito/start")
    assert (started.status_code, started.json()["incognito"]) == (200, True)
    session = started.json()["session_id"]
    hidden = served.client("ana", X_Session_ID=session)
    refused = await hidden.post("/v1/memory/entries", json={"text": "between us"})
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (403, "incognito")
    by_field = await served.ana.post("/v1/memory/entries", json={"text": "between us", "session_id": session})
    assert by_field.status_code == 403
    assert (await hidden.get("/v1/memory/entries")).json()["total"] == 0
    assert (await hidden.get("/v1/memory/summary")).json()["counts"]["total"] == 0
    assert (await served.ana.get("/v1/memory/entries")).json()["total"] == 1, "other sessions go on as before"
    ended = await hidden.post("/v1/memory/incognito/end")
    assert (ended.status_code, ended.json()) == (200, {"session_id": session, "space": "default", "incognito": False})
    assert (await hidden.post("/v1/memory/entries", json={"text": "on the record"})).status_code == 201


async def test_incognito_for_a_session_of_ones_own(served: Served) -> None:
    started = await served.ana.post("/v1/memory/incognito/start", json={"session_id": "monday", "space": "TheoEngine"})
    assert started.json() == {"session_id": "monday", "space": "TheoEngine", "incognito": True}
    monday = served.client("ana", X_Session_ID="monday")
    here = {"text": "x", "space": "TheoEngine"}
    assert (await monday.post("/v1/memory/entries", json=here)).status_code == 403
    assert (await monday.post("/v1/memory/entries", json={"text": "x"})).status_code == 403, "in every space"
    ended = await served.ana.post("/v1/memory/incognito/end", json={"session_id": "monday", "space": "TheoEngine"})
    assert not ended.json()["incognito"]
    assert (await monday.post("/v1/memory/entries", json=here)).status_code == 201
    unnamed = await served.ana.post("/v1/memory/incognito/end")
    assert (unnamed.status_code, unnamed.json()["error"]["code"]) == (400, "invalid_input")


async def test_summary_is_human_readable(served: Served) -> None:
    empty = (await served.ana.get("/v1/memory/summary", params={"space": "TheoEngine"})).json()
    assert empty["summary"] == "Nothing is remembered in TheoEngine."
    await save(served, "Weekly review on Thursday", tags=["meetings"], manually_saved=True)
    held = await save(served, "Deploys happen on Mondays", tags=["meetings", "deploys"])
    await served.ana.post(f"/v1/memory/entries/{held['id']}/pin")
    summary = (await served.ana.get("/v1/memory/summary", params={"space": "TheoEngine"})).json()
    assert summary["counts"] == {"total": 2, "pinned": 1, "manually_saved": 1, "archived": 0}
    assert summary["tags"] == [{"name": "meetings", "count": 2}, {"name": "deploys", "count": 1}]
    assert [entry["text"] for entry in summary["pinned"]] == ["Deploys happen on Mondays"]
    assert summary["summary"].startswith("2 memories in TheoEngine: 2 facts, last added to on ")
    assert summary["summary"].endswith(
        "1 is pinned and 1 is saved by hand. Mostly about meetings (2) and deploys (1). "
        "Pinned: “Deploys happen on Mondays”. Newest: “Weekly review on Thursday”."
    )


async def test_retrieval_leaves_its_scores_on_the_entry(served: Served) -> None:
    await save(served, "Weekly review on Thursday", space="default")
    await served.ana.post("/v1/memories/search", json={"query": "weekly review", "recipe": "companion"})
    (entry,) = (await served.ana.get("/v1/memory/entries")).json()["entries"]
    scores = entry["last_scores"]
    assert scores.keys() == {"relevance", "recency", "importance", "total", "computed_at"}
    assert scores["total"] == pytest.approx(scores["relevance"] + scores["recency"] + scores["importance"])
    assert datetime.fromisoformat(scores["computed_at"]).tzinfo is not None


async def test_actions_are_auditable(served: Served) -> None:
    entry = await save(served, "to be seen in the trail", space="default")
    await served.ana.post(f"/v1/memory/entries/{entry['id']}/pin", headers={"X-Correlation-ID": "pin-1"})
    await served.ana.delete(f"/v1/memory/entries/{entry['id']}")
    await served.ana.post("/v1/memory/settings", json={"memory_enabled": False})
    trail = (await served.ana.get("/v1/audit")).json()
    actions = [(event["action"], event["target_id"]) for event in trail["items"]]
    for expected in ("memory.stored", "memory.revised", "memory.forgotten"):
        assert (expected, entry["id"]) in actions
    assert "settings.changed" in [action for action, _ in actions]
    assert "pin-1" in [event["correlation_id"] for event in trail["items"]]
    assert "trail" not in str(trail["items"])


async def test_needs_embedding_until_it_is_there(tmp_path: Path) -> None:
    async with serving(sqlite_home(tmp_path), embedder="local") as served:
        entry = await save(served, "to be embedded", space="default")
        assert entry["needs_embedding"]
        await served.engine.flush(Scope("default", "ana"), 30)
        (shown,) = (await served.ana.get("/v1/memory/entries")).json()["entries"]
        assert not shown["needs_embedding"]


ANA = Scope("default", "ana", "work")


def _memory(**fields: Any) -> Memory:
    return Memory(**{"id": "m", "content": "x", "created_at": NOW, "updated_at": NOW, **fields})


def test_no_bit_of_a_simhash_is_lost() -> None:
    """A reader in JavaScript would lose the last bits of such a number."""
    shown = translate.entry_out(ANA, _memory(simhash=2**64 - 1), {})
    assert shown.simhash == "18446744073709551615"
    scores = Scores(relevance=0.1, recency=0.2, importance=0.3, total=0.6, computed_at=NOW)
    rated = translate.entry_out(ANA, _memory(last_scores=scores), {}).last_scores
    assert rated == wire.LastScores(relevance=0.1, recency=0.2, importance=0.3, total=0.6, computed_at=NOW)


@pytest.mark.parametrize("state", list(EmbeddingState))
def test_needs_embedding_says_that_one_is_to_come(state: EmbeddingState) -> None:
    target = Target("memory", "m")
    status = EmbeddingStatus(target=target, generation="g", state=state)
    assert translate.entry_out(ANA, _memory(), {target: status}).needs_embedding is (state in ("pending", "error"))


def test_refusals_become_errors_that_say_why() -> None:
    refused: dict[str, Any] = {"id": None, "outcome": "refused", "embedding": EmbeddingState.OFF}
    with pytest.raises(Conflict) as buried:
        taken(Receipt(**refused, reason="tombstone", until=NOW))
    assert buried.value.details == {"reason": "tombstone", "until": NOW.isoformat()}
    for reason in ("memory_off", "incognito", "read_only", "secret"):
        with pytest.raises(NotAllowed) as error:
            taken(Receipt(**refused, reason=reason))
        assert error.value.details == {"reason": reason}


def test_a_summary_counts_what_it_did_not_see() -> None:
    """Above the size of the sample nothing is said of kinds, and everything else is still exact."""
    theme = Theme(slug="tea", display_name="Tea", count=900, created_at=NOW, updated_at=NOW)
    survey = Survey(
        scope=ANA,
        settings=SpaceSettings(memory_enabled=False),
        total=1200,
        pinned_count=8,
        saved_count=0,
        archived_count=1,
        themes=[theme],
        newest=[_memory(type=MemoryType.NOTE, tags=("x",))],
        pinned=[_memory(content="word " * 40)] * 2,
    )
    short = "word " * 15 + "word"
    assert told(survey) == (
        "Memory is switched off here: nothing new is remembered and nothing is recalled. "
        "1,200 memories in work, last added to on 2 March 2026. 8 are pinned and 1 is archived. "
        f"Mostly about Tea (900). Pinned: “{short}…”; “{short}…” and 6 more. "
        "Newest: “x”."
    )


async def test_saving_says_what_may_not_be_true_beside_it(served: Served) -> None:
    tea = await save(served, "I like tea")
    assert (tea["repeat"], tea["conflicts"], tea["confirm"]) == (None, [], None)
    coffee = await save(served, "I like coffee")
    assert (coffee["outcome"], coffee["conflicts"]) == ("stored", [tea["id"]])
    assert "I like tea" in coffee["confirm"]
    assert await entries(served) == ["I like coffee", "I like tea"]
    again = await save(served, "I like  tea")
    assert (again["duplicate"], again["id"]) == (True, tea["id"])
    assert again["repeat"] not in (None, tea["id"])


async def test_saving_a_new_value_supersedes_the_old_one(served: Served) -> None:
    nine = await save(served, "The standup is at 9")
    ten = await save(served, "The standup is at 10")
    assert (ten["outcome"], ten["replaces"], ten["confirm"]) == ("superseded", nine["id"], None)
    assert await entries(served) == ["The standup is at 10"]
    assert await entries(served, status="superseded") == ["The standup is at 9"]


async def test_an_archived_entry_comes_back_by_its_id_alone(served: Served) -> None:
    entry = await save(served, "The ferry leaves at noon")
    await served.engine.archive(Scope("default", "ana", "TheoEngine"), [entry["id"]])
    assert (await entries(served), await entries(served, status="archived")) == ([], ["The ferry leaves at noon"])
    path = f"/v1/memory/entries/{entry['id']}/restore"
    assert (await served.client("eva").post(path)).status_code == 404
    restored = await served.ana.post(path)
    assert restored.status_code == 200, restored.text
    assert (restored.json()["status"], restored.json()["space"]) == ("active", "TheoEngine")
    assert restored.json()["manually_saved"]
    assert await entries(served) == ["The ferry leaves at noon"]
    assert (await served.ana.post(path)).status_code == 409
