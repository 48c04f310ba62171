"""Every method and argument of `Memory`, on each store, as the documentation describes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

import pytest

from recollect import Conflict, InvalidInput, Memory, NotAllowed, NotFound, TooLarge
from recollect.model import MemoryType, Source, Status
from tests.api.homes import Home

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def memory(home: Home) -> Iterator[Memory]:
    """Without a background, which notes what was found whenever it comes to it: then nothing is the same a moment later."""
    with home.memory(worker=False) as opened:
        yield opened


def contents(found: Any) -> set[str]:
    return {each.content for each in found}


def test_add_takes_every_field(memory: Memory) -> None:
    fields: dict[str, Any] = {
        "type": "preference",
        "theme": "Travel Plans",
        "key": "ferry",
        "value": {"leaves": "12:00", "days": [1, 2, 3], "open": True, "price": 4.5, "note": None},
        "role": "assistant",
        "source": "manual",
        "confidence": 0.8,
        "importance": 0.9,
        "pinned": True,
        "manually_saved": True,
        "tags": ["sea", "旅行", "sea"],
        "source_ids": ["a", "b"],
        "source_conversation_id": "talk",
        "source_message_id": "said",
        "created_at": NOON,
        "expires_at": "2999-01-01T00:00:00+02:00",
        "id": "chosen",
    }
    receipt = memory.add("the ferry leaves at noon ⛴️", **fields)
    assert (receipt.id, receipt.outcome, receipt.reason) == ("chosen", "stored", None)
    kept = memory.get("chosen")
    assert kept.content == "the ferry leaves at noon ⛴️"
    assert (kept.type, kept.source, kept.status) == (MemoryType.PREFERENCE, Source.MANUAL, Status.ACTIVE)
    assert (kept.theme, kept.tags, kept.source_ids) == ("travel-plans", ("sea", "旅行"), ("a", "b"))
    assert kept.value == fields["value"]
    assert kept.created_at == NOON
    assert kept.expires_at == datetime(2998, 12, 31, 22, tzinfo=UTC)
    same = ("key", "role", "confidence", "importance", "pinned", "manually_saved")
    assert {name: getattr(kept, name) for name in same} == {name: fields[name] for name in same}
    assert (kept.source_conversation_id, kept.source_message_id) == ("talk", "said")


def test_receipts_say_what_happened(memory: Memory) -> None:
    first = memory.add("the boat is blue", key="boat")
    assert memory.add("the boat  is blue").outcome == "merged"
    assert memory.get(first.id or "").repeat_count == 1
    second = memory.add("the boat is green", key="boat")
    assert (second.outcome, second.replaces) == ("superseded", first.id)
    assert memory.get(first.id or "").status is Status.SUPERSEDED
    memory.forget(second.id or "")
    refused = memory.add("The boat is GREEN")
    assert (refused.outcome, refused.id, refused.reason) == ("refused", None, "tombstone")
    assert refused.until is not None
    with pytest.raises(Conflict):
        memory.add("something else", id=first.id)


def test_search_keeps_to_its_arguments(memory: Memory) -> None:
    for number in range(6):
        memory.add(
            f"note{number} about the harbour",
            type="note" if number % 2 else "fact",
            tags=["odd" if number % 2 else "even", f"n{number}"],
            theme="Low Numbers" if number < 3 else "high",
            created_at=NOON + number * HOUR,
        )
    memory.add_turns("monday", [{"role": "user", "content": "said at the harbour", "created_at": NOON}])
    memory.add_turns("tuesday", [{"role": "user", "content": "repeated at the harbour", "created_at": NOON}])

    def found(**arguments: Any) -> set[str]:
        return {content.split()[0] for content in contents(memory.search("harbour", **{"limit": 50, **arguments}))}

    assert found() == {*(f"note{n}" for n in range(6)), "said", "repeated"}
    assert len(memory.search("harbour", limit=3)) == 3
    assert memory.search("harbour", limit=3, recipe="recall").trace.truncated
    assert found(kinds=("message",)) == {"said", "repeated"}
    assert found(kinds=("memory",), types=["note"]) == {"note1", "note3", "note5"}
    assert found(tags=["n1", "n4"]) == {"note1", "note4"}
    assert found(themes=["low numbers"]) == {"note0", "note1", "note2"}
    assert found(sessions=["monday"]) == {"said"}
    assert found(kinds=("memory",), since=NOON + 4 * HOUR) == {"note4", "note5"}
    assert found(kinds=("memory",), until="2025-06-01T13:00:00Z") == {"note0"}
    assert found(tags=["nobody has it"]) == set()
    assert found(recipe="recall", kinds=("memory",)) == {f"note{n}" for n in range(6)}
    assert found(now=NOON, history=["what about ships?"]) == found()
    assert list(memory.search("submarine")) == []
    short = memory.search("harbour", token_budget=12)
    assert short.trace.token_count <= 12
    assert short.trace.truncated
    with pytest.raises(InvalidInput):
        memory.search("harbour", recipe="recall", kinds=("message",))


def test_every_hit_says_why(memory: Memory) -> None:
    memory.add("the harbour at night")
    (hit,) = memory.search("harbour")
    assert 0.3 <= hit.relevance <= 1.0
    assert hit.signals
    assert hit.memory is not None
    assert hit.message is None
    trace = memory.search("harbour").trace
    assert trace.recipe == "native"
    assert trace.degraded == ()
    assert trace.timings_ms["total"] > 0


def test_what_has_expired_is_not_found(memory: Memory) -> None:
    memory.add("the harbour is closed", expires_at="2020-01-01")
    memory.add("the harbour is open", expires_at="2999-01-01")
    assert contents(memory.search("harbour")) == {"the harbour is open"}


def test_list_pages_and_filters(memory: Memory) -> None:
    for number in range(7):
        fields = {"tags": ["odd" if number % 2 else "even"], "theme": "numbers", "pinned": number == 3}
        memory.add(f"item {number}", created_at=NOON + number * HOUR, manually_saved=number == 5, **fields)
    pages = [memory.list(limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [page.total for page in pages] == [7, 7, 7]
    assert [each.content for page in pages for each in page] == [f"item {n}" for n in range(6, -1, -1)]
    assert contents(memory.list(tags=["odd"])) == {"item 1", "item 3", "item 5"}
    assert contents(memory.list(pinned=True)) == {"item 3"}
    assert contents(memory.list(manually_saved=True)) == {"item 5"}
    assert contents(memory.list(since=NOON + 5 * HOUR)) == {"item 5", "item 6"}
    assert contents(memory.list(until=NOON + HOUR)) == {"item 0"}
    assert memory.list(types=["decision"]).total == 0
    assert memory.list(themes=["Numbers"]).total == 7
    assert memory.list(statuses=["superseded", "archived"]).total == 0


def test_update_changes_what_it_names(memory: Memory) -> None:
    receipt = memory.add("the boat is blue", tags=["boat"], theme="Boats", importance=0.2)
    id = receipt.id or ""
    before = memory.get(id)
    after = memory.update(id, text="the boat is green", tags=["boat", "paint"], theme="Paint Jobs", value=7)
    assert after == memory.get(id)
    assert (after.content, after.tags, after.theme, after.value) == (
        "the boat is green",
        ("boat", "paint"),
        "paint-jobs",
        7,
    )
    assert (after.created_at, after.importance) == (before.created_at, 0.2)
    assert after.updated_at >= before.updated_at
    assert contents(memory.search("green")) == {"the boat is green"}
    assert list(memory.search("blue", min_relevance=0.3)) == []
    found = memory.get(id)
    for wrong in ({}, {"created_at": NOON}, {"nonsense": 1}, {"text": ""}, {"tags": "x"}):
        with pytest.raises(InvalidInput):
            memory.update(id, **wrong)
    assert memory.get(id) == found


def test_themes_follow_their_memories(memory: Memory) -> None:
    receipt = memory.add("the boat is blue", theme="Old Boats")
    memory.add("the ferry is late", theme="Travel")
    memory.add("the train is late", theme="travel")
    assert [(theme.slug, theme.count) for theme in memory.themes()] == [("travel", 2), ("old-boats", 1)]
    memory.update(receipt.id or "", theme="New Boats")
    assert [(theme.slug, theme.count) for theme in memory.themes()] == [("travel", 2), ("new-boats", 1)]
    memory.forget(receipt.id or "")
    assert [theme.slug for theme in memory.themes()] == ["travel"]


def test_pin_and_unpin(memory: Memory) -> None:
    id = memory.add("never trim this").id or ""
    assert memory.pin(id).pinned
    assert memory.get(id).pinned
    assert not memory.pin(id, pinned=False).pinned


def test_turns_are_kept_word_for_word(memory: Memory) -> None:
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": "Where is the  ferry?", "id": "t1", "created_at": NOON},
        {"role": "assistant", "content": "At the pier 🚢 码头", "name": "Maria"},
        {"role": "Captain", "content": "We leave at noon", "correlation_id": "c1"},
    ]
    receipt = memory.add_turns("talk", turns)
    assert (receipt.session_id, receipt.stored, receipt.ids[0]) == ("talk", 3, "t1")
    again = memory.add_turns("talk", turns[:1])
    assert (again.stored, again.ids) == (0, ("t1",))
    (hit,) = memory.search("码头", kinds=("message",), min_relevance=0.3)
    assert hit.message is not None
    assert (hit.content, hit.message.name, hit.message.order) == ("At the pier 🚢 码头", "Maria", 1)
    (captain,) = memory.search("captain", kinds=("message",), min_relevance=0.3)
    assert captain.message is not None
    assert (captain.message.role, captain.message.name) == ("user", "Captain")
    with pytest.raises(Conflict):
        memory.add_turns("other", turns[:1])
    bad: list[Any] = [[{"role": "user"}], [{"content": "x", "mood": "good"}], [{"content": "x", "id": "a"}] * 2]
    for wrong in bad:
        with pytest.raises(InvalidInput):
            memory.add_turns("talk", wrong)


def test_no_turns_at_all_are_fine(memory: Memory) -> None:
    assert memory.add_turns("talk", []).stored == 0


def test_forget_by_id_session_or_everything(memory: Memory) -> None:
    ids = [memory.add(f"thing {number}").id or "" for number in range(3)]
    memory.add_turns("talk", [{"role": "user", "content": "about things"}])
    assert memory.forget(*ids[:2]).memories == 2
    with pytest.raises(NotFound):
        memory.get(ids[0])
    with pytest.raises(NotFound):
        memory.forget(ids[2], ids[0])
    assert memory.get(ids[2]).content == "thing 2", "all or nothing"
    assert memory.forget(session_id="talk").messages == 1
    with pytest.raises(NotFound):
        memory.forget(session_id="talk")
    elsewhere = memory.at(space="work")
    elsewhere.add("at work")
    receipt = memory.forget(everything=True)
    assert receipt.memories == 2, "of every space"
    assert memory.list().total == elsewhere.list().total == 0
    bad: list[dict[str, Any]] = [{}, {"session_id": "a", "everything": True}]
    for wrong in bad:
        with pytest.raises(InvalidInput):
            memory.forget(**wrong)


def test_export_and_load_give_back_everything(memory: Memory) -> None:
    memory.add("the boat is blue", key="boat", theme="boats", tags=["a"], value={"x": [1, 2.5, None]})
    memory.add("the boat is green", key="boat", pinned=True)
    memory.add_turns("talk", [{"role": "user", "content": f"turn {n}", "created_at": NOON} for n in range(250)])
    lines = list(memory.export())
    assert lines[0]["kind"] == "header"
    other = memory.at(user="bo")
    receipt = other.load(lines)
    assert (receipt.memories, receipt.messages, receipt.conversations) == (2, 250, 1)
    assert list(other.export())[1:] == lines[1:]
    assert contents(other.search("green boat", min_relevance=0.3)) == {"the boat is green"}
    assert other.load(lines).memories == 0, "repeating is harmless"
    bad: list[Any] = [[{"kind": "nonsense"}], ["text"], [{"kind": "memory"}], [{**lines[0], "version": 99}]]
    for wrong in bad:
        with pytest.raises(InvalidInput):
            other.load(wrong)


def test_other_users_and_spaces_share_the_door(memory: Memory) -> None:
    bo, work, globex = memory.at(user="bo"), memory.at(space="work"), memory.at(tenant="globex")
    for other in (memory, bo, work, globex):
        other.add(f"said by {other.scope}")
    for other in (memory, bo, work, globex):
        assert contents(other.list()) == {f"said by {other.scope}"}
    assert (bo.scope.user, work.scope.space, globex.scope.tenant) == ("bo", "work", "globex")
    with pytest.raises(InvalidInput):
        memory.at(user="bad\nname")


def test_chinese_and_emoji_are_found(memory: Memory) -> None:
    memory.add("我喜欢喝乌龙茶，不喜欢咖啡")
    memory.add("生日派对 🎉 在星期六")
    memory.add("The café in Zürich serves 抹茶 lattes")
    assert contents(memory.search("乌龙茶", min_relevance=0.3)) == {"我喜欢喝乌龙茶，不喜欢咖啡"}
    assert contents(memory.search("🎉", min_relevance=0.3)) == {"生日派对 🎉 在星期六"}
    assert contents(memory.search("cafe zurich", min_relevance=0.3)) == {"The café in Zürich serves 抹茶 lattes"}


def test_sizes_are_bounded(memory: Memory) -> None:
    text = "harbour " * 12_500
    assert memory.get(memory.add(text).id or "").content == text
    with pytest.raises(TooLarge):
        memory.add("x" * (1024 * 1024 + 1))
    limits: list[Any] = [0, -1, 1001, True, "ten"]
    for limit in limits:
        with pytest.raises(InvalidInput):
            memory.list(limit=limit)
        with pytest.raises(InvalidInput):
            memory.search("harbour", limit=limit)


def test_write_modes(home: Home) -> None:
    with home.memory(write_mode="read_only") as memory:
        assert memory.add("anything").reason == "read_only"
        with pytest.raises(NotAllowed):
            memory.update("any", text="x")
    with home.memory(write_mode="explicit") as memory:
        assert memory.add("overheard", source="inferred").reason == "read_only"
        assert memory.add("asked for", source="manual").outcome == "stored"


def test_it_is_used_from_threads(memory: Memory) -> None:
    threads = [Thread(target=memory.add, args=(f"from thread {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.list().total == 8


def test_what_the_companion_weighs_can_be_set(home: Home) -> None:
    """Recency as much as relevance by default; nothing at all where its owner says so."""
    orders: list[list[str]] = []
    none = {"companion_alpha": 0, "companion_beta": 0, "companion_gamma": 0}
    choices: tuple[dict[str, Any], ...] = ({}, {"companion_beta": 0}, none)
    for weights in choices:
        with home.memory(**weights) as memory:
            if not orders:
                memory.add("The green boat is called Esmeralda", created_at="2020-05-01T00:00:00Z", importance=0.5)
                memory.add("Esmeralda likes chess", importance=0.5)
            found = memory.search("what is the green boat called, Esmeralda?", recipe="companion", min_relevance=0)
            orders.append([hit.memory.content.split()[-1] for hit in found if hit.memory])
    assert orders[0] == ["chess", "Esmeralda"]
    assert orders[1] == ["Esmeralda", "chess"]
    assert sorted(orders[2]) == sorted(orders[0])
