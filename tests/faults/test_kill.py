"""kill -9 at any moment: every acknowledged write is there, the rest wholly or not at all, and no index disagrees."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from recollect.stores import migrations
from tests.api.homes import Home, postgres_home
from tests.faults.ledger import Promises
from tests.faults.nursery import Nursery
from tests.faults.soundness import assert_sound, assert_sound_word_index, assert_well
from tests.services.postgres import PostgresServer

ROUNDS = 30
MOST_STEPS = 8
LONGEST_WAIT = 0.1
"""Each writer gets through a few steps, and is killed some time later: between two of them, or in the middle of one."""
WITH_CHANGES = 5
WHILE_OPENING = 6
"""Every so many rounds the writer also updates and forgets, or may be killed before it has opened its memory."""


def one_death(home: Home, nursery: Nursery, number: int, promises: Promises) -> None:
    pid = nursery.bear(url=home.url, round=number, threads=3, changes=number % WITH_CHANGES == 0)
    chance, longer = Random(number), 1 if number % WITH_CHANGES else 3
    if number % WHILE_OPENING:
        assert nursery.hear() == {"event": "open"}
        promises.take(nursery.hear_of(done=chance.randint(1, MOST_STEPS) * longer))
    time.sleep(chance.uniform(0, LONGEST_WAIT) * longer)
    nursery.kill(pid)
    promises.take(nursery.last_words())
    wait_until_the_server_noticed(home)
    promises.resolve(home)


def wait_until_the_server_noticed(home: Home) -> None:
    """A commit that was sent before the death may be carried out a moment after it."""
    deadline = time.monotonic() + 60
    connected = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND datname = current_database()"
    while home.kind == "postgres" and home.count(connected):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_thirty_deaths_of_the_process(home: Home) -> None:
    home.memory().close()
    promises = Promises()
    with Nursery() as nursery:
        for number in range(ROUNDS):
            known = promises.ids
            one_death(home, nursery, number, promises)
            assert not promises.trouble
            promises.assert_kept(home)
            assert_sound(home)
            with home.memory() as memory:
                promises.assert_findable(
                    memory, Random(number).sample(sorted(new := promises.ids - known), min(10, len(new)))
                )
    assert len(promises.memories) > ROUNDS, "the writers had time to write"
    assert promises.messages
    assert promises.forgotten
    assert_well(home)
    with home.memory() as memory:
        promises.assert_findable(memory, Random(0).sample(sorted(promises.ids), 50) + sorted(promises.forgotten))
        assert memory.list(limit=1).total == len(promises.memories)


@pytest.mark.slow
def test_deaths_of_the_server(private_postgres: PostgresServer, tmp_path: Path) -> None:
    database = private_postgres.fresh_database()
    migrations.upgrade(database.owner_url, app_role="app")
    home = postgres_home(tmp_path, database)
    promises = Promises()
    with Nursery() as nursery, home.memory() as witness:
        for number in range(3):
            pid = nursery.bear(url=home.url, round=number, threads=3, changes=number == 1)
            assert nursery.hear() == {"event": "open"}
            promises.take(nursery.hear_of(done=30))
            time.sleep(Random(number).uniform(0, 0.2))
            private_postgres.kill()
            nursery.kill(pid)
            promises.take(nursery.last_words())
            private_postgres.start()
            promises.resolve(home)
            promises.assert_kept(home)
            assert_sound(home)
            assert_sound_word_index(home)
            promises.assert_findable(
                witness, Random(number).sample(sorted(promises.ids), 10)
            )  # opened before the first death, and still of use
    assert promises.memories
