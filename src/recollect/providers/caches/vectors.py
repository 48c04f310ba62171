"""Query embeddings, kept: people repeat themselves, and assistants repeat people.

A key is the model and a hash of the text, so a cache holds no readable content. Vectors are kept in this process; where several
processes share a cache, what one has asked for the others need not ask again.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.ports import Cache, Embedder, Vector
from recollect.ports.around import AroundEmbedder

KEPT_SECONDS = 7 * 24 * 3600

Key = tuple[str, bytes]
"""(the model with its provider and dimensions, SHA-256 of the text)."""


class VectorCache(Protocol):
    async def fetch(self, keys: Sequence[Key]) -> Mapping[Key, Vector]:
        """Those of the keys that are there."""

    async def store(self, vectors: Mapping[Key, Vector]) -> None: ...


class EmbeddingCache:
    """The most recently used vectors, in this process. Safe from any thread."""

    def __init__(self, most: int = 2_048) -> None:
        if most < 1:
            raise ValueError("a cache must hold at least one vector")
        self._most = most
        self._lock = threading.Lock()
        self._vectors: OrderedDict[Key, Vector] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    async def fetch(self, keys: Sequence[Key]) -> Mapping[Key, Vector]:
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
        return found

    async def store(self, vectors: Mapping[Key, Vector]) -> None:
        with self._lock:
            for key, vector in vectors.items():
                # A copy, because a row of a larger array would keep all of that array alive.
                self._vectors[key] = vector.copy()
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()


class SharedEmbeddingCache:
    """This process's vectors, and behind them those of all processes. A vector that came to harm on the way is not there."""

    def __init__(self, local: EmbeddingCache, cache: Cache, pepper: bytes = b"") -> None:
        self._local = local
        self._cache = cache
        self._pepper = pepper[:64]

    async def fetch(self, keys: Sequence[Key]) -> Mapping[Key, Vector]:
        found = dict(await self._local.fetch(keys))
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        kept = await asyncio.gather(*(self._cache.get(self._name(key)) for key in missing))
        shared = {
            key: vector for key, told in zip(missing, kept, strict=True) if (vector := _unpacked(key, told)) is not None
        }
        if shared:
            await self._local.store(shared)
        return found | shared

    async def store(self, vectors: Mapping[Key, Vector]) -> None:
        await self._local.store(vectors)
        packed = {self._name(key): _packed(key, vector) for key, vector in vectors.items()}
        await asyncio.gather(*(self._cache.set(name, value, KEPT_SECONDS) for name, value in packed.items()))

    def _name(self, key: Key) -> str:
        model, digest = key
        return (
            "embedding_cache:" + hashlib.blake2b(digest + model.encode(), key=self._pepper, digest_size=32).hexdigest()
        )


def _packed(key: Key, vector: Vector) -> bytes:
    """The vector after a checksum over it and its model: what doesn't fit together is recognised as harmed or mistaken."""
    body = vector.astype("<f4").tobytes()
    return zlib.crc32(body, zlib.crc32(key[0].encode())).to_bytes(4, "little") + body


def _unpacked(key: Key, kept: bytes | None) -> Vector | None:
    if kept is None or len(kept) < 8 or len(kept) % 4:
        return None
    body = kept[4:]
    if zlib.crc32(body, zlib.crc32(key[0].encode())).to_bytes(4, "little") != kept[:4]:
        return None
    return np.frombuffer(body, dtype="<f4").astype(np.float32)


class CachedEmbedder(AroundEmbedder):
    """An `Embedder` that remembers its queries. Documents pass through: each is embedded once in its life."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        super().__init__(embedder)
        self._cache = cache
        self._named = ""
        """Who makes these vectors. A server tells its model and dimensions only when asked, so it is empty at first."""
        self.told: Callable[[int, int], None] = lambda hits, misses: None
        """Told how many of the questions it was asked were known, and how many not."""

    @property
    def dimensions(self) -> int:
        return self._introduced()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not query or not texts:
            return await self._embedder.embed(texts, query=query)
        digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        kept = await self._cache.fetch([(self._named, digest) for digest in digests]) if self._named else {}
        known = {digest: vector for (_, digest), vector in kept.items()}
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        self.told(len(digests) - len(missing), len(missing))
        if missing:
            vectors = await self._embedder.embed(list(missing.values()), query=True)
            fresh = dict(zip(missing, vectors, strict=True))
            self._introduced()
            await self._cache.store({(self._named, digest): vector for digest, vector in fresh.items()})
            known |= fresh
        return np.stack([known[digest] for digest in digests])

    def _introduced(self) -> int:
        """The dimensions, and with them the name: after the first answer neither takes a call."""
        dimensions = self._embedder.dimensions
        self._named = f"{self.provider}:{self.model}:{dimensions}"
        return dimensions
