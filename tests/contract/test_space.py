"""Settings, themes, tombstones, audit trail and working memories of a space."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from typing import Any

import pytest

from recollect.errors import Conflict
from recollect.model import AuditEvent, Declaration, SpaceSettings, Status, Theme, Tombstone, WorkingMemory
from recollect.ports import Store, Tx
from tests.contract.samples import ANA, HOSTILE, NEIGHBOURS, T0, at, digest, memory, remember

SETTINGS = SpaceSettings(
    memory_enabled=False, incognito_default=True, soft_cap=0, shared_tags=("x", "茶"), retention_days=30
)
EVENT = AuditEvent(
    id="e-1",
    at=at(1),
    action="forget",
    target_kind="memory",
    target_id="m1",
    correlation_id="corr",
    facts={"count": 2, "ids": ["a", None], "ok": True},
)
WORKING = WorkingMemory(
    session_id="s1",
    current_topic="Tea 茶",
    context_variables={"city": "Kraków", "n": [1, None]},
    turn_count=3,
    last_emotion="curious",
    created_at=T0,
    updated_at=at(1),
)


def theme(slug: str, **changes: Any) -> Theme:
    defaults: dict[str, Any] = {"display_name": slug.title(), "created_at": T0, "updated_at": T0}
    return Theme(slug=slug, **{**defaults, **changes})


def working(session_id: str, minute: float) -> WorkingMemory:
    return WorkingMemory(session_id=session_id, created_at=T0, updated_at=at(minute))


def test_the_full_samples_leave_no_field_at_its_default() -> None:
    for sample in (SETTINGS, EVENT, WORKING):
        for each in fields(sample):
            default = each.default_factory() if each.default_factory is not MISSING else each.default
            assert getattr(sample, each.name) != default, each.name


async def test_a_scope_is_known_once_it_holds_something(store: Store) -> None:
    assert await store.read(ANA, lambda tx: tx.space.known()) is False
    assert await store.write(ANA, lambda tx: tx.space.known()) is False
    assert await store.read(ANA, lambda tx: tx.space.known()) is False, "asking leaves nothing behind"
    await remember(store, ANA, memory())
    for ask in (store.read, store.write):
        assert await ask(ANA, lambda tx: tx.space.known()) is True
        assert await ask(replace(ANA, space="other"), lambda tx: tx.space.known()) is False
    await store.write(ANA, lambda tx: tx.erase())
    assert await store.write(ANA, lambda tx: tx.space.known()) is False


async def test_sessions_are_declared_incognito_or_not_until_that_is_taken_back(store: Store) -> None:
    def declared(tx: Tx) -> list[bool | None]:
        return [tx.space.incognito("one"), tx.space.incognito("two"), tx.space.incognito("three")]

    def declare(tx: Tx) -> None:
        tx.space.declare_incognito("one", True, T0)
        tx.space.declare_incognito("two", False, T0)

    await store.write(ANA, declare)
    assert await store.read(ANA, declared) == [True, False, None]
    assert await store.read(replace(ANA, user="ben"), declared) == [None, None, None]
    await store.write(ANA, lambda tx: tx.space.declare_incognito("two", True, at(1)))
    await store.write(ANA, lambda tx: tx.space.declare_incognito("one", None, at(2)))
    await store.write(ANA, lambda tx: tx.space.declare_incognito("three", None, at(2)))
    assert await store.read(ANA, declared) == [None, True, None]
    await store.write(ANA, lambda tx: tx.erase())
    assert await store.read(ANA, declared) == [None, None, None]


async def test_a_session_is_incognito_in_every_space_and_open_in_the_one_that_says_so(store: Store) -> None:
    work = replace(ANA, space="work")

    async def said() -> list[bool | None]:
        return [await store.read(scope, lambda tx: tx.space.incognito("one")) for scope in (ANA, work)]

    await store.write(ANA, lambda tx: tx.space.declare_incognito("one", False, T0))
    assert await said() == [False, None]
    await store.write(work, lambda tx: tx.space.declare_incognito("one", True, T0))
    assert await said() == [True, True]
    await store.write(ANA, lambda tx: tx.space.declare_incognito("one", None, T0))
    assert await said() == [None, None]
    await store.write(ANA, lambda tx: tx.space.declare_incognito("one", True, T0))
    await store.write(work, lambda tx: tx.space.declare_incognito("one", False, T0))
    assert await said() == [None, False], "what was said last counts, wherever it was said"
    other = replace(ANA, user="ben")
    assert await store.read(other, lambda tx: tx.space.incognito("one")) is None


async def test_settings_begin_at_their_defaults_and_are_kept(store: Store) -> None:
    assert await store.read(ANA, lambda tx: tx.space.settings()) == SpaceSettings()
    await remember(store, ANA, memory())
    assert await store.read(ANA, lambda tx: tx.space.settings()) == SpaceSettings()
    for settings in (SETTINGS, SpaceSettings()):
        await store.write(ANA, lambda tx, kept=settings: tx.space.save_settings(kept))  # type: ignore[misc]
        assert await store.read(ANA, lambda tx: tx.space.settings()) == settings


async def test_themes_count_active_memories_largest_first(store: Store) -> None:
    await remember(
        store,
        ANA,
        *(memory(f"w{n}", f"w{n}", theme="work") for n in range(3)),
        memory("f", "f", theme="food"),
        memory("old", "old", theme="food", status=Status.SUPERSEDED),
        memory("none", "none"),
    )
    shelf = [theme("food", description="what is eaten"), theme("empty"), theme("work", display_name="工作")]

    def work(tx: Tx) -> None:
        for each in shelf:
            tx.space.save_theme(each)

    await store.write(ANA, work)
    food, empty, job = shelf
    expected = [replace(job, count=3), replace(food, count=1), empty]
    assert list(await store.read(ANA, lambda tx: tx.space.themes())) == expected


async def test_saving_a_theme_again_overwrites_it_and_opening_one_does_not(store: Store) -> None:
    first, second = theme("food"), theme("food", display_name="Food!", description="new", updated_at=at(1))

    async def themes() -> list[Theme]:
        return list(await store.read(ANA, lambda tx: tx.space.themes()))

    await store.write(ANA, lambda tx: tx.space.open_theme(first))
    await store.write(ANA, lambda tx: tx.space.open_theme(second))
    assert await themes() == [first]
    await store.write(ANA, lambda tx: tx.space.save_theme(second))
    assert await themes() == [second]


async def test_a_dropped_theme_is_gone_and_its_memories_stay(store: Store) -> None:
    await remember(store, ANA, memory(theme="food"))
    for slug in ("food", "work"):
        await store.write(ANA, lambda tx, slug=slug: tx.space.save_theme(theme(slug)))  # type: ignore[misc]
    for slug in ("food", "absent"):
        await store.write(ANA, lambda tx, slug=slug: tx.space.drop_theme(slug))  # type: ignore[misc]
    assert [each.slug for each in await store.read(ANA, lambda tx: tx.space.themes())] == ["work"]
    assert len(await store.read(ANA, lambda tx: tx.memories.get(["m1"]))) == 1


async def test_a_tombstone_holds_until_it_expires(store: Store) -> None:
    stone = Tombstone(digest=digest("x"), created_at=T0, expires_at=at(10))
    await store.write(ANA, lambda tx: tx.space.bury([stone, replace(stone, digest=digest("y"), expires_at=at(20))]))

    def work(tx: Tx) -> list[Tombstone | None]:
        return [tx.space.buried(stone.digest, at(minute)) for minute in (0, 9.99, 10, 11)]

    assert await store.read(ANA, work) == [stone, stone, None, None]
    assert await store.read(ANA, lambda tx: tx.space.buried(digest("z"), T0)) is None


async def test_burying_again_extends_and_never_shortens(store: Store) -> None:
    stone = Tombstone(digest=digest("x"), created_at=T0, expires_at=at(10))
    for until in (10, 30, 20):
        again = replace(stone, expires_at=at(until))
        await store.write(ANA, lambda tx, again=again: tx.space.bury([again]))  # type: ignore[misc]
    found = await store.read(ANA, lambda tx: tx.space.buried(stone.digest, at(29)))
    assert found is not None
    assert found.expires_at == at(30)
    await store.write(ANA, lambda tx: tx.space.bury([]))


async def test_exhuming_removes_what_has_expired(store: Store) -> None:
    stones = [Tombstone(digest=digest(str(n)), created_at=T0, expires_at=at(n)) for n in range(5)]
    await store.write(ANA, lambda tx: tx.space.bury(stones))
    assert await store.write(ANA, lambda tx: tx.space.exhume(at(2.5))) == 3
    assert await store.write(ANA, lambda tx: tx.space.exhume(at(2.5))) == 0
    buried = await store.read(ANA, lambda tx: [bool(tx.space.buried(each.digest, at(-1))) for each in stones])
    assert buried == [False, False, False, True, True]


async def test_the_audit_trail_is_kept_newest_first(store: Store) -> None:
    events = [AuditEvent(id=f"e{n}", at=at(n // 2), action="remember") for n in range(5)]

    def work(tx: Tx) -> None:
        for event in (EVENT, *events):
            tx.space.record(event)

    await store.write(ANA, work)
    pages = [await store.read(ANA, lambda tx, o=o: tx.space.audit(4, o)) for o in (0, 4, 8)]  # type: ignore[misc]
    assert [[each.id for each in page] for page in pages] == [["e4", "e3", "e2", "e-1"], ["e1", "e0"], []]
    assert [(page.total, page.limit, page.offset) for page in pages] == [(6, 4, 0), (6, 4, 4), (6, 4, 8)]
    assert EVENT in pages[0].items


async def test_an_audit_id_in_use_is_a_conflict(store: Store) -> None:
    await store.write(ANA, lambda tx: tx.space.record(EVENT))
    with pytest.raises(Conflict):
        await store.write(ANA, lambda tx: tx.space.record(replace(EVENT, action="other")))
    assert (await store.read(ANA, lambda tx: tx.space.audit(9, 0))).items == (EVENT,)


async def test_working_memory_is_kept_per_session(store: Store) -> None:
    async def held(session_id: str) -> WorkingMemory | None:
        return await store.read(ANA, lambda tx: tx.space.working(session_id))

    assert await held("s1") is None
    await store.write(ANA, lambda tx: tx.space.save_working(WORKING))
    assert await held("s1") == WORKING
    await store.write(ANA, lambda tx: tx.space.save_working(working("s1", 2)))
    assert await held("s1") == working("s1", 2)
    assert await held("s2") is None


async def test_working_memory_is_dropped_by_session(store: Store) -> None:
    def work(tx: Tx) -> None:
        for session in ("s1", "s2", "s3"):
            tx.space.save_working(working(session, 1))

    await store.write(ANA, work)
    assert await store.write(ANA, lambda tx: tx.space.drop_working(["s1", "s3", "absent"])) == 2
    assert await store.write(ANA, lambda tx: tx.space.drop_working([])) == 0
    left = await store.read(ANA, lambda tx: [bool(tx.space.working(s)) for s in ("s1", "s2", "s3")])
    assert left == [False, True, False]


async def test_idle_sessions_are_those_not_updated_since(store: Store) -> None:
    def work(tx: Tx) -> None:
        for minute, session in enumerate(("s3", "s1", "s2")):
            tx.space.save_working(working(session, minute))

    await store.write(ANA, work)

    async def idle(minute: float, limit: int = 9) -> list[str]:
        found = await store.read(ANA, lambda tx: tx.space.idle_working(at(minute), limit))
        return [each.session_id for each in found]

    assert [await idle(0), await idle(1.5), await idle(9)] == [[], ["s3", "s1"], ["s3", "s1", "s2"]]
    assert await idle(9, limit=2) == ["s3", "s1"]


async def test_hostile_text_is_data_in_every_field(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number, text in enumerate(HOSTILE):
            tx.space.save_theme(theme(text, display_name=text, description=text))
            tx.space.save_working(replace(WORKING, session_id=text, current_topic=text, context_variables={text: text}))
            tx.space.record(replace(EVENT, id=str(number), target_id=text, correlation_id=text, facts={text: [text]}))
        tx.space.save_settings(SpaceSettings(shared_tags=HOSTILE))

    await store.write(ANA, work)

    def look(tx: Tx) -> None:
        assert {each.slug for each in tx.space.themes()} == set(HOSTILE)
        assert {each.target_id for each in tx.space.audit(99, 0)} == set(HOSTILE)
        assert tx.space.settings().shared_tags == HOSTILE
        for text in HOSTILE:
            held = tx.space.working(text)
            assert held is not None
            assert held.context_variables == {text: text}

    await store.read(ANA, look)


async def test_what_is_left_over_of_tombstones_and_sessions_is_counted_and_dropped(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.space.bury([Tombstone(digest=f"d{n}", created_at=T0, expires_at=at(n)) for n in range(3)])
        for number in range(3):
            tx.space.declare_incognito(f"s{number}", True, at(number))
        tx.space.declare_incognito("s0", True, at(9))  # said again

    def left(tx: Tx) -> tuple[int, int]:
        return tx.space.graves(at(2)), tx.space.declared(at(2))

    await store.write(ANA, work)
    assert await store.read(ANA, left) == (2, 1)
    assert await store.write(ANA, lambda tx: (tx.space.exhume(at(2)), tx.space.drop_declared(at(2)))) == (2, 1)
    assert await store.read(ANA, left) == (0, 0)
    assert await store.read(ANA, lambda tx: [tx.space.incognito(f"s{n}") for n in range(3)]) == [True, None, True]


async def test_a_space_sees_which_of_its_owners_other_spaces_share_something(store: Store) -> None:
    for space, settings in (
        ("work", SpaceSettings(shared_tags=("team", "茶"))),
        ("home", SpaceSettings(shared_tags=("family",))),
        ("shut", SpaceSettings(shared_tags=("team",), memory_enabled=False)),
        ("closed", SpaceSettings(soft_cap=3)),
        (ANA.space, SpaceSettings(shared_tags=("mine",))),
    ):
        await store.write(ANA.within(space), lambda tx, kept=settings: tx.space.save_settings(kept))  # type: ignore[misc]
    for stranger in (replace(ANA, user="ben", space="theirs"), replace(ANA, tenant="globex", space="theirs")):
        await store.write(stranger, lambda tx: tx.space.save_settings(SpaceSettings(shared_tags=("team",))))
    assert dict(await store.read(ANA, lambda tx: tx.space.sharing())) == {"home": ("family",), "work": ("team", "茶")}
    assert dict(await store.read(ANA.within("new"), lambda tx: tx.space.sharing())) == {
        "home": ("family",),
        "work": ("team", "茶"),
        ANA.space: ("mine",),
    }


async def test_everything_of_a_space_is_read_in_pages_by_name(store: Store) -> None:
    """For a move: each in the order of its name, whatever the order it came in."""
    stones = [Tombstone(digest=digest(str(n)), created_at=T0, expires_at=at(n)) for n in range(5)]
    said = [Declaration(session=name, incognito=name == "b", declared_at=at(n)) for n, name in enumerate("bBaä茶")]

    def work(tx: Tx) -> None:
        tx.space.bury(stones)
        tx.space.keep_declarations(said)
        for name in ("b", "B", "a", "ä", "茶"):
            tx.space.save_working(working(name, 1))

    await store.write(ANA, work)
    stones.sort(key=lambda stone: stone.digest)
    said.sort(key=lambda each: each.session)
    assert await store.read(ANA, lambda tx: tx.space.tombstones(None, 3)) == stones[:3]
    assert await store.read(ANA, lambda tx: tx.space.tombstones(stones[2].digest, 3)) == stones[3:]
    assert await store.read(ANA, lambda tx: tx.space.declarations(None, 2)) == said[:2]
    assert await store.read(ANA, lambda tx: tx.space.declarations(said[1].session, 9)) == said[2:]
    names = [each.session_id for each in await store.read(ANA, lambda tx: tx.space.workings("B", 9))]
    assert names == ["a", "b", "ä", "茶"]
    for scope in NEIGHBOURS:
        assert not await store.read(scope, lambda tx: tx.space.tombstones(None, 9))


async def test_a_declaration_that_arrives_changes_nothing_that_was_said(store: Store) -> None:
    await store.write(ANA, lambda tx: tx.space.declare_incognito("one", True, T0))
    late = Declaration(session="one", incognito=False, declared_at=at(1))
    await store.write(ANA, lambda tx: tx.space.keep_declarations([late]))
    work = NEIGHBOURS[2]
    await store.write(work, lambda tx: tx.space.keep_declarations([late]))
    assert await store.read(ANA, lambda tx: tx.space.incognito("one")) is True
    assert await store.read(work, lambda tx: tx.space.declarations(None, 9)) == [late]
