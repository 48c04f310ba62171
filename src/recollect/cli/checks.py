"""What the doctor looks at, one check after the other. A check never raises for what it is there to find, and never shows
content: names, counts and times only.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol, cast
from urllib.parse import urlsplit

from recollect.bootstrap import Running, embedder_config, open_embedder, open_engine, sqlite_path
from recollect.cli.embedding import reasons
from recollect.cli.schema import revisions
from recollect.errors import RecollectError
from recollect.settings import Settings

State = Literal["ok", "warning", "broken"]

MEGABYTE = 1024 * 1024
LITTLE_SPACE, NO_SPACE = 1024 * MEGABYTE, 100 * MEGABYTE
STALE = timedelta(minutes=10)
PROBE = "The quick brown fox. 敏捷的棕色狐狸。"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    detail: str
    fix: str | None = None


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


async def examine(settings: Settings) -> AsyncIterator[Check]:
    """All checks, in the order in which one needs the other."""
    yield Check("settings", "ok", f"store {place(settings)}, write mode {settings.write_mode}")
    yield data_folder(settings.data_dir)
    yield disk(settings)
    if sqlite_path(settings) is not None:
        yield full_text()
    yield await embedder(settings)
    if _missing(settings):
        yield Check("database", "ok", "not there yet: the first command that stores something creates it")
        return
    async for check in database(settings):
        yield check


def place(settings: Settings) -> str:
    """Where memories live, without the password that may stand in the address."""
    path = sqlite_path(settings)
    if path is not None:
        return path
    address = urlsplit(settings.store)
    return f"{address.hostname or 'postgres'}{address.path}"


def data_folder(folder: Path) -> Check:
    if not folder.exists():
        return Check("data folder", "ok", f"{folder} is not there yet; it is made when it is needed")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Check("data folder", "broken", f"{folder} can't be written", f"chown or chmod u+rwx {folder}")
    if folder.stat().st_mode & 0o077:
        return Check("data folder", "warning", f"others on this machine can look into {folder}", f"chmod 700 {folder}")
    return Check("data folder", "ok", f"{folder} is writable and private")


def disk(settings: Settings) -> Check:
    path = sqlite_path(settings)
    folder = settings.data_dir if path in (None, ":memory:") else Path(str(path)).absolute().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    state: State = "broken" if free < NO_SPACE else "warning" if free < LITTLE_SPACE else "ok"
    fix = None if state == "ok" else f"make room on the file system of {folder}"
    return Check("disk", state, f"{free // MEGABYTE:,} MB free at {folder}", fix)


def full_text() -> Check:
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(words)")
    except sqlite3.OperationalError:
        fix = "use a Python whose SQLite has FTS5; until then words are searched without an index"
        return Check("FTS5", "warning", f"SQLite {sqlite3.sqlite_version} has no full-text search", fix)
    return Check("FTS5", "ok", f"SQLite {sqlite3.sqlite_version} has it")


async def embedder(settings: Settings) -> Check:
    """Loads the model or reaches the server, and embeds a sentence."""
    if settings.embedder == "off":
        return Check("embedder", "ok", "off: texts are found by their words alone")
    started = time.perf_counter()
    try:
        found = await open_embedder(embedder_config(settings))
        assert found is not None
        loaded = time.perf_counter()
        try:
            vectors = await found.embed([PROBE], query=True)
            model = await asyncio.to_thread(lambda: found.model)
        finally:
            await found.close()
    except RecollectError as problem:
        fix = "check RECOLLECT_EMBEDDER, _URL, _MODEL and _KEY and that the server runs; search by words goes on"
        return Check("embedder", "broken", problem.message, fix)
    spent = (time.perf_counter() - loaded, loaded - started)
    said = f"{found.provider} {model}, {vectors.shape[1]} dimensions, first text in {sum(spent) * 1000:.0f} ms"
    return Check("embedder", "ok", said)


async def database(settings: Settings) -> AsyncIterator[Check]:
    try:
        current, head = await revisions(settings)
    except RecollectError as problem:
        yield Check("migrations", "broken", problem.message, "check the address and that the server runs")
        return
    state: State = "ok" if current == head else "broken"
    fix = None if current == head else "recollect db upgrade"
    yield Check("migrations", state, f"at {current or 'nothing'}, the newest is {head}", fix)
    if current is None:
        return
    try:
        running = await open_engine(replace(settings, worker=False, embedder="off"))
    except RecollectError as problem:
        yield Check("database", "broken", problem.message, "see the message; `recollect db check` looks at the schema")
        return
    try:
        async for check in _inside(running):
            yield check
    except RecollectError as problem:
        yield Check("database", "broken", problem.message, "restore it from a backup if it is damaged")
    finally:
        await running.close()


async def _inside(running: Running) -> AsyncIterator[Check]:
    yield Check("database", "ok", "opens")
    for finding in await cast(Examined, running.engine.store).checkup():
        if finding.name != "migrations":
            fix = None if finding.ok else "see the detail; `recollect db check` looks at the schema"
            yield Check(finding.name, "ok" if finding.ok else "broken", finding.detail, fix)
    async for check in backlog(running):
        yield check


async def backlog(running: Running) -> AsyncIterator[Check]:
    """What waits to be embedded, since when, and what failed and why."""
    engine = running.engine
    alive = await engine.generations.alive()
    if not alive:
        yield Check("embeddings", "ok", "none have been asked for yet")
    for generation in alive:
        left = await engine.store.system(lambda system, id=generation.id: system.backlog(id))  # type: ignore[misc]
        age = datetime.now(UTC) - left.oldest if left.oldest else timedelta()
        state: State = "warning" if left.error or age > STALE else "ok"
        said = f"{generation.id} ({generation.state}): {left.pending} pending, {left.error} failed"
        if left.oldest:
            said += f", oldest {age // timedelta(seconds=1):,} s"
        if left.error:
            why = await reasons(engine, generation, left.error)
            said += "; " + "; ".join(f"{count} × {reason}" for reason, count in why.most_common(3))
        fix = None if state == "ok" else "mend the embedder (above), then `recollect reembed` embeds what is left"
        yield Check("embeddings", state, said, fix)


def _missing(settings: Settings) -> bool:
    path = sqlite_path(settings)
    return path is not None and path != ":memory:" and not Path(path).exists()
