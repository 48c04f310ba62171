"""Memories in SQL: rows to objects and back, and the lookups that deciding about a new memory needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    func,
    literal_column,
    not_,
    or_,
    select,
    union_all,
    update,
)

from recollect.errors import NotFound
from recollect.model import Listing, Memory, MemoryType, Page, Scope, Scores, Source, Status, Target
from recollect.stores.sql import links
from recollect.stores.sql.expressions import SCOPE, adding, changing, fixed, member, overlap, own, owner
from recollect.stores.sql.ledger import Ledger
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import memories as table

_BITS = 64
_MASK = (1 << _BITS) - 1
_BANDS = ("band0", "band1", "band2", "band3")
_FIELDS = tuple(c.name for c in table.c if c.name not in {*SCOPE, *_BANDS, "digest"})
_COLUMNS = tuple(table.c[name] for name in _FIELDS)
_ACTIVE = table.c.status == fixed(Status.ACTIVE)
_CAPTURED = and_(  # as `Memory.captured`
    not_(or_(table.c.pinned, table.c.manually_saved)),
    or_(
        table.c.source.in_([fixed(Source.INFERRED), fixed(Source.SYSTEM)]),
        and_(table.c.source == fixed(Source.USER_STATED), table.c.source_conversation_id.is_not(None)),
    ),
)

_INSERT = adding(table)
_REPLACE = update(table).where(own(table), table.c.id == bindparam("id")).values(changing(table))
_GET = select(*_COLUMNS).where(own(table), member(table.c.id, "ids"))
_SCAN = select(*_COLUMNS).where(own(table)).order_by(table.c.id).limit(bindparam("limit"))
_SCAN_ON = _SCAN.where(table.c.id > bindparam("after"))
_TWIN = (
    select(*_COLUMNS)
    .where(own(table), _ACTIVE, table.c.digest == bindparam("digest"))
    # Not by the bare id: the planner, which knows nothing of digests, would walk all memories in that order to meet one soon.
    .order_by(table.c.id.concat(literal_column("''")))
    .limit(bindparam("limit"))
)
_KEYED = select(*_COLUMNS).where(own(table), _ACTIVE, table.c.key == bindparam("key")).order_by(table.c.id)
_NEAR = union_all(
    *(
        select(table.c.id, table.c.simhash).where(own(table), _ACTIVE, table.c[band] == bindparam(band))
        for band in _BANDS
    )
)
_EQUAL = (
    select(*_COLUMNS)
    .where(own(table), _ACTIVE, table.c.simhash == bindparam("simhash"))
    .order_by(table.c.id)
    .limit(bindparam("limit"))
)
_TOUCH = (
    update(table)
    .where(own(table), member(table.c.id, "ids"))
    .values(access_count=table.c.access_count + bindparam("times"), last_accessed=bindparam("at"))
)
_RATE = update(table).where(own(table), table.c.id == bindparam("id")).values(last_scores=bindparam("last_scores"))
_DESCENDANTS = (
    select(*_COLUMNS)
    .where(own(table), or_(overlap(table.c.source_ids, "ids"), member(table.c.supersedes, "ids")))
    .order_by(table.c.id)
)
_FROM_MESSAGES = select(*_COLUMNS).where(own(table), member(table.c.source_message_id, "ids")).order_by(table.c.id)
_DELETE = delete(table).where(own(table), member(table.c.id, "ids"))


class Shape(NamedTuple):
    """Which parts of a listing restrict it: all that its statement's text depends on."""

    statuses: bool
    types: bool
    tags: bool
    themes: bool
    pinned: bool
    manually_saved: bool
    captured: bool | None
    since: bool
    until: bool
    expired_at: bool


