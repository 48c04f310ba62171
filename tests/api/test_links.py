"""Conflicts and merges through the library's own face, waiting and not."""

from __future__ import annotations

import pytest

from recollect import AsyncMemory, InvalidInput, NotFound
from recollect.model import Status
from tests.api.homes import Home


def test_what_may_not_both_be_true_waits_for_a_word(home: Home) -> None:
    with home.memory() as memory:
        tea, coffee = memory.add("I like tea"), memory.add("I like coffee")
        assert coffee.conflicts == (tea.id,)
        assert coffee.confirm is not None
        assert [(later.id, earlier.id) for later, earlier in memory.conflicts()] == [(coffee.id, tea.id)]
        kept = memory.resolve(coffee.id or "", tea.id or "")
        assert (kept.id, kept.status) == (tea.id, Status.ACTIVE)
        assert memory.get(coffee.id or "").status is Status.SUPERSEDED
        assert memory.conflicts() == []
        assert memory.resolve(tea.id or "", "both").id == tea.id
        assert memory.list().total == 2


def test_a_new_value_replaces_the_old(home: Home) -> None:
    with home.memory() as memory:
        nine, ten = memory.add("The standup is at 9"), memory.add("The standup is at 10")
        assert (ten.outcome, ten.replaces, ten.confirm) == ("superseded", nine.id, None)
        assert [each.content for each in memory.list()] == ["The standup is at 10"]


def test_a_merge_is_taken_apart(home: Home) -> None:
    with home.memory() as memory:
        first = memory.add("the boat is blue", tags=["boats"])
        assert memory.repeats(first.id or "") == []
        again = memory.add("the boat  is blue", tags=["paint"])
        assert [each.id for each in memory.repeats(first.id or "")] == [first.id, again.repeat]
        alone = memory.unmerge(first.id or "", again.repeat or "")
        assert (alone.content, alone.tags) == ("the boat  is blue", ("paint",))
        left = memory.get(first.id or "")
        assert (left.tags, left.repeat_count) == (("boats",), 0)
        with pytest.raises(NotFound):
            memory.unmerge(first.id or "", again.repeat or "")


def test_what_is_not_there_or_makes_no_sense(home: Home) -> None:
    with home.memory() as memory:
        tea = memory.add("I like tea").id or ""
        for call in (
            lambda: memory.repeats("x"),
            lambda: memory.unmerge(tea, "x"),
            lambda: memory.resolve(tea, "both"),
        ):
            with pytest.raises(NotFound):
                call()
        memory.add("I like coffee")
        with pytest.raises(InvalidInput):
            memory.resolve(tea, "neither")
        with pytest.raises(InvalidInput):
            memory.conflicts(limit=0)


async def test_without_waiting_it_is_the_same(home: Home) -> None:
    async with AsyncMemory(home.url, user="ana", embedder="off", pool_size=2) as memory:
        tea, coffee = await memory.add("I like tea"), await memory.add("I like coffee")
        ((later, earlier),) = await memory.conflicts()
        assert (later.id, earlier.id) == (coffee.id, tea.id)
        assert (await memory.resolve(coffee.id or "", "both")).id == coffee.id
        again = await memory.add("I like  tea")
        assert len(await memory.repeats(tea.id or "")) == 2
        assert (await memory.unmerge(tea.id or "", again.repeat or "")).content == "I like  tea"
