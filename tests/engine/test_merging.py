"""What is said again is tied to what it repeats, and can be taken back to the letter."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.engine import Engine
from recollect.errors import NotFound
from recollect.model import Listing, Memory, Query, Scope, Status
from recollect.policy.duplicates import form_of, kinds
from recollect.ports import Store
from recollect.testing import ManualClock, ReferenceStore
from tests.engine.conftest import ANA, anywhere, engine_over

TEA = "We drink green tea on Fridays"
CLOTHES = (
    "we drink GREEN tea on fridays!",
    "We drink green tea\n on Fridays.",
    "On Fridays, we drink green tea",
    "We drink “green tea” on Fridays https://tea.example/1?utm_source=x",
)


async def told(engine: Engine, *texts: str, scope: Scope = ANA, **fields: Any) -> list[str]:
    receipts = [await engine.remember(scope, {"content": text, **fields}) for text in texts]
    return [receipt.id or "" for receipt in receipts]


@pytest.mark.parametrize("other", CLOTHES)
async def test_the_same_in_other_clothes_makes_no_second_memory(engine: Engine, other: str) -> None:
    first, second = await told(engine, "We drink green tea on fridays", other)
    assert first == second
    (memory,) = await engine.list(ANA, Listing())
    assert (memory.content, memory.repeat_count) == ("We drink green tea on fridays", 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ana owes Bo 20 euros", "Bo owes Ana 20 euros"),
        ("Ana owes Bo 20 euros", "Ana owes Bo 30 euros"),
        ("Ana owes Bo 20 euros", "Ana owes Bo 20 dollars"),
        ("We ship on 3 May", "We ship on 4 May"),
        ("We ship at 9 am", "We ship at 9 pm"),
        ('The film is called "Up"', 'The film is called "Down"'),
        ("Anna likes hiking in Norway", "Anne likes hiking in Norway"),
        ("the user_id column is indexed", "the user_ids column is indexed"),
        ("I never eat fish", "I ever eat fish"),
        ("他欠我五十块", "我欠他五十块"),
        ("会议在三点", "会议在四点"),
        ("他说他不去", "他说他去"),
    ],
)
@anywhere
async def test_what_differs_is_never_merged(engine: Engine, before: str, after: str) -> None:
    await told(engine, before)
    assert (await engine.remember(ANA, {"content": after})).outcome != "merged"
    assert {each.content for each in await engine.list(ANA, Listing(statuses=tuple(Status)))} == {before, after}


async def test_every_telling_is_kept_as_it_came(engine: Engine) -> None:
    (id, *_) = await told(engine, TEA, *CLOTHES[:2])
    first, *others = await engine.repeats(ANA, id)
    assert (first.id, first.content) == (id, TEA)
    assert [each.content for each in others] == list(CLOTHES[:2])
    assert list(await engine.repeats(ANA, (await told(engine, "Something else"))[0])) == []
    with pytest.raises(NotFound):
        await engine.repeats(ANA, "nobody")


async def test_a_merge_strengthens_and_its_undoing_leaves_no_trace(engine: Engine) -> None:
    (id,) = await told(engine, TEA, tags=["drinks"], confidence=0.6)
    before = await engine.get(ANA, id)
    merged = await engine.remember(
        ANA,
        {
            "content": CLOTHES[0],
            "tags": ["tea"],
            "pinned": True,
            "manually_saved": True,
            "source_ids": ["mail"],
            "importance": 0.9,
        },
    )
    during = await engine.get(ANA, id)
    assert (during.repeat_count, during.pinned, during.manually_saved) == (1, True, True)
    assert (during.tags, during.source_ids, during.confidence) == (("drinks", "tea"), ("mail",), 1.0)
    assert during.importance == pytest.approx(0.95)
    alone = await engine.unmerge(ANA, id, merged.repeat or "")
    assert await engine.get(ANA, id) == before
    assert await engine.get(ANA, alone.id) == alone
    assert (alone.content, alone.tags, alone.pinned, alone.repeat_count) == (CLOTHES[0], ("tea",), True, 0)
    assert list(await engine.repeats(ANA, id)) == []
    assert len(await engine.recall(ANA, Query(text="green tea"))) == 2
    with pytest.raises(NotFound):
        await engine.unmerge(ANA, id, merged.repeat or "")


async def test_a_foreign_or_unknown_telling_can_not_be_taken_out(engine: Engine) -> None:
    (id, _) = await told(engine, TEA, CLOTHES[0])
    for memory_id, repeat_id in ((id, id), (id, "nothing"), ("nothing", id)):
        with pytest.raises(NotFound):
            await engine.unmerge(ANA, memory_id, repeat_id)
    with pytest.raises(NotFound):
        await engine.unmerge(Scope("acme", "bo"), id, (await engine.repeats(ANA, id))[1].id)


async def test_an_edit_is_the_last_word(engine: Engine) -> None:
    (id,) = await told(engine, TEA)
    receipts = [await engine.remember(ANA, {"content": each, "tags": ["tea"], "pinned": True}) for each in CLOTHES[:2]]
    await engine.revise(ANA, id, {"tags": ["mine"], "pinned": False})
    await engine.unmerge(ANA, id, receipts[0].repeat or "")
    memory = await engine.get(ANA, id)
    assert (memory.tags, memory.pinned, memory.repeat_count) == (("mine",), False, 1)
    await engine.revise(ANA, id, {"content": "We drink coffee on Fridays"})
    assert list(await engine.repeats(ANA, id)) == [], "a correction leaves nothing of the words before it"


async def test_forgetting_forgets_every_telling(engine: Engine) -> None:
    (id, *_) = await told(engine, "The canary sings in the evening", "the CANARY sings in the evening!")
    await engine.forget(ANA, [id])
    assert list(await engine.store.read(ANA, lambda tx: tx.links.repeats([id]))) == []
    again = await engine.remember(ANA, {"content": "The canary sings, in the evening!!"})
    assert (again.outcome, again.reason) == ("refused", "tombstone")


async def test_a_forgotten_conversation_takes_its_telling_with_it(engine: Engine) -> None:
    for session in ("one", "two"):
        await engine.add_turns(ANA, session, [{"role": "user", "content": "hello", "id": f"m-{session}"}])
    (id,) = await told(engine, "My canary is called Miso.", source_message_id="m-one", source_conversation_id="one")
    await told(engine, "my canary is called MISO", source_message_id="m-two", source_conversation_id="two")
    await engine.forget_conversation(ANA, "one")
    memory = await engine.get(ANA, id)
    assert (memory.content, memory.source_message_id, memory.repeat_count) == ("my canary is called MISO", "m-two", 0)
    assert list(await engine.repeats(ANA, id)) == []
    await engine.forget_conversation(ANA, "two")
    with pytest.raises(NotFound):
        await engine.get(ANA, id)


async def test_tellings_travel_with_an_export(engine: Engine) -> None:
    (id, *_) = await told(engine, TEA, *CLOTHES[:2], tags=["a"])
    await engine.revise(ANA, id, {"tags": ["b"]})
    lines = [line async for line in engine.export(ANA)]
    bo = Scope("acme", "bo")
    await engine.import_lines(bo, lines)
    await engine.import_lines(bo, lines)
    assert await engine.repeats(bo, id) == await engine.repeats(ANA, id)
    (_, repeat, _) = await engine.repeats(bo, id)
    await engine.unmerge(bo, id, repeat.id)
    assert (await engine.get(bo, id)).repeat_count == 1


@pytest.mark.parametrize("texts", [(TEA,), (TEA, *CLOTHES)])
async def test_twenty_writers_at_once_leave_one_record_with_every_telling(
    engine: Engine, texts: tuple[str, ...]
) -> None:
    said = [texts[number % len(texts)] for number in range(20)]
    receipts = await asyncio.gather(*(engine.remember(ANA, {"content": each}) for each in said))
    (memory,) = await engine.list(ANA, Listing())
    assert sorted(each.outcome for each in receipts) == ["merged"] * 19 + ["stored"]
    assert {each.id for each in receipts} == {memory.id}
    assert memory.repeat_count == 19
    kept = await engine.repeats(ANA, memory.id)
    assert sorted(each.content for each in kept) == sorted(said)
    assert [each.place for each in kept] == list(range(20))


FACTS = {
    "tea": ("I like green tea", "i like green tea!", "I LIKE GREEN TEA"),
    "ship": ("We ship the beta on Friday", "On Friday we ship the beta", "we ship the beta, on friday."),
    "owes": ("Ana owes Bo five euros", "ana owes bo five euros"),
    "owed": ("Bo owes Ana five euros", "BO OWES ANA FIVE EUROS!"),
    "茶": ("我明天去喝茶", "明天我去喝茶。", "我明天去喝茶！"),
}
tellings = st.sampled_from([(name, text) for name, texts in FACTS.items() for text in texts])
tags = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True)
lives = st.lists(st.tuples(tellings, tags, st.booleans()), min_size=1, max_size=8)


def canonical(memories: Any) -> dict[str, tuple[Any, ...]]:
    """What is known, whoever said it first."""
    return {
        form_of(each.content): (each.repeat_count, frozenset(each.tags), each.pinned, each.importance)
        for each in memories
    }


def run(work: Any) -> Any:
    async def alone() -> Any:
        engine = engine_over(ReferenceStore(), clock=ManualClock())
        try:
            return await work(engine)
        finally:
            await engine.store.close()

    return asyncio.run(alone())


async def live(engine: Engine, life: Any) -> list[Memory]:
    for (_, text), labels, pinned in life:
        receipt = await engine.remember(ANA, {"content": text, "tags": labels, "pinned": pinned})
        if pinned:  # an edit that changes how it is said, not what
            await engine.revise(ANA, receipt.id or "", {"content": text.strip() + " ", "theme": "drinks"})
    return list(await engine.list(ANA, Listing(limit=50)))


@settings(max_examples=40)
@given(lives, st.randoms(use_true_random=False))
def test_any_order_of_repeats_and_edits_gives_the_same_memories(life: Any, random: Any) -> None:
    shuffled = list(life)
    random.shuffle(shuffled)
    known = run(lambda engine: live(engine, life))
    assert canonical(known) == canonical(run(lambda engine: live(engine, shuffled)))
    assert len(known) == len({name for (name, _), _, _ in life})


@settings(max_examples=40)
@given(lives, st.data())
def test_undoing_any_merge_restores_exactly(life: Any, data: Any) -> None:
    async def work(engine: Engine) -> None:
        said: list[tuple[str, str]] = []
        for (_, text), labels, pinned in life:
            receipt = await engine.remember(ANA, {"content": text, "tags": labels, "pinned": pinned})
            engine.clock.advance(timedelta(minutes=1))  # type: ignore[attr-defined]
            if receipt.repeat:
                said.append((receipt.id or "", receipt.repeat))
        if not said:
            return
        memory_id, repeat_id = data.draw(st.sampled_from(said))
        told_before = await engine.repeats(ANA, memory_id)
        alone = await engine.unmerge(ANA, memory_id, repeat_id)
        after = await engine.get(ANA, memory_id)
        expected = await without(told_before, repeat_id)
        names = (
            "content",
            "repeat_count",
            "tags",
            "pinned",
            "importance",
            "base_importance",
            "confidence",
            "updated_at",
        )
        assert {name: getattr(after, name) for name in names} == {name: getattr(expected, name) for name in names}
        (repeat,) = [each for each in told_before if each.id == repeat_id]
        assert (alone.content, alone.repeat_count, list(alone.tags)) == (repeat.content, 0, repeat.fields["tags"])

    run(work)


async def without(told_before: Any, repeat_id: str) -> Memory:
    """The same life, led by another engine in which that telling never was."""
    clock = ManualClock()
    other = engine_over(ReferenceStore(), clock=clock)
    try:
        id = ""
        for each in told_before:
            if each.id != repeat_id:
                clock.advance(each.at - clock.now())
                receipt = await other.remember(
                    ANA, {"content": each.content, "tags": each.fields["tags"], "pinned": each.fields["pinned"]}
                )
                id = id or receipt.id or ""
        return await other.get(ANA, id)
    finally:
        await other.store.close()


async def test_an_unmerged_telling_is_a_memory_like_any_other(store: Store) -> None:
    engine = engine_over(store)
    (id, _) = await told(engine, TEA, CLOTHES[0], theme="drinks")
    alone = await engine.unmerge(ANA, id, (await engine.repeats(ANA, id))[1].id)
    assert [theme.count for theme in await engine.themes(ANA)] == [2]
    await engine.forget(ANA, [id])
    assert [each.id for each in await engine.list(ANA, Listing())] == [alone.id]
    assert replace(alone, last_accessed=None).theme == "drinks"


TIED = (
    "I like tea. We ship on Monday.",
    "We ship on Monday. I like tea.",
    "I like tea we ship on Monday",
    "we ship on monday i like tea",
    "The sea is deep",
)
"""The first two tie the next two together, each in its own way; without them those are strangers."""


async def groups(engine: Engine) -> list[list[str]]:
    """What was told, by the memory that it became."""
    found = []
    for memory in await engine.list(ANA, Listing(limit=50)):
        tellings = await engine.repeats(ANA, memory.id)
        assert memory.repeat_count == max(0, len(tellings) - 1)
        found.append(sorted(each.content for each in tellings) or [memory.content])
    return sorted(found)


def expected(texts: list[str]) -> list[list[str]]:
    return sorted(sorted(texts[place] for place in group) for group in kinds(texts))


@settings(max_examples=60)
@given(st.lists(st.sampled_from(TIED), min_size=1, max_size=7))
def test_whatever_ties_tellings_together_may_come_last(texts: list[str]) -> None:
    async def work(engine: Engine) -> None:
        for text in texts:
            await engine.remember(ANA, {"content": text})
        assert await groups(engine) == expected(texts)

    run(work)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(TIED), min_size=2, max_size=7), st.data())
def test_without_what_tied_them_they_are_apart_again(texts: list[str], data: Any) -> None:
    async def work(engine: Engine) -> None:
        for text in texts:
            await engine.remember(ANA, {"content": text})
        memories = await engine.list(ANA, Listing(limit=50))
        told = [each for memory in memories for each in await engine.repeats(ANA, memory.id) if each.place]
        if not told:
            return
        gone = data.draw(st.sampled_from(told))
        await engine.unmerge(ANA, gone.memory_id, gone.id)
        rest = list(texts)
        rest.remove(gone.content)
        assert await groups(engine) == sorted([*expected(rest), [gone.content]])

    run(work)


async def test_one_that_ties_two_memories_makes_them_one(engine: Engine) -> None:
    first, second, third, fourth = await told(engine, TIED[2], TIED[3], TIED[0], TIED[1])
    assert first != second
    assert {third, fourth} <= {first, second}
    (memory,) = await engine.list(ANA, Listing())
    assert (memory.id in (first, second), memory.repeat_count) == (True, 3)
    assert [hit.content for hit in await engine.recall(ANA, Query(text="ship on Monday"))] == [memory.content]


async def test_an_address_is_never_merged_with_another_one_in_whatever_order_they_come(engine: Engine) -> None:
    bare, one, two = "The museum has a new wing", "https://a.example/1", "https://a.example/2"
    for number, texts in enumerate(permutations([bare, f"{bare} {one}", f"{bare} {two}"])):
        scope = Scope("acme", f"reader-{number}")
        for text in texts:
            await engine.remember(scope, {"content": text})
        memories = await engine.list(scope, Listing())
        known = [
            {each.content for each in await engine.repeats(scope, memory.id)} or {memory.content} for memory in memories
        ]
        assert len(known) == 2
        assert not any(f"{bare} {one}" in texts and f"{bare} {two}" in texts for texts in known)
