"""Few heaps for many threads, where the C library gives each thread its own (glibc: up to eight for every core).

What is freed in one heap is of no use to the others, so a process with forty threads holds many times the memory that it needs,
and ever more of it in the first hours. Python runs one thread at a time: they hardly ever want to allocate at once.
"""

from __future__ import annotations

import ctypes
import sys

HEAPS = 2
_ARENA_MAX = -8


def few_heaps() -> bool:
    """For all threads that have none of their own yet; whether the C library can be told."""
    tell = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return tell is not None and bool(tell(_ARENA_MAX, HEAPS))
