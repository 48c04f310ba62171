"""SimHash-64: texts that share most of their terms get hashes that differ in few bits."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def simhash64(terms: Sequence[str]) -> int:
    """The bitwise majority of the terms' own hashes, each counted as often as it occurs. No terms: 0."""
    if not terms:
        return 0
    hashes = b"".join(blake2b(term.encode("utf-8"), digest_size=8).digest() for term in terms)
    bits = np.unpackbits(np.frombuffer(hashes, dtype=np.uint8).reshape(-1, 8), axis=1)
    majority = bits.sum(axis=0, dtype=np.int64) * 2 > len(terms)
    return int.from_bytes(np.packbits(majority).tobytes(), "big")


def hamming(a: int, b: int) -> int:
    return (a ^ b).bit_count()
