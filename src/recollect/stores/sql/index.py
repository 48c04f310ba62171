"""The lexical index and what an in-memory copy of it needs, in SQL. The two search legs are each store's own.

`entries.terms` holds the terms joined by single spaces. What full-text search indexes is each of them behind
the scope's mark (`marked`), so posting lists are per scope: other users cost nothing, and a query can only
touch its own.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar, overload

from sqlalchemy import ColumnElement, and_, bindparam, delete, select, type_coerce
from sqlalchemy.sql.base import Executable
from sqlalchemy.types import NullType

from recollect.model import KINDS, Change, Changes, EmbeddingState, Entry, Filter, Found, Kind, Scope, Target
from recollect.ports import Vector
from recollect.stores.sql.expressions import fixed, member, own, owner, putting
from recollect.stores.sql.ledger import Ledger
from recollect.stores.sql.session import Dialect, Row, Session
from recollect.stores.sql.tables import embeddings, entries

_BLOCK = 1024
_TERM = re.compile(r"\w+")
_TERMS = re.compile(r"(?:\w+(?: \w+)*)?")
_WANTED = re.compile(r"\w+(?:\*|(?: \w+)+)?")
_FACTS = (
    "chars", "created_at", "dated", "expires_at", "type", "theme", "tags",
    "session_id", "position", "speaker", "role", "is_question", "about_from", "about_until",
)  # fmt: skip
_COLUMNS = tuple(entries.c[name] for name in ("kind", "target_id", "terms", *_FACTS))
_OF_KIND = (own(entries), entries.c.kind == bindparam("kind"), member(entries.c.target_id, "ids"))
_PRESENT = select(entries.c.target_id).where(*_OF_KIND)
_GET = select(*_COLUMNS).where(*_OF_KIND)
_DROP = delete(entries).where(*_OF_KIND)

_CHANGED = select(*_COLUMNS).where(own(entries), entries.c.revision > bindparam("since")).order_by(entries.c.revision)


def ready_vector() -> ColumnElement[bool]:
    """Joins an entry to its ready vector in the `generation` asked for."""
    # Its scope is said and not compared with the entry's: where tables are in parts the planner must know in which to look.
    same = (embeddings.c[name] == entries.c[name] for name in ("kind", "target_id"))
    ready = embeddings.c.state == fixed(EmbeddingState.READY)
    return and_(own(embeddings), *same, embeddings.c.generation == bindparam("generation"), ready)


# Looked up by key, one by one: as a join, Postgres without statistics would read the whole scope once per entry. The column
# comes as the driver gives it: ten thousand vectors are decoded in one go, not one by one.
_RAW_VECTOR = (
    select(type_coerce(embeddings.c.vector, NullType())).where(ready_vector()).correlate(entries).scalar_subquery()
)
_CHANGED_WITH_VECTORS = _CHANGED.add_columns(_RAW_VECTOR)


@lru_cache(maxsize=4096)
def mark(scope: Scope) -> str:
    """The scope's own prefix of every indexed term."""
    return blake2b("\0".join((scope.tenant, scope.user, scope.space)).encode(), digest_size=6).hexdigest()


def marked(scope: Scope, terms: Iterable[str]) -> list[str]:
    """Terms of a query as the index knows them, a trailing `*` kept, every word of a phrase marked; what can't be a term
    is left out.
    """
    prefix = mark(scope) + "_"
    fit = (term for term in dict.fromkeys(terms) if _WANTED.fullmatch(term))
    return [" ".join(prefix + word for word in term.split(" ")) for term in fit]


def by_kind(targets: Iterable[Target]) -> Iterator[tuple[Kind, list[str]]]:
    """The ids of each kind there is: statements name a kind once and its ids together."""
    ids: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    for target in targets:
        ids[target.kind].append(target.id)
    return ((kind, those) for kind, those in ids.items() if those)


