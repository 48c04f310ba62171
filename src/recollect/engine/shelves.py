"""In-memory copies of small scopes' indexes: what makes exact search of a person's whole memory take milliseconds.

A copy is brought up to date inside the very transaction that reads from it, by revision number, so it is never staler than
the database it stands for, however many processes write. The least recently used copies go when memory runs short.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from recollect.model import Change, Changes, Scope
from recollect.policy.shelf import Card, Shelf
from recollect.ports import Tx


@dataclass
class Copy:
    """One scope's shelf, at one revision of one generation. Used by one thread at a time."""

    shelf: Shelf = field(default_factory=Shelf)
    revision: int = 0
    generation: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

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

    def _apply(self, changes: Changes) -> None:
        if changes.items:
            self.shelf.put([_card(item) for item in changes.items])
        self.revision = changes.revision

    def _start_over(self, generation: str | None) -> None:
        self.shelf = Shelf()
        self.revision = 0
        self.generation = generation


def _card(change: Change) -> Card:
    entry = change.entry
    return Card(
        seq=0,
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
        vector=change.vector,
    )


class Shelves:
    """All copies this process holds, within a budget of bytes."""

    def __init__(self, most_entries: int, most_bytes: int) -> None:
        self.most_entries = most_entries
        self._most_bytes = most_bytes
        self._copies: OrderedDict[Scope, Copy] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, scope: Scope) -> Copy:
        with self._lock:
            copy = self._copies.setdefault(scope, Copy())
            self._copies.move_to_end(scope)
            return copy

    def discard(self, scope: Scope) -> None:
        """Forget a copy at once: nothing that was forgotten stays in memory."""
        with self._lock:
            self._copies.pop(scope, None)

    def shrink(self) -> None:
        """Let go of the copies used longest ago until the budget holds; the latest always stays."""
        with self._lock:
            total = sum(copy.shelf.nbytes for copy in self._copies.values())
            while total > self._most_bytes and len(self._copies) > 1:
                _, oldest = self._copies.popitem(last=False)
                total -= oldest.shelf.nbytes
