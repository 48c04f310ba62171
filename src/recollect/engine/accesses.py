"""What was found is worth knowing, but never worth waiting for: accesses are noted in memory and written in batches later."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable

from recollect.model import Scope
from recollect.ports import Clock, Store, Tx


class Accesses:
    def __init__(self) -> None:
        self._noted: defaultdict[Scope, list[str]] = defaultdict(list)
        self._lock = threading.Lock()

    def note(self, scope: Scope, memory_ids: Iterable[str]) -> None:
        with self._lock:
            self._noted[scope] += memory_ids

    async def write(self, store: Store, clock: Clock) -> None:
        with self._lock:
            noted, self._noted = self._noted, defaultdict(list)
        at = clock.now()
        for scope, ids in noted.items():
            if ids:

                def work(tx: Tx, ids: list[str] = ids) -> None:
                    tx.memories.touch(ids, at)

                await store.write(scope, work)
