"""The schema of the configured database, through the migrations that travel with the package.

Driver errors become the few typed ones here, without the address they may quote: there may be a password in it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from sqlalchemy.exc import SQLAlchemyError

from recollect.bootstrap import postgres_url, sqlite_path
from recollect.errors import InvalidInput, Unavailable, Unsupported
from recollect.settings import Settings
from recollect.stores import migrations
from recollect.stores.connecting import advised

T = TypeVar("T")


async def address(settings: Settings, *, owner: bool = False) -> str:
    """What migrations take: a file, or a server's address, the owner's where the schema is to be changed."""
    path = sqlite_path(settings)
    if path == ":memory:":
        raise InvalidInput("a database in memory has no schema to look at: name a file or a server with --store")
    if path is not None:
        return path
    return settings.migrate_url if owner and settings.migrate_url else await postgres_url(settings)


async def revisions(settings: Settings) -> tuple[str | None, str]:
    """The revision the database is at, and the one this version expects."""
    url = await address(settings)
    return await _asked(lambda: migrations.current(url)), migrations.head()


async def differences(settings: Settings) -> list[str]:
    url = await address(settings)
    return await _asked(lambda: migrations.check(url))


async def upgrade(settings: Settings) -> None:
    url = await address(settings, owner=True)
    if sqlite_path(settings) is not None:
        await _asked(lambda: migrations.upgrade(url))
        return
    role = urlsplit(await postgres_url(settings)).username if settings.migrate_url else None
    await _asked(lambda: migrations.upgrade(url, app_role=role))


async def _asked(question: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(question)
    except ImportError as problem:
        raise Unsupported(f"Postgres needs the package {problem.name!r}: install recollect[postgres]") from None
    except (SQLAlchemyError, sqlite3.Error, OSError) as problem:
        cause = getattr(problem, "orig", None) or problem
        said = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
        raise Unavailable(f"the database can't be read or changed: {advised(said)}") from None
