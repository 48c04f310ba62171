"""The database: whether it can be reached, is of this version, holds together, and what waits in it to be embedded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from recollect.bootstrap import Running, open_engine, sqlite_path
from recollect.cli.checks.checking import Check, broken, warning, well
from recollect.cli.embedding import reasons
from recollect.cli.schema import revisions
from recollect.errors import RecollectError
from recollect.settings import Settings

STALE = timedelta(minutes=10)
# Only the database is opened: what else the settings name has checks of its own, and looking upgrades nothing.
ALONE: dict[str, Any] = {
    **dict.fromkeys(("migrate_url", "read_url", "redis_url", "broker_url", "chat_url"), ""),
    **dict.fromkeys(("data_url", "denodo_url", "archive_url", "langfuse_host"), ""),
    "embedder": "off",
    "answerer": "off",
    "data_permissions": "off",
    "vector_store": "store",
    "worker": False,
}
LOOK = "see the message; `recollect db check` looks at the schema"


class Finding(Protocol):
    """What a store's own `checkup` gives."""

    @property
    def name(self) -> str: ...
    @property
    def ok(self) -> bool: ...
    @property
    def detail(self) -> str: ...


class Examined(Protocol):
    async def checkup(self) -> list[Finding]: ...


UNREADABLE_FILE = "put a backup in its place, or name another file with RECOLLECT_STORE or --store"
UNREADABLE_SERVER = "check RECOLLECT_STORE and that the server runs"


def place(settings: Settings) -> str:
    """Where memories live, without the password that may stand in the address."""
    path = sqlite_path(settings)
    if path is not None:
        return path
    address = urlsplit(settings.store)
    # A password with a slash in it would be taken for a part of the path.
    return f"{address.hostname or 'postgres'}{address.path}".rpartition("@")[2]


async def database(settings: Settings, generation: str | None) -> AsyncIterator[Check]:
    """`generation`: what the configured embedder would make, if that is known."""
    if _missing(settings):
        yield well("database", "not there yet: the first command that stores something creates it")
        return
    try:
        current, head = await revisions(settings)
    except RecollectError as problem:
        yield broken("migrations", problem.message, UNREADABLE_FILE if sqlite_path(settings) else UNREADABLE_SERVER)
        return
    said = f"at {current or 'nothing'}, the newest is {head}"
    yield well("migrations", said) if current == head else broken("migrations", said, _upgrade(settings))
    if current is None:
        return
    try:
        running = await open_engine(replace(settings, **ALONE))
    except RecollectError as problem:
        yield broken("database", problem.message, LOOK)
        return
    try:
        async for check in _inside(running, generation):
            yield check
    except RecollectError as problem:
        yield broken("database", problem.message, "restore it from a backup if it is damaged")
    finally:
        await running.close()


def _upgrade(settings: Settings) -> str:
    if sqlite_path(settings) is not None or settings.migrate_url:
        return "recollect db upgrade"
    return "RECOLLECT_MIGRATE_URL=postgresql://OWNER… recollect db upgrade (the owner's address, for this one command)"


async def _inside(running: Running, generation: str | None) -> AsyncIterator[Check]:
    yield well("database", "opens")
    for finding in await cast(Examined, running.engine.store).checkup():
        if finding.name != "migrations":
            yield well(finding.name, finding.detail) if finding.ok else broken(finding.name, finding.detail, LOOK)
    async for check in _embeddings(running, generation):
        yield check


async def _embeddings(running: Running, generation: str | None) -> AsyncIterator[Check]:
    """What waits to be embedded, since when, what failed and why, and whether it is of the model that is configured."""
    engine = running.engine
    alive = await engine.generations.alive()
    if not alive:
        yield well("embeddings", "none have been asked for yet")
    elif generation is not None and generation not in {each.id for each in alive}:
        said = f"memories are embedded as {alive[0].id}, and the settings mean {generation}"
        yield warning("embeddings", said, "`recollect reembed` changes over while the old model serves")
    for each in alive:
        left = await engine.store.system(lambda system, id=each.id: system.backlog(id))  # type: ignore[misc]
        age = datetime.now(UTC) - left.oldest if left.oldest else timedelta()
        said = f"{each.id} ({each.state}): {left.pending} pending, {left.error} failed"
        if left.oldest:
            said += f", oldest {age // timedelta(seconds=1):,} s"
        if left.error:
            why = await reasons(engine, each, left.error)
            said += "; " + "; ".join(f"{count} × {reason}" for reason, count in why.most_common(3))
        if left.error or age > STALE:
            fix = "mend the embedder (above), then `recollect reembed` embeds what is left"
            yield warning("embeddings", said, fix)
        else:
            yield well("embeddings", said)


def _missing(settings: Settings) -> bool:
    path = sqlite_path(settings)
    return path is not None and path != ":memory:" and not Path(path).exists()
