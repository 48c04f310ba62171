"""`AsyncMemory` has the same methods and the same manners; it opens on first use and belongs to no particular loop."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from recollect import AsyncMemory, Memory, Unavailable
from tests.api.homes import Home


async def test_it_opens_on_first_use_once(home: Home) -> None:
    memory = AsyncMemory(home.url, user="ana", embedder="off", pool_size=2)
    await asyncio.gather(*(memory.add(f"at once {number}") for number in range(10)))
    assert (await memory.list()).total == 10
    await memory.close()
    await memory.close()
    with pytest.raises(Unavailable):
        await memory.list()


async def test_a_round_trip(home: Home) -> None:
    async with AsyncMemory(home.url, user="ana", embedder="off", pool_size=2) as memory:
        receipt = await memory.add("the ferry leaves at noon")
        await memory.add_turns("talk", [{"role": "user", "content": "is there a later ferry?"}])
        id = receipt.id or ""
        assert (await memory.get(id)).content == "the ferry leaves at noon"
        assert (await memory.update(id, text="the ferry leaves at one")).content == "the ferry leaves at one"
        assert (await memory.pin(id)).pinned
        assert {hit.content for hit in await memory.search("ferry")} == {
            "the ferry leaves at one",
            "is there a later ferry?",
        }
        lines = [line async for line in memory.export()]
        bo = await memory.at(user="bo")
        assert (await bo.load(lines)).memories == 1
        assert (await bo.themes()) == []
        await memory.flush()
        assert (await memory.forget(everything=True)).memories == 1
        assert (await bo.list()).total == 1


def test_both_faces_have_the_same_methods() -> None:
    def methods(face: type) -> set[str]:
        return {name for name, member in vars(face).items() if inspect.isfunction(member) and name[0] != "_"}

    assert methods(Memory) == methods(AsyncMemory)
    for name in methods(Memory):
        documented = inspect.getdoc(getattr(Memory, name))
        assert documented, f"{name} says what it does"
