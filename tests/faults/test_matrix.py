"""Every part we depend on, in every kind of trouble: what is promised then holds, and what was acknowledged is there once.

Parts that are spoken to over the network have a proxy before them (`rig`). The disk and the clock have troubles of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from recollect.errors import Unavailable
from tests.api.homes import Home, postgres_home, sqlite_home
from tests.faults.rig import Rig, rigged, until
from tests.faults.soundness import assert_sound
from tests.services.postgres import Database
from tests.services.valkey import ValkeyServer

REMOTE = ("postgres", "redis", "broker", "embedder", "model")
MARKER = {"postgres": b"COMMIT", "redis": b"INCRBY", "broker": b"LPUSH", "embedder": b"POST", "model": b"POST"}
"""What a request to each holds, which is then cut off before its answer."""
SERVER_ERROR = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
GARBAGE = {
    "postgres": b"\x00 this is no protocol at all",
    "redis": b"-ERR this server is not well\r\n",
    "broker": b"-ERR this server is not well\r\n",
    "embedder": SERVER_ERROR,
    "model": SERVER_ERROR,
}
A_LITTLE = 0.02


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """The store matters where it is what fails."""
    if "postgres" not in request.node.callspec.params.values():
        return sqlite_home(tmp_path)
    database: Database = request.getfixturevalue("faults_database")
    return postgres_home(tmp_path, database)


async def down_at_start(rig: Rig, component: str) -> None:
    rig.proxies[component].down()
    if component == "postgres":
        with pytest.raises(Unavailable):
            await rig.open()
        rig.proxies[component].heal()
        await rig.open()
        return
    await rig.open()
    await _goes_on_without(rig, component)
    rig.proxies[component].heal()


async def dies_mid_request(rig: Rig, component: str) -> None:
    await rig.open()
    await _works(rig, component)
    proxy = rig.proxies[component]
    proxy.cut_on(MARKER[component])
    if component == "postgres":
        problem = await rig.remember()
        while problem is None:  # the worker commits, too, and was hung up on instead
            proxy.cut_on(MARKER[component])
            problem = await rig.remember()
        assert problem.details.get("outcome") == "unknown", "it may have been stored, and nobody says otherwise"
    elif component == "model":
        await rig.talks()  # asked again at once, it may well answer
    else:
        await _goes_on_without(rig, component)
    await until("it was hung up on", proxy.cuts.is_set)
    proxy.heal()


async def slow(rig: Rig, component: str) -> None:
    await rig.open()
    await _works(rig, component)
    if component == "postgres":
        rig.proxies[component].delay(A_LITTLE)
        assert await rig.remember() is None
    else:
        rig.proxies[component].hang()  # for ever: whoever waited for it would be waiting still
        await _goes_on_without(rig, component)
    rig.proxies[component].heal()


async def errors(rig: Rig, component: str) -> None:
    await rig.open()
    await _works(rig, component)
    rig.proxies[component].answer(GARBAGE[component])
    if component == "postgres":
        assert await rig.remember() is not None
    else:
        await _goes_on_without(rig, component)
    rig.proxies[component].heal()


async def comes_back(rig: Rig, component: str) -> None:
    await rig.open()
    await _works(rig, component)
    rig.proxies[component].down()
    if component == "postgres":
        assert await rig.remember() is not None
    else:
        await _goes_on_without(rig, component)
    rig.proxies[component].heal()


TROUBLES: dict[str, Callable[[Rig, str], Awaitable[None]]] = {
    "down at start": down_at_start,
    "dies mid-request": dies_mid_request,
    "slow": slow,
    "errors": errors,
    "comes back": comes_back,
}


async def _goes_on_without(rig: Rig, component: str) -> None:
    """Stored, found by words, said to the end: nobody waits for what isn't there."""
    if component == "model":
        assert not await rig.talks(), "it is said that there is no answer"
    else:
        assert await rig.remember() is None
        assert await rig.finds()


async def _works(rig: Rig, component: str) -> None:
    """With the part well, everything that it is for is done, maybe a moment later."""

    async def stored() -> bool:
        return await rig.remember() is None

    await until("writes are taken", stored)
    assert await rig.finds()
    match component:
        case "redis":
            await until("the cache is shared", rig.shares)
        case "broker":
            await until("workers are woken", lambda: _wakes(rig))
        case "embedder":
            await until("everything has its vector", rig.embedded)
        case "model":
            await until("it answers", rig.talks)


async def _wakes(rig: Rig) -> bool:
    rig.valkey.clear()
    await rig.remember()
    for _ in range(20):
        if rig.woken():
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("component", REMOTE)
async def test_what_is_acknowledged_survives(component: str, trouble: str, home: Home, valkey: ValkeyServer) -> None:
    async with rigged(home, component, valkey) as rig:
        await TROUBLES[trouble](rig, component)
        await _works(rig, component)
        await rig.close()
        rig.assert_kept()
    assert_sound(home)
