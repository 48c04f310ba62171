"""Listing memories: each filter alone and together, newest first, pages that never overlap, totals that are exact."""

from __future__ import annotations

from recollect.model import Listing, Memory, MemoryType, Page, Source, Status
from recollect.ports import Store, Tx
from tests.contract.samples import ANA, HOSTILE, at, memory, remember

SHELF = (
    memory("a", "1", created_at=at(0), type=MemoryType.FACT, tags=("x",), theme="food"),
    memory("b", "2", created_at=at(1), type=MemoryType.PREFERENCE, tags=("x", "y"), theme="food", pinned=True),
    memory("c", "3", created_at=at(2), type=MemoryType.NOTE, tags=("z",), theme="work", manually_saved=True),
    memory("d", "4", created_at=at(3), type=MemoryType.FACT, pinned=True, manually_saved=True),
    memory("e", "5", created_at=at(4), status=Status.SUPERSEDED, tags=("x",), theme="food"),
    memory("f", "6", created_at=at(5), status=Status.ARCHIVED, tags=("y",)),
)


FILTERS = [
    (Listing(), "dcba"),
    (Listing(types=(MemoryType.FACT,)), "da"),
    (Listing(types=(MemoryType.FACT, MemoryType.NOTE)), "dca"),
    (Listing(types=(MemoryType.SUMMARY,)), ""),
    (Listing(tags=("x",)), "ba"),
    (Listing(tags=("y", "z")), "cb"),
    (Listing(tags=("X",)), ""),
    (Listing(themes=("food",)), "ba"),
    (Listing(themes=("food", "work")), "cba"),
    (Listing(statuses=(Status.SUPERSEDED,)), "e"),
    (Listing(statuses=(Status.SUPERSEDED, Status.ARCHIVED)), "fe"),
    (Listing(statuses=()), "fedcba"),
    (Listing(pinned=True), "db"),
    (Listing(pinned=False), "ca"),
    (Listing(manually_saved=True), "dc"),
    (Listing(manually_saved=False), "ba"),
    (Listing(since=at(1)), "dcb"),
    (Listing(until=at(1)), "a"),
    (Listing(since=at(1), until=at(3)), "cb"),
    (Listing(since=at(3), until=at(1)), ""),
    (Listing(tags=("x",), themes=("food",), pinned=True, types=(MemoryType.PREFERENCE,)), "b"),
    (Listing(tags=("x",), statuses=tuple(Status), since=at(1)), "eb"),
]


async def listed(store: Store, listing: Listing) -> Page[Memory]:
    return await store.read(ANA, lambda tx: tx.memories.list(listing))


async def test_filters(store: Store) -> None:
    await remember(store, ANA, *SHELF)
    for listing, expected in FILTERS:
        page = await listed(store, listing)
        assert "".join(each.id for each in page) == expected, listing
        assert (page.total, page.limit, page.offset) == (len(expected), listing.limit, listing.offset)


async def test_ties_are_broken_by_id(store: Store) -> None:
    await remember(store, ANA, *(memory(id, id) for id in ("b", "A", "c", "a", "茶")))
    assert [each.id for each in await listed(store, Listing())] == ["茶", "c", "b", "a", "A"]


async def test_pages_are_complete_without_overlap_and_totals_are_exact(store: Store) -> None:
    everything = [
        memory(f"m{n:02}", f"{n}", created_at=at(n // 5), tags=("even",) if n % 2 == 0 else ()) for n in range(23)
    ]
    await remember(store, ANA, *everything)

    def walk(tx: Tx) -> list[str]:
        seen: list[str] = []
        for offset in range(0, 20, 4):
            page = tx.memories.list(Listing(tags=("even",), limit=4, offset=offset))
            assert (page.total, page.limit, page.offset) == (12, 4, offset)
            seen += [each.id for each in page]
        return seen

    assert await store.read(ANA, walk) == [f"m{n:02}" for n in range(22, -1, -2)]


async def test_a_page_beyond_the_end_is_empty_but_knows_the_total(store: Store) -> None:
    await remember(store, ANA, memory())
    page = await listed(store, Listing(limit=10, offset=10))
    assert (page.items, page.total) == ((), 1)


async def test_an_empty_scope_lists_nothing(store: Store) -> None:
    page = await listed(store, Listing())
    assert (page.items, page.total) == ((), 0)


async def test_hostile_filters_match_only_themselves(store: Store) -> None:
    await remember(store, ANA, *(memory(t, t, theme=t, tags=(t,)) for t in HOSTILE), memory("plain", "tea"))

    def work(tx: Tx) -> None:
        for text in HOSTILE:
            for listing in (
                Listing(tags=(text,)),
                Listing(themes=(text,)),
                Listing(themes=(text,), tags=(text, "no")),
            ):
                page = tx.memories.list(listing)
                assert ([each.id for each in page], page.total) == ([text], 1)

    await store.read(ANA, work)


async def test_captured_is_what_came_in_by_itself(store: Store) -> None:
    ways = {
        f"{source}-{talk}-{pinned:d}{saved:d}": {
            "source": source,
            "source_conversation_id": talk,
            "pinned": pinned,
            "manually_saved": saved,
        }
        for source in Source
        for talk in (None, "c1")
        for pinned in (False, True)
        for saved in (False, True)
    }
    held = [memory(id, id, **fields) for id, fields in ways.items()]
    await remember(store, ANA, *held)
    for captured in (True, False):
        expected = {each.id for each in held if each.captured is captured}
        assert expected
        assert {each.id for each in await listed(store, Listing(captured=captured, limit=100))} == expected


async def test_what_has_expired_can_be_listed(store: Store) -> None:
    await remember(store, ANA, memory("never"), *(memory(f"m{n}", f"m{n}", expires_at=at(n)) for n in range(4)))
    assert {each.id for each in await listed(store, Listing(expired_at=at(2)))} == {"m0", "m1", "m2"}