class SqlMemories:
    """`ports.Memories` over a SQL session."""

    def __init__(self, session: Session, scope: Scope, ledger: Ledger) -> None:
        self._session = session
        self._owner = owner(scope)
        self._ledger = ledger

    def insert(self, memory: Memory, digest: str) -> None:
        self._session.send(_INSERT, [self._row(memory, digest)])
        self._ledger.unindexed.add(Target("memory", memory.id))
        self._ledger.unfiled.add(memory.id)

    def replace(self, memory: Memory, digest: str) -> None:
        if not self._session.run(_REPLACE, self._row(memory, digest)):
            raise NotFound("there is no memory with this id")

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        return {memory.id: memory for memory in self._select(_GET, ids=list(ids))}

    def list(self, listing: Listing) -> Page[Memory]:
        page, count = _listing(_shape(listing))
        params = self._owner | _listing_params(listing)
        total = self._session.rows(count, params)[0][0]
        rows = self._session.rows(page, {**params, "limit": listing.limit, "offset": listing.offset})
        return Page(items=tuple(map(_memory, rows)), total=total, limit=listing.limit, offset=listing.offset)

    def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        if after is None:
            return self._select(_SCAN, limit=limit)
        return self._select(_SCAN_ON, after=after, limit=limit)

    def twin(self, digest: str) -> Memory | None:
        found = self._select(_TWIN, digest=digest, limit=1)
        return found[0] if found else None

    def near(self, simhash: int, distance: int, limit: int) -> Sequence[Memory]:
        if distance == 0:
            return self._select(_EQUAL, simhash=_signed(simhash), limit=limit)
        candidates = self._session.rows(_NEAR, self._owner | _bands(simhash))
        close = {
            id: apart for id, other in candidates if (apart := ((other ^ simhash) & _MASK).bit_count()) <= distance
        }
        nearest = sorted(close, key=lambda id: (close[id], id))[:limit]
        found = self.get(nearest) if nearest else {}
        return [found[id] for id in nearest]

    def keyed(self, key: str) -> Sequence[Memory]:
        return self._select(_KEYED, key=key)

    def touch(self, ids: Iterable[str], at: datetime) -> None:
        counts = Counter(ids)
        for times in set(counts.values()):
            often = [id for id, count in counts.items() if count == times]
            self._session.run(_TOUCH, {**self._owner, "ids": often, "times": times, "at": at})

    def rate(self, scores: Mapping[str, Scores]) -> None:
        rows = [{**self._owner, "id": id, "last_scores": _scores_document(each)} for id, each in scores.items()]
        self._session.run_many(_RATE, rows)

    def descendants(self, ids: Iterable[str]) -> Sequence[Memory]:
        return self._select(_DESCENDANTS, ids=[*ids])

    def from_messages(self, message_ids: Iterable[str]) -> Sequence[Memory]:
        return self._select(_FROM_MESSAGES, ids=[*message_ids])

    def delete(self, ids: Iterable[str]) -> int:
        params = {**self._owner, "ids": [*ids]}
        for statement in links.OF_THE_DOOMED:
            self._session.run(statement, params)
        return self._session.run(_DELETE, params)

    def _select(self, statement: Select[Any], **params: Any) -> Sequence[Memory]:
        return [_memory(row) for row in self._session.rows(statement, {**self._owner, **params})]

    def _row(self, memory: Memory, digest: str) -> dict[str, Any]:
        row = {name: getattr(memory, name) for name in _FIELDS}
        row["type"], row["source"], row["status"] = (
            memory.type.value,
            memory.source.value,
            memory.status.value,
        )
        row["simhash"] = _signed(memory.simhash)
        row["last_scores"] = _scores_document(memory.last_scores)
        return {**self._owner, **row, **_bands(memory.simhash), "digest": digest}


def _memory(row: Row) -> Memory:
    fields = dict(zip(_FIELDS, row, strict=True))
    fields["type"] = MemoryType(fields["type"])
    fields["source"] = Source(fields["source"])
    fields["status"] = Status(fields["status"])
    fields["simhash"] &= _MASK
    scores = fields["last_scores"]
    if scores is not None:
        fields["last_scores"] = Scores(**{**scores, "computed_at": datetime.fromisoformat(scores["computed_at"])})
    return Memory(**fields)


def _scores_document(scores: Scores | None) -> dict[str, Any] | None:
    if scores is None:
        return None
    return {
        "relevance": scores.relevance,
        "recency": scores.recency,
        "importance": scores.importance,
        "total": scores.total,
        "computed_at": scores.computed_at.isoformat(),
    }


def _signed(simhash: int) -> int:
    """The same 64 bits as the signed number that databases know."""
    return simhash - (1 << _BITS) if simhash >> (_BITS - 1) else simhash


def _bands(simhash: int) -> dict[str, int]:
    return {band: (simhash >> (16 * place)) & 0xFFFF for place, band in enumerate(_BANDS)}


def _shape(listing: Listing) -> Shape:
    return Shape(
        statuses=bool(listing.statuses),
        types=bool(listing.types),
        tags=bool(listing.tags),
        themes=bool(listing.themes),
        pinned=listing.pinned is not None,
        manually_saved=listing.manually_saved is not None,
        captured=listing.captured,
        since=listing.since is not None,
        until=listing.until is not None,
        expired_at=listing.expired_at is not None,
    )


def _listing_params(listing: Listing) -> dict[str, Any]:
    return {
        "statuses": [status.value for status in listing.statuses],
        "types": [type.value for type in listing.types],
        "tags": listing.tags,
        "themes": listing.themes,
        "pinned": listing.pinned,
        "manually_saved": listing.manually_saved,
        "since": listing.since,
        "until": listing.until,
        "expired_at": listing.expired_at,
    }


@lru_cache(maxsize=256)
def _listing(shape: Shape) -> tuple[Select[Any], Select[Any]]:
    """The page and the total for one shape of listing."""
    conditions: dict[str, ColumnElement[bool]] = {
        "statuses": member(table.c.status, "statuses"),
        "types": member(table.c.type, "types"),
        "tags": overlap(table.c.tags, "tags"),
        "themes": member(table.c.theme, "themes"),
        "pinned": table.c.pinned == bindparam("pinned"),
        "manually_saved": table.c.manually_saved == bindparam("manually_saved"),
        "since": table.c.created_at >= bindparam("since"),
        "until": table.c.created_at < bindparam("until"),
        "captured": _CAPTURED,
        "expired_at": table.c.expires_at <= bindparam("expired_at"),
    }
    used = [condition for name, condition in conditions.items() if getattr(shape, name)]
    if shape.captured is False:
        used.append(not_(_CAPTURED))
    where = (own(table), *used)
    page = (
        select(*_COLUMNS)
        .where(*where)
        .order_by(table.c.created_at.desc(), table.c.id.desc())
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
    )
    return page, select(func.count()).select_from(table).where(*where)
