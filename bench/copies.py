"""People who are copies of others, made within the server: a million memories without reading a million texts.

What the memories of others cost a person does not depend on what those others wrote. So the first people are written by the
application itself, and the rest are given the same memories under their own names, in the steps in which the application writes
them (stored and queued, claimed, given their vectors), because every step leaves the row before it behind and that is room, too.
Only what an index is keyed by for each scope is made anew; digests, by which the same text would be recognised, stay those of
the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from recollect.model import Scope
from recollect.stores.sql.expressions import SCOPE
from recollect.stores.sql.index import mark
from recollect.stores.sql.tables import embeddings, entries, memories, metadata, slots, spaces

ADMINISTRATOR = "postgres"
"""Whom row-level security does not bind: it takes one to see two people at once."""
OF = {memories.name: "id", slots.name: "memory_id", entries.name: "target_id", embeddings.name: "target_id"}
"""By which column a row says whose memory it is about."""
INSTEAD: Mapping[str, Mapping[str, str]] = {
    entries.name: {"mark": "%(mark)s"},
    embeddings.name: {"state": "'pending'", "vector": "NULL", "due_at": "now()"},
    spaces.name: {"size": "%(each)s", "work_due": "now()"},
}
MINE = "(tenant_id, user_id, space) = (%(tenant)s, %(user)s, %(space)s)"
THERE = f"""SELECT count(*) FILTER (WHERE state = 'ready'), count(*) FROM embeddings WHERE {MINE}"""
CLAIMED = f"UPDATE embeddings SET due_at = now() + interval '2 minutes' WHERE {MINE}"
SETTLED = """
UPDATE embeddings SET vector = original.vector, state = 'ready', due_at = NULL
FROM embeddings original
WHERE (embeddings.tenant_id, embeddings.user_id, embeddings.space) = (%(tenant)s, %(user)s, %(space)s)
  AND (original.tenant_id, original.user_id, original.space) = (%(tenant)s, %(model)s, %(space)s)
  AND (original.kind, original.target_id, original.generation)
    = (embeddings.kind, embeddings.target_id, embeddings.generation)"""
REVISED = f"UPDATE entries SET revision = revision + 1 WHERE {MINE}"
FREE = f"UPDATE spaces SET revision = revision + 1, work_due = NULL WHERE {MINE}"
Noted = Callable[[int, int], None]


async def copy(
    url: str, pairs: Sequence[tuple[int, Scope, Scope]], each: int, lanes: int, until: float, noted: Noted
) -> None:
    """`pairs`: the number of a person, who they are and whose memories they get."""
    loop = asyncio.get_running_loop()

    def told(number: int, stored: int) -> None:
        loop.call_soon_threadsafe(noted, number, stored)

    shares = (pairs[lane::lanes] for lane in range(lanes))
    await asyncio.gather(*(asyncio.to_thread(_lane, url, share, each, until, told) for share in shares))


def _lane(url: str, pairs: Sequence[tuple[int, Scope, Scope]], each: int, until: float, noted: Noted) -> None:
    with psycopg.connect(make_conninfo(url, user=ADMINISTRATOR), autocommit=True) as connection:
        for number, scope, original in pairs:
            if monotonic() > until:
                return
            noted(number, _one(connection, scope, original, each))


def _one(connection: psycopg.Connection[Any], scope: Scope, original: Scope, each: int) -> int:
    about: dict[str, Any] = {"tenant": scope.tenant, "user": scope.user, "space": scope.space}
    about |= {"model": original.user, "mark": mark(scope), "each": each}
    ready, present = connection.execute(THERE.encode(), about).fetchall()[0]
    if ready == present >= each:
        return 0
    steps = ([*_emptied(), *_copied()], [CLAIMED], [SETTLED, REVISED, FREE])
    for statements in steps:
        with connection.transaction():
            for statement in statements:
                connection.execute(statement.encode(), about)
    return each


def _emptied() -> Iterator[str]:
    return (f"DELETE FROM {name} WHERE {MINE}" for name in (*OF, spaces.name))


def _copied() -> Iterator[str]:
    for name in (spaces.name, *OF):
        columns = [column.name for column in metadata.tables[name].c if column.name not in SCOPE]
        values = [INSTEAD.get(name, {}).get(column, f'"{column}"') for column in columns]
        named = ", ".join(f'"{column}"' for column in columns)
        about = f"AND {OF[name]} LIKE 'note-%%'" if name in OF else ""
        yield f"""INSERT INTO {name} (tenant_id, user_id, space, {named})
                  SELECT tenant_id, %(user)s, space, {", ".join(values)} FROM {name}
                  WHERE (tenant_id, user_id, space) = (%(tenant)s, %(model)s, %(space)s) {about}"""
