"""What was found and looked at is worth knowing, but never worth waiting for: it is noted in memory and written in batches later.

Accesses, the scores things got, and audit facts of reads. A crash loses the notes of the last moments and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.model import AuditEvent, Scope, Scores
from recollect.ports import Clock, Store, Tx

MOST_NOTES = 100_000
"""Reads noted and not yet written, over all scopes. Beyond it the oldest scope's go: a store that is down for long costs facts
about reads, not the memory of the process."""


@dataclass
class Noted:
    accessed: list[str] = field(default_factory=list)
    scores: dict[str, Scores] = field(default_factory=dict)
    reads: list[AuditEvent] = field(default_factory=list)

    def write(self, tx: Tx, at: datetime) -> None:
        # Somebody who was erased meanwhile must not come back by having been looked at.
        if tx.space.known():
            tx.memories.touch(self.accessed, at)
            tx.memories.rate(self.scores)
            for event in self.reads:
                tx.space.record(event)


class Notes:
    def __init__(self) -> None:
        self._noted: dict[Scope, Noted] = {}
        self._count = 0
        self._lock = threading.Lock()

    def accessed(self, scope: Scope, memory_ids: Sequence[str], scores: Mapping[str, Scores]) -> None:
        with self._lock:
            noted = self._of(scope, len(memory_ids))
            noted.accessed += memory_ids
            noted.scores |= scores

    def read(self, scope: Scope, event: AuditEvent) -> None:
        with self._lock:
            self._of(scope, 1).reads.append(event)

    def discard(self, scope: Scope) -> None:
        """Nothing about this scope is to be written any more."""
        with self._lock:
            self._noted.pop(scope, None)

    async def write(self, store: Store, clock: Clock, scope: Scope | None = None) -> None:
        """Write what is noted, of one scope or of all."""
        with self._lock:
            if scope is None:
                noted, self._noted, self._count = self._noted, {}, 0
            else:
                noted = {scope: self._noted.pop(scope)} if scope in self._noted else {}
        at = clock.now()
        for where, what in noted.items():

            def work(tx: Tx, what: Noted = what) -> None:
                what.write(tx, at)

            await store.write(where, work)

    def _of(self, scope: Scope, more: int) -> Noted:
        self._count += more
        while self._count > MOST_NOTES and self._noted:
            oldest = self._noted.pop(next(iter(self._noted)))
            self._count -= len(oldest.accessed) + len(oldest.reads)
        return self._noted.setdefault(scope, Noted())
