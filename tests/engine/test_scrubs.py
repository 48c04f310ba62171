"""Many who forget at once share the cleaning of the files, and each gets one that began after their own removal."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

import pytest

from recollect.engine.forgetting.debts import SCRUB_EVERY, settle_files
from recollect.engine.forgetting.scrubs import Scrubs
from recollect.errors import Unavailable
from recollect.model import Scope
from recollect.testing import ReferenceStore
from recollect.testing.clock import ManualClock
from recollect.worker.embedded import EmbeddedWorker
from tests.engine.conftest import engine_over

PATIENCE_SECONDS = 60.0
ANA = Scope("acme", "ana")


class Large(ReferenceStore):
    """A store whose files take longer to clean than anybody waits."""

    def __init__(self) -> None:
        super().__init__()
        self._loop, self.paid = asyncio.get_running_loop(), asyncio.Event()

    async def scrub(self, *, however_long: bool = False) -> bool:
        if not however_long:
            return False
        done = await super().scrub()
        self._loop.call_soon_threadsafe(self.paid.set)
        return done


class Obstructed(ReferenceStore):
    """A store with something in the way of cleaning its files."""

    tried = 0

    async def scrub(self, *, however_long: bool = False) -> bool:
        self.tried += however_long
        return False


class Counted(ReferenceStore):
    scrubs = 0

    async def scrub(self, *, however_long: bool = False) -> bool:
        self.scrubs += 1
        return await super().scrub()


class Files:
    """Counts; `removed` is what there is to clean, `cleaned` what had been removed when the last one began."""

    def __init__(self) -> None:
        self.runs = self.removed = self.cleaned = self.at_once = self.most_at_once = 0
        self.trouble: Unavailable | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def scrub(self) -> bool:
        self.runs += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        began_with = self.removed
        await self.gate.wait()
        self.at_once -= 1
        if self.trouble is not None:
            raise self.trouble
        self.cleaned = began_with
        return True


async def _forget(scrubs: Scrubs, files: Files) -> bool:
    files.removed += 1
    mine = files.removed
    done = await scrubs.shared(files.scrub)
    assert files.cleaned >= mine, "it began after this was removed"
    return done


async def test_fifty_at_once_are_two_cleanings() -> None:
    scrubs, files = Scrubs(), Files()
    files.gate.clear()
    first = asyncio.create_task(_forget(scrubs, files))
    await asyncio.sleep(0)
    others = [asyncio.create_task(_forget(scrubs, files)) for _ in range(49)]
    await asyncio.sleep(0)
    files.gate.set()
    assert await asyncio.gather(first, *others) == [True] * 50
    assert (files.runs, files.most_at_once) == (2, 1)
    assert await _forget(scrubs, files)
    assert files.runs == 3, "later ones are not those of before"


async def test_one_who_goes_away_takes_nobody_along() -> None:
    scrubs, files = Scrubs(), Files()
    files.gate.clear()
    first = asyncio.create_task(_forget(scrubs, files))
    await asyncio.sleep(0)
    leader, follower = (asyncio.create_task(_forget(scrubs, files)) for _ in range(2))
    await asyncio.sleep(0)
    leader.cancel()
    follower.cancel()
    await asyncio.wait([leader, follower])
    late = asyncio.create_task(_forget(scrubs, files))
    await asyncio.sleep(0)
    files.gate.set()
    assert await first
    assert await late


async def test_those_who_share_a_leader_that_goes_away_are_told() -> None:
    scrubs, files = Scrubs(), Files()
    files.gate.clear()
    leader = asyncio.create_task(scrubs.shared(files.scrub))
    await asyncio.sleep(0)
    second, follower = (asyncio.create_task(scrubs.shared(files.scrub)) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(Unavailable):
        await follower
    files.gate.set()
    assert await leader


async def test_a_failure_is_that_of_all_who_share_it_and_of_nobody_after() -> None:
    scrubs, files = Scrubs(), Files()
    files.trouble = Unavailable("the disk is away")
    files.gate.clear()
    tasks = [asyncio.create_task(scrubs.shared(files.scrub)) for _ in range(3)]
    await asyncio.sleep(0)
    files.gate.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(each, Unavailable) for each in outcomes)
    files.trouble = None
    assert await scrubs.shared(files.scrub)


def test_threads_with_loops_of_their_own_share_it_too() -> None:
    scrubs, lock = Scrubs(), threading.Lock()
    state = {"at_once": 0, "most": 0, "runs": 0}

    async def scrub() -> bool:
        with lock:
            state["runs"] += 1
            state["at_once"] += 1
            state["most"] = max(state["most"], state["at_once"])
        await asyncio.sleep(0.001)
        with lock:
            state["at_once"] -= 1
        return True

    def forget() -> None:
        async def several() -> None:
            for _ in range(20):
                assert await asyncio.wait_for(scrubs.shared(scrub), PATIENCE_SECONDS)

        asyncio.run(several())

    threads = [threading.Thread(target=forget) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert state["most"] == 1
    assert state["runs"] < 120


async def test_what_takes_long_is_owed_and_gathered_before_it_is_done() -> None:
    clock, store = ManualClock(), Large()
    engine = engine_over(store, clock=clock)
    ids = [(await engine.remember(ANA, {"content": f"note {number} of the sea"})).id or "" for number in range(2)]
    began = clock.now()
    gone = await engine.forget(ANA, ids[:1])
    assert (gone.memories, gone.scrubbed, gone.scrub_owed) == (1, False, True)
    clock.advance(engine.config.scrub_after / 2)
    await engine.forget(ANA, ids[1:])
    assert await settle_files(engine)
    assert await store.system(lambda system: system.scrub_owed()) == began, "not yet: more may come"
    clock.advance(engine.config.scrub_after / 2)
    assert await settle_files(engine)
    assert await store.system(lambda system: system.scrub_owed()) is None, "for both"
    assert not await settle_files(engine)


async def test_what_takes_long_and_fails_is_not_tried_again_at_once() -> None:
    clock, store = ManualClock(), Obstructed()
    engine = engine_over(store, clock=clock)
    await store.write(ANA, lambda tx: tx.owe_scrub(clock.now()))
    clock.advance(engine.config.scrub_after)
    for tried in (1, 1, 1):
        assert await settle_files(engine)
        assert store.tried == tried
    clock.advance(engine.config.scrub_after)
    assert await settle_files(engine)
    assert store.tried == 2


async def test_a_debt_from_a_clock_that_ran_ahead_is_due() -> None:
    store = Large()
    engine = engine_over(store)
    await store.write(ANA, lambda tx: tx.owe_scrub(engine.clock.now() + timedelta(days=1)))
    assert await settle_files(engine)
    assert await store.system(lambda system: system.scrub_owed()) is None


async def test_a_worker_pays_what_another_process_owed() -> None:
    store = Large()
    engine = engine_over(store)
    long_ago = engine.clock.now() - timedelta(days=1)
    await store.write(ANA, lambda tx: tx.owe_scrub(long_ago))
    worker = EmbeddedWorker(engine)
    worker.start()
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await store.paid.wait()
    finally:
        await asyncio.to_thread(worker.stop)
    assert await store.system(lambda system: system.scrub_owed()) is None


async def test_corrections_one_after_another_are_cleaned_up_after_together() -> None:
    clock, store = ManualClock(), Counted()
    engine = engine_over(store, clock=clock)
    id = (await engine.remember(ANA, {"content": "the sea is blue"})).id or ""
    for colour in ("green", "grey", "black"):
        await engine.revise(ANA, id, {"content": f"the sea is {colour}"})
        await engine.settle_debts()
    assert store.scrubs == 1
    clock.advance(SCRUB_EVERY)
    await engine.settle_debts()
    await engine.settle_debts()
    assert store.scrubs == 2, "for all that came since"
    await engine.revise(ANA, id, {"content": "the sea is white"})
    await engine.settle_debts(at_once=True)
    assert store.scrubs == 3
