"""What Postgres says arrives garbled or breaks off, at any place of a transaction: whoever asked is told that the database is
away and when to ask again, or that nobody knows; never that something of ours is broken. When it is well again, so is everything.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest

from recollect.doors.http.errors import answer_to
from recollect.errors import Unavailable
from recollect.model import Listing, Scope
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.patience import Patient, Silent, unhurried
from tests.contract.samples import digest, memory
from tests.faults.rig import until
from tests.services.postgres import Database
from tests.services.proxy import Proxy, Spoil, proxied

GARBLED: dict[str, Spoil] = {
    "hung up on": lambda answer: b"",
    "half of it": lambda answer: answer[: len(answer) // 2] + b"\xff" * 8,
    "another kind of message": lambda answer: b"\x07" + answer[1:],
    "a length that can't be": lambda answer: answer[:1] + b"\xff\xff\xff\xff" + answer[5:],
    "something else altogether": lambda answer: b"\x00 this is no protocol at all",
    "bytes that are no text": lambda answer: answer.replace(b"m", b"\xff"),
}
PLACES = (0, 2, 4)
"""So many answers arrive well before."""


@pytest.fixture
def proxy(faults_database: Database) -> Iterator[Proxy]:
    (port,) = re.findall(r"127\.0\.0\.1:(\d+)", faults_database.app_url)
    with proxied(int(port)) as made:
        yield made


@pytest.fixture
def url(faults_database: Database, proxy: Proxy) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{proxy.port}", faults_database.app_url)


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(url, pool_size=1, wait_timeout=0.5, statement_timeout_ms=1000)
    yield opened
    await opened.close()


@pytest.mark.parametrize("how", GARBLED)
async def test_whoever_asks_hears_that_the_database_is_away(how: str, store: PostgresStore, proxy: Proxy) -> None:
    scope = Scope("garbage", how)
    stored: set[str] = set()
    unknown: set[str] = set()
    for place in PLACES:
        id = f"m{place}"
        proxy.spoil(*[None] * place, *[GARBLED[how]] * 100)
        try:
            await store.write(scope, lambda tx, id=id: tx.memories.insert(memory(id), digest(id)))  # type: ignore[misc]
            stored.add(id)
            await store.read(scope, lambda tx: tx.memories.list(Listing()))
        except Unavailable as problem:
            if problem.details.get("outcome") == "unknown":
                unknown.add(id)
            else:
                answer = answer_to(problem)
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        proxy.heal()
        proxy.cut()  # what was begun in between has no end
        await until("it is well again", lambda: _kept(store, scope, stored, unknown))


async def _kept(store: PostgresStore, scope: Scope, stored: set[str], unknown: set[str]) -> bool:
    try:
        found = await store.read(scope, lambda tx: tx.memories.list(Listing()))
    except Unavailable:
        return False
    assert stored <= {each.id for each in found.items} <= stored | unknown
    return True


def test_a_server_that_says_nothing_is_hung_up_on(url: str, proxy: Proxy) -> None:
    with Patient.connect(url, autocommit=True) as connection:
        connection.patience_s = 0.2
        proxy.hang()
        with pytest.raises(Silent):
            connection.execute("SELECT 1")
        assert connection.closed


def test_a_server_that_says_nothing_to_what_may_take_long_is_hung_up_on_in_the_end(url: str, proxy: Proxy) -> None:
    with Patient.connect(url, autocommit=True) as connection:
        proxy.hang()
        with unhurried(connection, 0.2), pytest.raises(Silent):
            connection.execute("VACUUM")


def test_a_slow_answer_that_is_expected_is_waited_for(url: str) -> None:
    with Patient.connect(url, autocommit=True) as connection:
        connection.patience_s = 0.0
        with unhurried(connection):
            assert connection.execute("SELECT pg_sleep(0.3), 1").fetchall()[0][1] == 1
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(30)")
