"""SimHash-64: texts that share most of their terms get hashes that differ in few bits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

_CACHED = 32
"""Characters: longer terms seldom come again, and the cache counts entries, not how long they are."""


def simhash64(terms: Sequence[str]) -> int:
    """The bitwise majority of the terms' own hashes, each counted as often as it occurs. No terms: 0."""
    if not terms:
        return 0
    hashes = b"".join(_hashed(term) if len(term) <= _CACHED else _hashed.__wrapped__(term) for term in terms)
    bits = np.unpackbits(np.frombuffer(hashes, dtype=np.uint8).reshape(-1, 8), axis=1)
    majority = bits.sum(axis=0, dtype=np.int64) * 2 > len(terms)
    return int.from_bytes(np.packbits(majority).tobytes(), "big")


@lru_cache(maxsize=16384)
def _hashed(term: str) -> bytes:
    return blake2b(term.encode("utf-8"), digest_size=8).digest()
