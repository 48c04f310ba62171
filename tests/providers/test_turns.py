"""Whose turn it is at the one local model: the query's first, but background work is not passed over for ever."""

from __future__ import annotations

import threading

from recollect.providers.embedders.turns import Turns

FOR_EVER = 20.0


def test_background_work_gets_its_turn_however_many_ask() -> None:
    turns, done = Turns(), threading.Event()

    def background() -> None:
        with turns.take(urgent=False):
            done.set()

    with turns.ahead():
        worker = threading.Thread(target=background)
        worker.start()
        assert done.wait(FOR_EVER), "somebody urgent is always here, and still it is let through"
        worker.join(FOR_EVER)
        with turns.take(urgent=True):
            pass


def test_only_one_works_at_a_time_and_everyone_gets_through() -> None:
    turns, lock = Turns(), threading.Lock()
    order: list[str] = []

    def work(urgent: bool) -> None:
        for _ in range(20):
            with turns.take(urgent=urgent):
                assert lock.acquire(blocking=False), "two at once"
                order.append("query" if urgent else "batch")
                lock.release()

    threads = [threading.Thread(target=work, args=(urgent,)) for urgent in (True, False, True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(FOR_EVER)
    assert sorted(order) == ["batch"] * 40 + ["query"] * 40
