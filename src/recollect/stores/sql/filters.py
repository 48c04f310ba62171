"""A filter as SQL: which entries a search leg may consider. Both legs of both stores use these conditions and
no others.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, or_

from recollect.model import KINDS, Filter
from recollect.stores.sql.expressions import member, overlap, own
from recollect.stores.sql.tables import entries


class FilterShape(NamedTuple):
    """Which parts of a filter restrict it: all that a statement's text depends on, so statements are cached
    by it.
    """

    kinds: bool
    types: bool
    tags: bool
    themes: bool
    sessions: bool
    since: bool
    until: bool


def filter_shape(filter: Filter) -> FilterShape:
    return FilterShape(
        kinds=bool(filter.kinds) and not set(KINDS) <= set(filter.kinds),
        types=bool(filter.types),
        tags=bool(filter.tags),
        themes=bool(filter.themes),
        sessions=bool(filter.sessions),
        since=filter.since is not None,
        until=filter.until is not None,
    )


def filter_conditions(shape: FilterShape) -> list[ColumnElement[bool]]:
    """Own, unexpired and within the filter; parameters are `owner(scope)` and `filter_params`."""
    optional: dict[str, ColumnElement[bool]] = {
        "kinds": member(entries.c.kind, "kinds"),
        "types": member(entries.c.type, "types"),
        "tags": overlap(entries.c.tags, "tags"),
        "themes": member(entries.c.theme, "themes"),
        "sessions": member(entries.c.session_id, "sessions"),
        "since": entries.c.created_at >= bindparam("since"),
        "until": entries.c.created_at < bindparam("until"),
    }
    alive = or_(entries.c.expires_at.is_(None), entries.c.expires_at > bindparam("now"))
    return [own(entries), alive, *(condition for name, condition in optional.items() if getattr(shape, name))]


def filter_params(filter: Filter, now: datetime) -> dict[str, Any]:
    return {
        "kinds": filter.kinds,
        "types": [type.value for type in filter.types],
        "tags": filter.tags,
        "themes": filter.themes,
        "sessions": filter.sessions,
        "since": filter.since,
        "until": filter.until,
        "now": now,
    }
