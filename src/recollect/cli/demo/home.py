"""Where the demo lives: apart from everything that is somebody's own.

Without a store named, in a file of its own beside the memory, as a user of its own; in a named store as that user, of a tenant of
its own. Either way it is put in once, into a place where nothing else is, and `recollect demo remove` takes all of it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from recollect.bootstrap import engine_over, open_store, sqlite_path
from recollect.cli.demo import week
from recollect.engine import Engine
from recollect.errors import Conflict, InvalidInput, NotFound
from recollect.model import Conversation, ForgetReceipt, Listing, Scope, Status
from recollect.ports import Tx
from recollect.providers.clock import SystemClock
from recollect.settings import Settings
from recollect.stores.sqlite.connection import MEMORY

FILE = "demo.db"
SCOPE = Scope("demo", "demo")
BESIDE = ("", "-wal", "-shm")
"""What a SQLite database consists of: the file, and the two that stand beside it while it is in use."""


@dataclass(frozen=True, slots=True)
class Furnished:
    """Since when the demo is there, and whether it came just now."""

    since: datetime
    fresh: bool


def at_home(settings: Settings) -> Settings:
    """The same settings, where the demo is. A store that was named stays; the memory that is anybody's own is never meant."""
    if sqlite_path(settings) == MEMORY:
        raise InvalidInput("a demo in memory would be empty again before anybody looked: leave --store out")
    store = settings.store or str(settings.data_dir / FILE)
    return replace(settings, store=store, tenant=SCOPE.tenant, user=SCOPE.user, space=SCOPE.space)


async def furnish(settings: Settings) -> Furnished:
    """Put the week in, unless it is there. Whatever else is found there is left alone, and the demo stays out."""
    engine = await _engine(settings)
    try:
        before = await _first_talk(engine)
        if before is not None:
            return Furnished(before.updated_at, fresh=False)
        anything = Listing(limit=1, statuses=tuple(Status))
        if (await engine.list(SCOPE, anything)).total or (await engine.conversations(SCOPE, 1, 0)).total:
            raise Conflict(
                f"the user {SCOPE.user!r} of the tenant {SCOPE.tenant!r} has memories that are not the demo's: nothing was "
                "added; name another store with --store"
            )
        now = SystemClock().now()
        await week.play(engine, SCOPE, now)
        return Furnished(now, fresh=True)
    finally:
        await engine.close()


async def remove(settings: Settings) -> ForgetReceipt:
    """Take the demo away: what it holds, as for anybody who wants to be forgotten, and its file where it has one of its own."""
    path, own = sqlite_path(settings), settings.data_dir / FILE
    _check_there(path)
    engine = await _engine(settings)
    try:
        if path != str(own) and not await _is_there(engine):
            raise NotFound(
                f"there is no demo to remove: nothing of the user {SCOPE.user!r} of the tenant {SCOPE.tenant!r} is the demo's"
            )
        receipt = await engine.erase_user(SCOPE.tenant, SCOPE.user)
    finally:
        await engine.close()
    if path == str(own):
        for end in BESIDE:
            own.with_name(own.name + end).unlink(missing_ok=True)
    return receipt


def _check_there(path: str | None) -> None:
    """Before a file would be made only to be found empty."""
    if path is not None and not Path(path).exists():
        raise NotFound(f"there is no demo to remove: {path} does not exist")


async def _is_there(engine: Engine) -> bool:
    """Whether anything is left of what the week puts in. Somebody may be called demo in a store that was named."""
    for moment in week.moments():
        where = replace(SCOPE, space=moment.get("space", SCOPE.space))
        if await engine.store.read(where, partial(_holds, moment)):
            return True
    return False


def _holds(moment: Mapping[str, Any], tx: Tx) -> bool:
    if "id" in moment:
        return bool(tx.memories.get([moment["id"]]))
    return "talk" in moment and tx.conversations.get(moment["talk"]) is not None


async def _engine(settings: Settings) -> Engine:
    """By rules and words alone: vectors are made by whoever serves it."""
    alone = replace(settings, embedder="off", chat_url="", redis_url="", broker_url="", write_mode="automatic")
    return engine_over(await open_store(alone), None, alone)


async def _first_talk(engine: Engine) -> Conversation | None:
    try:
        conversation, _ = await engine.conversation(SCOPE, week.first_talk(), 1)
    except NotFound:
        return None
    return conversation