class SqlIndex(ABC):
    """`ports.Index` over a SQL session, without the search legs."""

    PUT: ClassVar[Executable] = putting(entries)

    def __init__(self, session: Session, scope: Scope, ledger: Ledger) -> None:
        self._session = session
        self._scope = scope
        self._owner = owner(scope)
        self._ledger = ledger

    def put(self, new: Sequence[Entry]) -> None:
        if not new:
            return
        targets = {entry.target for entry in new}
        present = sum(
            len(self._session.rows(_PRESENT, {**self._owner, "kind": kind, "ids": ids}))
            for kind, ids in by_kind(targets - self._ledger.unindexed)
        )
        self._ledger.unindexed -= targets
        revision = self._ledger.changed(added=len(targets) - present)
        self._session.send(self.PUT, [self.row(entry, revision) for entry in new])

    def row(self, entry: Entry, revision: int) -> dict[str, Any]:
        """The parameters of `PUT`."""
        facts = {name: getattr(entry, name) for name in _FACTS}
        return {
            **self._owner,
            **facts,
            "kind": entry.target.kind,
            "target_id": entry.target.id,
            "revision": revision,
            "mark": mark(self._scope),
            "terms": _joined(entry.terms),
        }

    def drop(self, targets: Iterable[Target]) -> int:
        dropped = sum(
            self._session.run(_DROP, {**self._owner, "kind": kind, "ids": ids}) for kind, ids in by_kind(targets)
        )
        self._ledger.removed(dropped)
        return dropped

    def changes(self, since: int, generation: str | None, most: int) -> Changes:
        numbers = self._ledger.numbers()
        if numbers is None:
            # Nothing is stored for this scope. A copy that holds something is of an index that was erased.
            return (
                Changes(revision=since + 1, purged=since + 1, size=0)
                if since
                else Changes(revision=0, purged=0, size=0)
            )
        revision, purged, size = numbers
        if revision == since or size > most:
            return Changes(revision=revision, purged=purged, size=size)
        params = {**self._owner, "since": since}
        if generation is None:
            rows = [(*row, None) for row in self._session.rows(_CHANGED, params)]
        else:
            rows = self._session.rows(_CHANGED_WITH_VECTORS, {**params, "generation": generation})
        return Changes(revision=revision, purged=purged, size=size, items=_Read(rows, self._session.dialect))

    def entries(self, targets: Iterable[Target]) -> dict[Target, Entry]:
        found: dict[Target, Entry] = {}
        for kind, ids in by_kind(targets):
            rows = self._session.rows(_GET, {**self._owner, "kind": kind, "ids": ids})
            found |= {entry.target: entry for entry in map(_entry, rows)}
        return found

    @abstractmethod
    def lexical(self, terms: Sequence[str], filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        """See `ports.Index`."""

    @abstractmethod
    def dense(self, vector: Vector, generation: str, filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        """See `ports.Index`."""

    @abstractmethod
    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """See `ports.Index`."""


class _Read(Sequence[Change]):
    """Rows that become entries and vectors when somebody looks, a block at a time: a large scope read in at once would
    otherwise stand in memory three times over."""

    def __init__(self, rows: Sequence[Row], dialect: Dialect) -> None:
        self._rows = rows
        self._dialect = dialect

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Change: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Change]: ...
    def __getitem__(self, place: int | slice) -> Change | Sequence[Change]:
        if isinstance(place, slice):
            return _Read(self._rows[place], self._dialect)
        return next(iter(_Read([self._rows[place]], self._dialect)))

    def __iter__(self) -> Iterator[Change]:
        for start in range(0, len(self._rows), _BLOCK):
            rows = self._rows[start : start + _BLOCK]
            vectors = self._dialect.vectors([row[-1] for row in rows])
            for row, vector in zip(rows, vectors, strict=True):
                yield Change(entry=_entry(row), vector=vector)


def _joined(terms: tuple[str, ...]) -> str:
    joined = " ".join(terms)
    if _TERMS.fullmatch(joined) and joined.count(" ") == max(0, len(terms) - 1):
        return joined
    return " ".join(term for term in terms if _TERM.fullmatch(term))


def _entry(row: Row) -> Entry:
    # Spelled out: a large scope is read as tens of thousands of these at once.
    kind, id, terms, chars, created_at, dated, expires_at, type_, theme, tags, session_id, position, *rest = row
    return Entry(
        target=Target(kind, id),
        terms=tuple(terms.split()),
        chars=chars,
        created_at=created_at,
        dated=dated,
        expires_at=expires_at,
        type=type_,
        theme=theme,
        tags=tags,
        session_id=session_id,
        position=position,
        speaker=rest[0],
        role=rest[1],
        is_question=rest[2],
        about_from=rest[3],
        about_until=rest[4],
    )
