"""Query embeddings, kept: people repeat themselves, and assistants repeat people.

A key is the model's name and a hash of the text, so a cache holds no readable content. One cache serves
one embedder; a cache that several processes share only has to offer the two methods of `VectorCache`.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.ports import Embedder, Vector

Key = tuple[str, bytes]
"""(model, SHA-256 of the text)."""


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


class CachedEmbedder:
    """An `Embedder` that remembers its queries. Documents pass through: each is embedded once in its life."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def provider(self) -> str:
        return self._embedder.provider

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not query or not texts:
            return await self._embedder.embed(texts, query=query)
        keys = [_key(self.model, text) for text in texts]
        known = dict(await self._cache.fetch(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            vectors = await self._embedder.embed(list(missing.values()), query=True)
            fresh = dict(zip(missing, vectors, strict=True))
            await self._cache.store(fresh)
            known |= fresh
        return np.stack([known[key] for key in keys])

    async def close(self) -> None:
        await self._embedder.close()


def _key(model: str, text: str) -> Key:
    return model, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
