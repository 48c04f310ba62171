"""The scope's own row in `spaces`, held for the length of one transaction.

The row is read (and on Postgres locked) once when a write begins, kept as plain numbers while the work runs,
and written once at the end. So writers of one scope are serial, a transaction that touches the index many
times is still one revision, and bookkeeping costs two statements however much a verb does. The scope's settings
are in that row, too: every verb asks for them, and has them already.

A scope that was erased and comes back must not look like an old one: its revisions start at the clock, beyond
every number the erased row can have had, so that no in-memory copy of the erased index can ever seem current.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam, delete, exists, or_, select, update

from recollect.model import EmbeddingState, GenerationState, Scope, SpaceSettings, Target
from recollect.stores.sql.expressions import adding, fixed, own, owner
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import KEYS, embeddings, generations, metadata, spaces

SWITCHES = tuple(each.name for each in fields(SpaceSettings))
_READ = select(spaces.c.revision, spaces.c.purged, spaces.c.size, *(spaces.c[name] for name in SWITCHES)).where(
    own(spaces)
)
_LOCK = _READ.with_for_update()
_CREATE = adding(spaces).on_conflict_do_nothing()
_NEXT_DUE = (
    # The first in order, not the minimum: the index is read up to the first row that counts, however many wait behind it.
    select(embeddings.c.due_at)
    .where(
        own(embeddings),
        embeddings.c.due_at.is_not(None),
        embeddings.c.state != fixed(EmbeddingState.READY),
        # Nobody works for a retired generation: its rows must not call for a worker again and again.
        embeddings.c.generation.in_(
            select(generations.c.id).where(generations.c.state != fixed(GenerationState.RETIRED))
        ),
    )
    .order_by(embeddings.c.due_at)
    .limit(1)
    .scalar_subquery()
)
_COUNTED: dict[str, Any] = {name: bindparam(name) for name in ("revision", "purged", "size", "last_active_at")}
_SAVE = update(spaces).where(own(spaces)).values(_COUNTED)
_SAVE_WITH_WORK = update(spaces).where(own(spaces)).values({**_COUNTED, "work_due": _NEXT_DUE})
_DROP = delete(spaces).where(own(spaces))
_HOLDS_ANYTHING = select(
    or_(*(exists().where(own(metadata.tables[name])) for name in sorted(KEYS.keys() - {"spaces"})))
)


class Ledger:
    """Counts what a transaction does to the index and the embedding queue, and writes it down at the end."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._owner = owner(scope)
        self._row: tuple[int, int, int] | None = None
        self._settings = SpaceSettings()
        self._read = False
        self._revision: int | None = None
        self._purged = False
        self._size_change = 0
        self._work = False
        self._newborn = False
        self.unindexed: set[Target] = set()
        self.unfiled: set[str] = set()
        """What this very transaction inserted and nothing hangs on yet: nobody has to look whether there is something."""

    def hold(self) -> None:
        """Make sure that the row exists and that nobody else writes this scope until the transaction ends."""
        found = self._session.row(_LOCK, self._owner)
        if found is None:
            self._session.run(_CREATE, self._owner | _newborn())
            self._newborn = True
            found = self._session.row(_LOCK, self._owner)
        assert found is not None
        self._take(found)

    def _take(self, found: Row | None) -> None:
        self._read = True
        if found is not None:
            self._row = (found[0], found[1], found[2])
            self._settings = SpaceSettings(**dict(zip(SWITCHES, found[3:], strict=True)))

    @property
    def settings(self) -> SpaceSettings:
        """The scope's own; what holds for everybody where there is no such scope."""
        self.numbers()
        return self._settings

    def set(self, settings: SpaceSettings) -> None:
        """They were written: a scope may consist of them alone."""
        self._settings = settings
        if settings != SpaceSettings():
            self._newborn = False

    @property
    def known(self) -> bool:
        """Whether the scope was there before this transaction."""
        return not self._newborn and self.numbers() is not None

    def numbers(self) -> tuple[int, int, int] | None:
        """Revision, revision of the last removal and size, as this transaction sees them; None when there is
        no such scope.
        """
        if not self._read:
            self._take(self._session.row(_READ, self._owner))
        if self._row is None:
            return None
        revision, purged, size = self._row
        if self._revision is not None:
            revision = self._revision
        return revision, revision if self._purged else purged, size + self._size_change

    def changed(self, added: int = 0) -> int:
        """The index changes, with so many new entries: the revision that goes with it."""
        if self._row is None:
            self.hold()
        assert self._row is not None
        if self._revision is None:
            self._revision = self._row[0] + 1
        self._size_change += added
        return self._revision

    def removed(self, count: int) -> None:
        if count:
            self.changed(-count)
            self._purged = True

    def rescheduled(self) -> None:
        """Embedding work was added, taken or finished."""
        if self._row is None:
            self.hold()
        self._work = True

    def erase(self) -> None:
        self._session.run(_DROP, self._owner)
        self._row, self._read, self._revision, self._work, self._newborn = None, True, None, False, False
        self._purged, self._size_change, self._settings = False, 0, SpaceSettings()

    def write(self) -> None:
        """Before the commit: bring the row up to date, if there is anything to say.

        A row that was made for this transaction goes again when nothing came of it: work that arrives late for someone who
        was erased meanwhile must not bring their name back.
        """
        if self._newborn and self._revision is None and not self._session.rows(_HOLDS_ANYTHING, self._owner)[0][0]:
            self.erase()
        if self._row is None or (self._revision is None and not self._work):
            return
        numbers = self.numbers()
        assert numbers is not None
        counted = dict(zip(("revision", "purged", "size"), numbers, strict=True))
        statement = _SAVE_WITH_WORK if self._work else _SAVE
        self._session.run(statement, {**self._owner, **counted, "last_active_at": datetime.now(UTC)})


def _newborn() -> dict[str, object]:
    now = datetime.now(UTC)
    start = int(now.timestamp() * 1_000_000)
    numbers = {"revision": start, "purged": start, "size": 0, "work_due": None}
    return {**numbers, **asdict(SpaceSettings()), "created_at": now, "last_active_at": now}
