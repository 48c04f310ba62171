"""Many at once: processes on one database, threads on one memory, tasks on one loop. Nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from recollect import AsyncMemory
from tests.api.homes import Home
from tests.faults.ledger import Promises
from tests.faults.nursery import nurseries
from tests.faults.soundness import assert_sound, assert_well

STEPS = 60
THREADS = 50
TASKS = 80
"""Together they wait for a few connections, and nobody longer than ten seconds, on a slow machine either."""


def test_two_processes_write_one_database(home: Home) -> None:
    home.memory().close()
    promises = Promises()
    with nurseries(2) as pair:
        for number, nursery in enumerate(pair):
            nursery.bear(url=home.url, round=number, threads=2, steps=STEPS, repeats=True)
        for nursery in pair:
            promises.take(nursery.last_words())
    assert not promises.trouble
    assert not promises.open
    promises.assert_kept(home)
    assert_sound(home)
    assert_well(home)
    # What both said in the same words is one memory, and every repetition was counted.
    repeated = home.rows("SELECT content, repeat_count FROM memories WHERE repeat_count > 0")
    assert sorted(repeated) == sorted((text, times - 1) for text, times in promises.said.items() if times > 1)
    assert repeated
    with home.memory() as memory:
        promises.assert_findable(memory, sorted(promises.ids)[::12])


def test_fifty_threads_share_one_memory(home: Home) -> None:
    start = Barrier(THREADS)

    def one(number: int) -> bool:
        start.wait()
        receipt = memory.add(f"thread{number} keeps a boat", tags=[f"tag{number}"])
        turns = memory.add_turns("harbour", [{"role": "user", "content": f"spoken{number} about the harbour"}])
        found = {hit.target.id for hit in memory.search(f"thread{number}")}
        said = {hit.target.id for hit in memory.search(f"spoken{number}", kinds=("message",))}
        return receipt.id in found and turns.ids[0] in said

    with home.memory() as memory, ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(one, range(THREADS)))
        assert memory.list(limit=1).total == THREADS
        assert len(memory.search("boat", limit=1000)) == THREADS
    orders = [order for (order,) in home.rows('SELECT "order" FROM messages ORDER BY 1')]
    assert orders == list(range(THREADS))
    assert_sound(home)


async def test_many_tasks_share_one_memory(home: Home) -> None:
    async with AsyncMemory(home.url, user="ana", embedder="off", pool_size=4) as memory:

        async def one(number: int) -> bool:
            receipt = await memory.add(f"task{number} keeps a lamp")
            return receipt.id in {hit.target.id for hit in await memory.search(f"task{number}")}

        assert all(await asyncio.gather(*map(one, range(TASKS))))
        assert (await memory.list(limit=1)).total == TASKS
    assert_sound(home)


async def test_a_task_that_gives_up_leaves_whole_memories(home: Home) -> None:
    """Cancelling a caller neither tears a write apart nor holds up the next one."""
    async with AsyncMemory(home.url, user="ana", embedder="off", pool_size=4) as memory:
        tasks = [asyncio.create_task(memory.add(f"given{number} up")) for number in range(40)]
        await asyncio.sleep(0.01)
        for task in tasks[::2]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        kept = {outcome.id for outcome in outcomes if not isinstance(outcome, BaseException)}
        assert len(kept) >= len(tasks) // 2
        assert kept <= {each.id for each in await memory.list(limit=100)}
        await memory.add("and life goes on")
    assert_sound(home)
