"""What a process keeps in mind about people it has seen: so much and no more, however many there are and however long it runs.

All of it may be lost at any time, because the store has the record; so what was noted longest ago gives way.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Latest(dict[K, V]):
    """The entries that were set last, the oldest first. Whoever shares it between threads holds a lock."""

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError("there must be room for at least one")
        super().__init__()
        self.most = most

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self.most:
            del self[next(iter(self))]


class LatestSet(Generic[K]):
    """Those that were added last; `pop` gives the oldest. Safe from any thread."""

    def __init__(self, most: int) -> None:
        self._kept: Latest[K, None] = Latest(most)
        self._lock = threading.Lock()

    def add(self, key: K) -> None:
        with self._lock:
            self._kept[key] = None

    def pop(self) -> K:
        with self._lock:
            for oldest in self._kept:
                del self._kept[oldest]
                return oldest
        raise KeyError("there is none")

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[K]:
        with self._lock:
            return iter([*self._kept])
