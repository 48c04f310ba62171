"""What ties memories to each other: tellings, flags and slots, the same on every store, and gone with their memory."""

from __future__ import annotations

from recollect.model import Conversation, Flag, Message, Repeat, Status, Use
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


def use(memory_id: str, message_id: str, reference: str = "m1", minutes: int = 0, *, cited: bool = False) -> Use:
    return Use(memory_id=memory_id, message_id=message_id, reference=reference, cited=cited, at=at(minutes))


USES = (
    use("m1", "a", minutes=1, cited=True),
    use("m2", "a", "m2", 1),
    use("m1", "b", minutes=2),
    use("m1", "c", minutes=3),
)


def converse(tx: Tx) -> None:
    furnish(tx)
    for order, (id, session) in enumerate((("a", "monday"), ("b", "monday"), ("c", "friday"))):
        tx.conversations.open(Conversation(id=session, created_at=T0, updated_at=T0))
        said = Message(id=id, session_id=session, order=order, role="assistant", content="tea", created_at=T0)
        tx.conversations.append([said])
    tx.links.use(USES)
    tx.links.use([use("m1", "a", "m9")])
    tx.links.use([])


async def test_where_a_memory_was_used_is_known_from_both_sides(store: Store) -> None:
    await store.write(ANA, converse)

    def work(tx: Tx) -> None:
        assert list(tx.links.uses("m1", 9)) == [USES[3], USES[2], USES[0]]
        assert list(tx.links.uses("m1", 1)) == [USES[3]]
        assert list(tx.links.used_by(["b", "a", "nothing"])) == [USES[0], USES[1], USES[2]]
        assert not tx.links.uses("m3", 9)
        first = list(tx.links.scan_uses(None, 2))
        assert first == [USES[0], USES[2]]
        assert list(tx.links.scan_uses(first[-1], 9)) == [USES[3], USES[1]]
        assert not tx.links.scan_uses(USES[1], 9)

    await store.read(ANA, work)
    for other in NEIGHBOURS:
        assert not await store.read(other, lambda tx: [*tx.links.scan_uses(None, 9), *tx.links.used_by(["a"])])


async def test_a_use_goes_with_its_memory_its_message_and_its_conversation(store: Store) -> None:
    await store.write(ANA, converse)
    await store.write(ANA, lambda tx: tx.memories.delete(["m2"]))
    assert list(await store.read(ANA, lambda tx: tx.links.used_by(["a"]))) == [USES[0]]
    await store.write(ANA, lambda tx: tx.conversations.delete_messages(["b"]))
    assert list(await store.read(ANA, lambda tx: tx.links.uses("m1", 9))) == [USES[3], USES[0]]
    await store.write(ANA, lambda tx: tx.conversations.delete(["friday"]))
    assert list(await store.read(ANA, lambda tx: tx.links.uses("m1", 9))) == [USES[0]]
    await store.write(ANA, lambda tx: tx.erase())
    assert not await store.read(ANA, lambda tx: tx.links.used_by(["a"]))
