"""Memories: what goes in comes out, whole, and is found by each of the ways the port names."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import MISSING, fields, replace
from datetime import timedelta, timezone
from typing import Any

import pytest

from recollect.errors import Conflict, NotFound
from recollect.model import Memory, MemoryType, Scores, Source, Status
from recollect.ports import Store, Tx
from tests.contract.samples import ANA, HOSTILE, T0, at, digest, memory, remember

FULL = Memory(
    id="m-full",
    content="Ana 喜欢绿茶 🍵\n\twith “milk”, naïve e\u0301",
    type=MemoryType.PREFERENCE,
    theme="food",
    key="drink",
    value={"kind": "tea", "sugar": 0, "with": ["milk", None], "热": True},
    role="assistant",
    source=Source.INFERRED,
    confidence=0.25,
    importance=0.75,
    base_importance=0.625,
    pinned=True,
    manually_saved=True,
    tags=("drink", "茶", "a b"),
    source_ids=("m-a", "m-b"),
    source_conversation_id="c-1",
    source_message_id="msg-1",
    source_expired_at=at(6),
    metadata_confidence=0.5,
    simhash=0xFEDC_BA98_7654_3210,
    repeat_count=3,
    status=Status.SUPERSEDED,
    supersedes="m-old",
    created_at=T0,
    updated_at=at(1),
    last_accessed=at(2),
    access_count=7,
    expires_at=at(3),
    deleted_at=at(4),
    last_scores=Scores(relevance=0.5, recency=0.25, importance=0.75, total=0.625, computed_at=at(5)),
)


async def stored(store: Store, id: str) -> Memory | None:
    return (await store.read(ANA, lambda tx: tx.memories.get([id]))).get(id)


def test_the_full_sample_leaves_no_field_at_its_default() -> None:
    for each in fields(Memory):
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        assert getattr(FULL, each.name) != default, each.name


async def test_every_field_comes_back(store: Store) -> None:
    await remember(store, ANA, FULL, memory("m-plain"))
    assert await stored(store, "m-full") == FULL
    assert await stored(store, "m-plain") == memory("m-plain")


async def test_enumerations_come_back_as_themselves(store: Store) -> None:
    await remember(store, ANA, FULL)
    found = await stored(store, "m-full")
    assert found is not None
    assert (type(found.type), type(found.source), type(found.status)) == (MemoryType, Source, Status)
    assert type(found.tags) is tuple
    assert type(found.pinned) is bool


async def test_any_json_value_comes_back_exactly(store: Store) -> None:
    values: list[Any] = [None, True, False, 0, -1, 2**70, 0.1, 1.5e-7, 1e23, 1e308, "", "null", "[1]", [], {}, [None]]
    values += [{"a": None}, {"": [{"deep": ["é", "🎉", "\\", '"', "\u2028"]}]}, [[1, 2], [True, "1", 1.5]]]
    await remember(store, ANA, *(memory(f"m{n}", f"text {n}", value=v) for n, v in enumerate(values)))
    found = await store.read(ANA, lambda tx: tx.memories.get(f"m{n}" for n in range(len(values))))
    for number, value in enumerate(values):
        back = found[f"m{number}"].value
        assert (back, type(back)) == (value, type(value))


async def test_a_value_is_no_longer_the_callers_to_change(store: Store) -> None:
    value = ["tea"]
    await remember(store, ANA, memory(value=value))
    value.append("coffee")
    found = await stored(store, "m1")
    assert found is not None
    assert found.value == ["tea"]


async def test_all_sixty_four_bits_of_a_simhash_come_back(store: Store) -> None:
    hashes = [0, 1, 2**16, 2**63 - 1, 2**63, 2**64 - 1]
    await remember(store, ANA, *(memory(f"m{h}", f"text {h}", simhash=h) for h in hashes))
    found = await store.read(ANA, lambda tx: tx.memories.get([f"m{h}" for h in hashes]))
    assert [found[f"m{h}"].simhash for h in hashes] == hashes


async def test_a_time_is_the_same_moment_in_utc_to_the_microsecond(store: Store) -> None:
    shanghai = timezone(timedelta(hours=8))
    times = [
        T0.astimezone(shanghai),
        T0.replace(year=1969, microsecond=1),
        T0.replace(year=2286, microsecond=999999),
    ]
    await remember(store, ANA, *(memory(f"m{n}", f"t{n}", created_at=t) for n, t in enumerate(times)))
    found = await store.read(ANA, lambda tx: tx.memories.get(["m0", "m1", "m2"]))
    for number, time in enumerate(times):
        back = found[f"m{number}"].created_at
        assert (back, back.utcoffset()) == (time, timedelta(0))


async def test_long_text_comes_back(store: Store) -> None:
    long = "茶 and tea. " * 10_000
    await remember(store, ANA, memory(content=long))
    found = await stored(store, "m1")
    assert found is not None
    assert found.content == long


async def test_an_id_in_use_is_a_conflict_and_changes_nothing(store: Store) -> None:
    await remember(store, ANA, memory(content="first"))
    with pytest.raises(Conflict) as caught:
        await remember(store, ANA, memory(content="zanzibar"))
    assert "zanzibar" not in str(caught.value)
    assert await stored(store, "m1") == memory(content="first")


async def test_get_returns_what_exists(store: Store) -> None:
    await remember(store, ANA, memory("a"), memory("b", "else"))

    def work(tx: Tx) -> list[set[str]]:
        many = [f"absent-{n}" for n in range(2000)]
        asked: list[list[str]] = [[], ["b"], ["absent"], ["a", "b", "a"], [*many, "a"]]
        return [set(tx.memories.get(ids)) for ids in asked]

    assert await store.read(ANA, work) == [set(), {"b"}, set(), {"a", "b"}, {"a"}]


async def test_scan_walks_all_statuses_in_id_order(store: Store) -> None:
    ids = ["B", "a", "b", "é", "茶", "a1"]
    statuses = [*Status, *Status]
    await remember(store, ANA, *(memory(id, id, status=s) for id, s in zip(ids, statuses, strict=True)))

    def walk(tx: Tx) -> list[str]:
        seen: list[str] = []
        while page := tx.memories.scan(seen[-1] if seen else None, 2):
            seen += [each.id for each in page]
        return seen

    assert await store.read(ANA, walk) == sorted(ids)


async def test_a_twin_is_active_and_has_the_same_digest(store: Store) -> None:
    await remember(store, ANA, memory("a", "same"), memory("b", "old", status=Status.ARCHIVED))

    def work(tx: Tx) -> list[Memory | None]:
        return [tx.memories.twin(digest(text)) for text in ("same", "old", "absent")]

    assert await store.read(ANA, work) == [memory("a", "same"), None, None]


async def test_a_twin_is_found_by_its_present_digest(store: Store) -> None:
    await remember(store, ANA, memory(content="before"))
    after = memory(content="after")
    await store.write(ANA, lambda tx: tx.memories.replace(after, digest("after")))
    twins = await store.read(ANA, lambda tx: [tx.memories.twin(digest(t)) for t in ("before", "after")])
    assert twins == [None, after]


async def test_near_finds_hashes_up_to_the_distance_wherever_the_bits_lie(store: Store) -> None:
    base = 0xF0F0_1234_89AB_5A5A
    for bits in ((), (0,), (63,), (15, 16), (0, 63), (5, 21, 37), (47, 48, 62)):
        other = memory(simhash=base ^ sum(1 << bit for bit in bits))

        def work(tx: Tx, other: Memory = other) -> list[bool]:
            tx.memories.delete([other.id])
            tx.memories.insert(other, digest(other.content))
            return [bool(tx.memories.near(base, distance, 10)) for distance in range(4)]

        assert await store.write(ANA, work) == [distance >= len(bits) for distance in range(4)]


async def test_near_leaves_out_the_far_and_the_inactive(store: Store) -> None:
    near = [memory(f"n{n}", f"near {n}", simhash=1 << n) for n in range(3)]
    far = memory("far", "far", simhash=0b1111 << 30)
    gone = memory("gone", "gone", simhash=0, status=Status.SUPERSEDED)
    await remember(store, ANA, *near, far, gone)
    found = await store.read(ANA, lambda tx: tx.memories.near(0, 3, 10))
    assert {each.id for each in found} == {"n0", "n1", "n2"}
    assert len(await store.read(ANA, lambda tx: tx.memories.near(0, 3, 2))) == 2


async def test_near_follows_a_replaced_hash(store: Store) -> None:
    await remember(store, ANA, memory(simhash=0))
    moved = memory(simhash=2**64 - 1)
    await store.write(ANA, lambda tx: tx.memories.replace(moved, digest(moved.content)))
    found = await store.read(ANA, lambda tx: [tx.memories.near(h, 3, 9) for h in (0, 2**64 - 2)])
    assert [list(each) for each in found] == [[], [moved]]


async def test_keyed_finds_active_memories_of_that_key(store: Store) -> None:
    same = [memory("a", "1", key="drink"), memory("b", "2", key="drink")]
    others = [
        memory("c", "3", key="Drink"),
        memory("d", "4"),
        memory("e", "5", key="drink", status=Status.ARCHIVED),
    ]
    await remember(store, ANA, *same, *others)
    found = await store.read(ANA, lambda tx: tx.memories.keyed("drink"))
    assert sorted(found, key=lambda each: each.id) == same


async def test_replace_writes_every_field(store: Store) -> None:
    await remember(store, ANA, memory("m-full", "before"))
    await store.write(ANA, lambda tx: tx.memories.replace(FULL, digest(FULL.content)))
    assert await stored(store, "m-full") == FULL
    await store.write(ANA, lambda tx: tx.memories.replace(memory("m-full"), digest("likes")))
    assert await stored(store, "m-full") == memory("m-full")


async def test_replace_never_creates(store: Store) -> None:
    with suppress(NotFound):
        await store.write(ANA, lambda tx: tx.memories.replace(memory(), digest("x")))
    assert await stored(store, "m1") is None


async def test_the_latest_scores_are_kept_and_nothing_else_changes(store: Store) -> None:
    await remember(store, ANA, memory("b"), memory("c", "unrated"))
    for total, minute in ((1.5, 1), (2.25, 2)):
        rated = Scores(relevance=0.5, recency=0.25, importance=0.75, total=total, computed_at=at(minute))
        await store.write(ANA, lambda tx, s=rated: tx.memories.rate({"b": s, "absent": s}))  # type: ignore[misc]
        assert await stored(store, "b") == replace(memory("b"), last_scores=rated)
    assert await stored(store, "c") == memory("c", "unrated")


async def test_touch_counts_an_access_and_nothing_else(store: Store) -> None:
    await remember(store, ANA, FULL, memory("b"), memory("c", "untouched"))
    await store.write(ANA, lambda tx: tx.memories.touch(["m-full", "b", "absent"], at(9)))
    await store.write(ANA, lambda tx: tx.memories.touch(["b", "b"], at(10)))
    assert await stored(store, "m-full") == replace(FULL, access_count=8, last_accessed=at(9))
    assert await stored(store, "b") == memory("b", access_count=3, last_accessed=at(10))
    assert await stored(store, "c") == memory("c", "untouched")


async def test_descendants_name_a_parent_as_source_or_as_superseded(store: Store) -> None:
    await remember(
        store,
        ANA,
        memory("parent", "0"),
        memory("derived", "1", source_ids=("other", "parent")),
        memory("newer", "2", supersedes="parent"),
        memory("archived", "3", source_ids=("parent",), status=Status.ARCHIVED),
        memory("unrelated", "4", source_ids=("paren", "parent2"), supersedes="arent"),
    )

    def work(tx: Tx) -> list[list[str]]:
        asked: list[list[str]] = [["parent"], ["absent", "other"], [], ["parent", "other"]]
        return [sorted(each.id for each in tx.memories.descendants(ids)) for ids in asked]

    family = ["archived", "derived", "newer"]
    assert await store.read(ANA, work) == [family, ["derived"], [], family]


async def test_from_messages_finds_what_was_taken_from_them(store: Store) -> None:
    await remember(
        store,
        ANA,
        memory("a", "1", source_message_id="x"),
        memory("b", "2", source_message_id="y"),
        memory("c"),
    )

    def work(tx: Tx) -> list[set[str]]:
        asked: list[list[str]] = [["x"], ["x", "y", "z"], []]
        return [{each.id for each in tx.memories.from_messages(ids)} for ids in asked]

    assert await store.read(ANA, work) == [{"a"}, {"a", "b"}, set()]


async def test_delete_removes_and_counts(store: Store) -> None:
    await remember(store, ANA, memory("a", "1"), memory("b", "2"), memory("c", "3"))
    assert await store.write(ANA, lambda tx: tx.memories.delete(["a", "absent", "c"])) == 2
    assert await store.write(ANA, lambda tx: tx.memories.delete(["a"])) == 0
    assert await store.write(ANA, lambda tx: tx.memories.delete([])) == 0
    assert set(await store.read(ANA, lambda tx: tx.memories.get(["a", "b", "c"]))) == {"b"}
    assert await store.read(ANA, lambda tx: tx.memories.twin(digest("1"))) is None


async def test_hostile_text_is_data_in_every_field(store: Store) -> None:
    hostile = {
        text: memory(
            f"id {text}", text, theme=text, key=text, value={text: text}, tags=(text, "x"), source_ids=(text,),
            source_message_id=text, supersedes=text, source_conversation_id=text,
        )
        for text in HOSTILE
    }  # fmt: skip
    await remember(store, ANA, *hostile.values())

    def work(tx: Tx) -> None:
        for text, kept in hostile.items():
            assert tx.memories.get([kept.id]) == {kept.id: kept}
            assert list(tx.memories.keyed(text)) == [kept]
            assert tx.memories.twin(digest(text)) == kept
            assert list(tx.memories.descendants([text])) == [kept]
            assert list(tx.memories.from_messages([text])) == [kept]

    await store.read(ANA, work)
