"""What was found and looked at is worth knowing, but never worth waiting for: it is noted in memory and written in batches later.

Accesses, the scores things got, and audit facts of reads. A crash loses the notes of the last moments and nothing else.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.errors import Unavailable
from recollect.model import AuditEvent, Scope, Scores
from recollect.ports import Clock, Store, Tx

MOST_NOTES = 100_000
"""Of reads, accesses and scores together, noted and not yet written, over all scopes: at most some 60 MB. Beyond it the largest
scope's go: a store that is down for long costs facts about reads, not the memory of the process, and nobody's reading crowds out
what is noted about others."""


@dataclass
class Noted:
    accessed: Counter[str] = field(default_factory=Counter)
    scores: dict[str, Scores] = field(default_factory=dict)
    reads: list[AuditEvent] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.accessed.total() + len(self.scores) + len(self.reads)

    def write(self, tx: Tx, at: datetime) -> None:
        # Somebody who was erased meanwhile must not come back by having been looked at.
        if tx.space.known():
            tx.memories.touch(list(self.accessed.elements()), at)
            tx.memories.rate(self.scores)
            for event in self.reads:
                tx.space.record(event)


class Notes:
    def __init__(self, most: int = MOST_NOTES) -> None:
        self._most = most
        self._noted: dict[Scope, Noted] = {}
        self._count = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            return sum(noted.size for noted in self._noted.values())

    def accessed(self, scope: Scope, memory_ids: Sequence[str], scores: Mapping[str, Scores]) -> None:
        with self._lock:
            noted = self._of(scope, len(memory_ids) + len(scores))
            self._count -= len(scores.keys() & noted.scores.keys())
            noted.accessed.update(memory_ids)
            noted.scores |= scores

    def passed_over(self, scope: Scope, memory_ids: Iterable[str]) -> None:
        """Each of these was found once and then not shown after all. What was written meanwhile stays."""
        with self._lock:
            noted = self._noted.get(scope)
            if noted is None:
                return
            for id in memory_ids:
                if noted.accessed[id] > 0:
                    noted.accessed[id] -= 1
                    self._count -= 1
                if not noted.accessed[id]:
                    del noted.accessed[id]

    def tell(self, scope: Scope) -> bool:
        """Whether anything is noted of how memories of this scope fared. That somebody looked says nothing of that."""
        with self._lock:
            noted = self._noted.get(scope)
            return noted is not None and bool(noted.scores or noted.accessed.total())

    def read(self, scope: Scope, event: AuditEvent) -> None:
        with self._lock:
            self._of(scope, 1).reads.append(event)

    def discard(self, scope: Scope) -> None:
        """Nothing about this scope is to be written any more."""
        with self._lock:
            self._taken(scope)

    async def write(self, store: Store, clock: Clock, scope: Scope | None = None) -> None:
        """Write what is noted, of one scope or of all. What the store doesn't take stays noted, and so does all after it."""
        with self._lock:
            waiting = list(self._noted) if scope is None else [scope]
        at = clock.now()
        for where in waiting:
            with self._lock:
                noted = self._taken(where)

            def work(tx: Tx, noted: Noted = noted) -> None:
                noted.write(tx, at)

            try:
                if noted.size or noted.scores:
                    await store.write(where, work)
            except Unavailable:
                self._give_back(where, noted)
                raise

    def _give_back(self, scope: Scope, noted: Noted) -> None:
        with self._lock:
            since = self._taken(scope)
            noted.accessed.update(since.accessed)
            noted.scores |= since.scores
            noted.reads += since.reads
            self._make_room(noted.size)
            self._noted[scope] = noted

    def _taken(self, scope: Scope) -> Noted:
        noted = self._noted.pop(scope, None) or Noted()
        self._count -= noted.size
        return noted

    def _of(self, scope: Scope, more: int) -> Noted:
        """Where to note `more` about a scope."""
        self._make_room(more)
        return self._noted.setdefault(scope, Noted())

    def _make_room(self, more: int) -> None:
        """When there is none, whoever has most noted gives way, not whoever is first."""
        self._count += more
        while self._count > self._most and self._noted:
            self._taken(max(self._noted, key=lambda each: self._noted[each].size))
