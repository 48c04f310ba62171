"""What ties memories to each other: tellings, flags and slots, the same on every store, and gone with their memory."""

from __future__ import annotations

from recollect.model import Flag, Repeat, Status
from recollect.ports import Store, Tx
from tests.contract.samples import ANA, NEIGHBOURS, T0, at, digest, memory


def telling(id: str, place: int, memory_id: str = "m1", **fields: object) -> Repeat:
    values = {"content": f"tea {id}", "at": at(place), "fields": {"tags": ["绿茶"], "pinned": True}, **fields}
    return Repeat(memory_id=memory_id, id=id, place=place, **values)  # type: ignore[arg-type]


def furnish(tx: Tx) -> None:
    for id in ("m1", "m2", "m3"):
        tx.memories.insert(memory(id, f"tea {id}"), digest(id))
    for each in (telling("m1", 0), telling("r2", 2), telling("r1", 1, source_message_id="msg"), telling("x", 1, "m2")):
        tx.links.keep(each)
    tx.links.flag([Flag(memory_id="m2", other_id="m1", at=T0), Flag(memory_id="m3", other_id="m2", at=at(1))])
    tx.links.state("m1", ["a", "b", "a"])
    tx.links.state("m2", ["b"])


async def test_tellings_come_back_as_they_were_in_their_places(store: Store) -> None:
    await store.write(ANA, furnish)

    def work(tx: Tx) -> None:
        assert [each.id for each in tx.links.repeats(["m1"])] == ["m1", "r1", "r2"]
        assert tx.links.repeats(["m1"])[1] == telling("r1", 1, source_message_id="msg")
        assert [each.id for each in tx.links.repeats(["m2", "m1", "nobody"])] == ["m1", "r1", "r2", "x"]
        assert [each.id for each in tx.links.repeats_from(["msg", "other"])] == ["r1"]
        assert (tx.links.last_place("m1"), tx.links.last_place("m3")) == (2, None)

    await store.read(ANA, work)


async def test_a_telling_can_be_written_anew_and_dropped(store: Store) -> None:
    await store.write(ANA, furnish)
    await store.write(ANA, lambda tx: tx.links.keep(telling("r1", 1, fields={})))
    assert await store.write(ANA, lambda tx: tx.links.drop("m1", ["r2", "x", "nothing"])) == 1
    left = await store.read(ANA, lambda tx: tx.links.repeats(["m1", "m2"]))
    assert [(each.id, dict(each.fields)) for each in left if each.id != "x"] == [
        ("m1", telling("m1", 0).fields),
        ("r1", {}),
    ]


async def test_a_flag_is_seen_from_both_sides_until_it_is_taken_down(store: Store) -> None:
    await store.write(ANA, furnish)
    first, second = (Flag(memory_id="m2", other_id="m1", at=T0), Flag(memory_id="m3", other_id="m2", at=at(1)))
    await store.write(ANA, lambda tx: tx.links.flag([Flag(memory_id="m2", other_id="m1", at=at(9))]))

    def work(tx: Tx) -> None:
        assert list(tx.links.flagged(["m1"])) == [first]
        assert list(tx.links.flagged(["m2"])) == [first, second]
        assert list(tx.links.all_flags(9)) == [second, first]
        assert list(tx.links.all_flags(1)) == [second]

    await store.read(ANA, work)
    assert await store.write(ANA, lambda tx: tx.links.unflag([first, first])) == 1
    assert list(await store.read(ANA, lambda tx: tx.links.all_flags(9))) == [second]


async def test_slots_find_active_memories_newest_first(store: Store) -> None:
    await store.write(ANA, furnish)

    def change(tx: Tx) -> None:
        tx.memories.insert(memory("late", "later", created_at=at(5)), digest("late"))
        tx.links.state("late", ["b"])
        tx.memories.replace(memory("m2", "old", status=Status.SUPERSEDED), digest("m2"))

    await store.write(ANA, change)

    def work(tx: Tx) -> None:
        assert list(tx.links.stating(["b"], 9)) == ["late", "m1"]
        assert list(tx.links.stating(["b", "a"], 1)) == ["late"]
        assert list(tx.links.stating(["a"], 9)) == ["m1"]
        assert list(tx.links.stating([], 9)) == []

    await store.read(ANA, work)
    await store.write(ANA, lambda tx: tx.links.state("m1", ["c"]))
    assert list(await store.read(ANA, lambda tx: tx.links.stating(["a"], 9))) == []


async def test_all_of_it_goes_with_the_memory(store: Store) -> None:
    for scope in (ANA, *NEIGHBOURS):
        await store.write(scope, furnish)
    await store.write(ANA, lambda tx: tx.memories.delete(["m1", "m2"]))

    def nothing(tx: Tx) -> bool:
        return not (tx.links.repeats(["m1", "m2"]) or tx.links.all_flags(9) or tx.links.stating(["a", "b"], 9))

    assert await store.read(ANA, nothing)
    for scope in NEIGHBOURS:
        assert len(await store.read(scope, lambda tx: tx.links.repeats(["m1", "m2"]))) == 4
    await store.write(ANA, lambda tx: tx.erase())
    await store.write(NEIGHBOURS[0], lambda tx: tx.erase())
    assert await store.read(NEIGHBOURS[0], nothing)
