"""In-memory copies of small scopes' indexes: what makes exact search of a person's whole memory take milliseconds.

A copy is brought up to date inside the very transaction that reads from it, by revision number, so it is never staler than
the database it stands for, however many processes write. The least recently used copies go when memory runs short.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from recollect.model import KINDS, Changes, Entry, Filter, Scope, Target
from recollect.policy.shelf import Card, Key, Mask, Shelf
from recollect.ports import Tx

MOST_MASKS = 16
BYTES_EACH = 6 * 1024
"""What one entry with its vector takes, about: a scope that would not fit the budget is not begun."""


@dataclass(frozen=True, slots=True)
class Labelled(Card):
    """A card with what filters ask for."""

    type: str | None = None
    theme: str | None = None
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None


class Copy:
    """One scope's shelf, at one revision of one generation. Used by one thread at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.weight = 0
        self._start_over(None)

    def _start_over(self, generation: str | None) -> None:
        self.shelf = Shelf()
        self.revision = 0
        self.generation = generation
        self._expiring: dict[Key, datetime] = {}
        self._masks: dict[Filter, Mask | None] = {}

    def refresh(self, tx: Tx, generation: str | None, most: int) -> bool:
        """Make it current. False when the scope is too large to be held."""
        if generation != self.generation:
            self._start_over(generation)
        changes = tx.index.changes(self.revision, generation, most)
        if self.revision and not changes.purged <= self.revision <= changes.revision:
            self._start_over(generation)
            changes = tx.index.changes(0, generation, most)
        if changes.size > most:
            self._start_over(generation)
            return False
        self._apply(changes)
        return True

    def allowed(self, filter: Filter, now: datetime) -> Mask | None:
        """The rows a question may find; None when that is all of them."""
        mask = self._mask(filter)
        gone = [self.shelf.row(key) for key, expiry in self._expiring.items() if expiry <= now]
        if not gone:
            return mask
        mask = np.ones(self.shelf.rows, np.bool_) if mask is None else mask.copy()
        mask[[row for row in gone if row is not None]] = False
        return mask

    def _mask(self, filter: Filter) -> Mask | None:
        """Kept for what is likely to be asked again; a moment isn't, but it is quickly compared."""
        lasting = replace(filter, since=None, until=None)
        if lasting not in self._masks:
            if len(self._masks) >= MOST_MASKS:
                self._masks.clear()
            passes = None if _is_open(lasting) else self.shelf.mask(lambda card: _passes(card, lasting))
            self._masks[lasting] = passes
        mask = self._masks[lasting]
        told = self.shelf.column("told")
        for bound in ([told >= filter.since.timestamp()] if filter.since else []) + (
            [told < filter.until.timestamp()] if filter.until else []
        ):
            mask = bound if mask is None else mask & bound
        return mask

    def target(self, row: int) -> Target:
        card = self.shelf.card(row)
        return Target(card.kind, card.id)  # type: ignore[arg-type]

    def row(self, target: Target) -> int | None:
        return self.shelf.row((target.kind, target.id))

    def cosine_between(self, a: Target, b: Target) -> float | None:
        rows = self.row(a), self.row(b)
        one, other = (None if row is None else self.shelf.vectors.get(row) for row in rows)
        return None if one is None or other is None else float(one @ other)

    def _apply(self, changes: Changes) -> None:
        self.revision = changes.revision
        if not changes.items:
            return
        pairs = ((self._noted(_card(item.entry)), item.vector) for item in changes.items)
        self.shelf.fill(pairs, len(changes.items))
        self._masks.clear()

    def _noted(self, card: Labelled) -> Labelled:
        """The card, its expiry kept where it is looked up."""
        if card.expires_at is not None:
            self._expiring[card.key] = card.expires_at
        elif self._expiring:
            self._expiring.pop(card.key, None)
        return card


def _is_open(filter: Filter) -> bool:
    return filter == Filter(kinds=filter.kinds) and set(filter.kinds) >= set(KINDS)


def _passes(card: Card, filter: Filter) -> bool:
    assert isinstance(card, Labelled)
    return (
        (not filter.kinds or card.kind in filter.kinds)
        and (not filter.types or card.type in filter.types)
        and (not filter.themes or card.theme in filter.themes)
        and (not filter.sessions or card.session in filter.sessions)
        and (not filter.tags or not set(filter.tags).isdisjoint(card.tags))
    )


def _card(entry: Entry) -> Labelled:
    return Labelled(
        kind=entry.target.kind,
        id=entry.target.id,
        session=entry.session_id,
        position=entry.position,
        speaker=entry.speaker,
        role=entry.role,
        created_at=entry.created_at,
        dated=entry.dated,
        terms=" ".join(entry.terms),
        chars=entry.chars,
        is_question=entry.is_question,
        about=(entry.about_from, entry.about_until) if entry.about_from and entry.about_until else None,
        type=entry.type,
        theme=entry.theme,
        tags=entry.tags,
        expires_at=entry.expires_at,
    )


class Shelves:
    """All copies this process holds, within a budget of bytes. Whoever uses one does so while it is `weighed`."""

    def __init__(self, most_entries: int, most_bytes: int) -> None:
        self.most_entries = min(most_entries, most_bytes // BYTES_EACH)
        self._most_bytes = most_bytes
        self._copies: OrderedDict[Scope, Copy] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._copies)

    @property
    def nbytes(self) -> int:
        """What all of them take now."""
        with self._lock:
            return sum(copy.shelf.nbytes for copy in self._copies.values())

    def of(self, scope: Scope) -> Copy:
        with self._lock:
            copy = self._copies.get(scope)
            if copy is None:
                copy = self._copies[scope] = Copy()
                self._weigh(copy)
            self._copies.move_to_end(scope)
            return copy

    @contextmanager
    def weighed(self, scope: Scope) -> Iterator[None]:
        """Afterwards, however it ends, the copy of this scope counts for what it takes then, and the budget holds.

        Only the one is weighed: with a thousand people's copies at hand, weighing all would cost more than the question.
        """
        try:
            yield
        finally:
            self._shrink(scope)

    def discard(self, scope: Scope) -> None:
        """Forget a copy at once: nothing that was forgotten stays in memory."""
        with self._lock:
            if (gone := self._copies.pop(scope, None)) is not None:
                self._bytes -= gone.weight

    def _weigh(self, copy: Copy) -> None:
        self._bytes -= copy.weight
        copy.weight = copy.shelf.nbytes
        self._bytes += copy.weight

    def _shrink(self, scope: Scope) -> None:
        """Let go of those used longest ago until the budget holds; the latest stays."""
        with self._lock:
            if (used := self._copies.get(scope)) is not None:
                self._weigh(used)
            while self._bytes > self._most_bytes and len(self._copies) > 1:
                _, oldest = self._copies.popitem(last=False)
                self._bytes -= oldest.weight
