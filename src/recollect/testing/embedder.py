"""An embedder without a model, and a wrapper that makes any embedder misbehave.

`HashEmbedder` is feature hashing: words and character n-grams fall into buckets, and texts that share many of
them point the same way. It knows no synonyms, but shared words, inflections and Chinese characters count, it
takes microseconds, and a text gives the same vector in every process.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recollect.errors import RecollectError
from recollect.ports import Embedder
from recollect.ports.around import AroundEmbedder

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 2.0  # a whole word says more than any of its pieces

Fault = Literal["nan", "count", "dimension"]


class HashEmbedder:
    """Unit vectors from hashed words and character n-grams."""

    def __init__(self, dimensions: int = 64) -> None:
        self._dimensions = dimensions

    @property
    def provider(self) -> str:
        return "hash"

    @property
    def model(self) -> str:
        return f"hash-{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            self._fill(row, text)
        return vectors

    async def close(self) -> None:
        """Holds nothing open."""

    def _fill(self, row: NDArray[np.float32], text: str) -> None:
        for feature, weight in _features(text):
            number = _number(feature)
            row[number % self._dimensions] += weight if number >> 63 else -weight
        length = float(np.linalg.norm(row))
        if length:
            row /= length
        else:  # no word at all, or features that cancel out; a unit vector all the same
            row[_number(text) % self._dimensions] = 1.0


class FaultyEmbedder(AroundEmbedder):
    """Another embedder, misbehaving as told; change the attributes to make it worse or well again.

    `fail_with` is raised instead of an answer; `delay` seconds pass before one; `fault` spoils the answer
    itself. `calls` counts what was asked of it.
    """

    def __init__(
        self,
        inner: Embedder,
        *,
        fail_with: RecollectError | None = None,
        delay: float = 0.0,
        fault: Fault | None = None,
    ) -> None:
        super().__init__(inner)
        self.fail_with = fail_with
        self.delay = delay
        self.fault = fault
        self.calls = 0

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.calls += 1
        await asyncio.sleep(self.delay)
        if self.fail_with is not None:
            raise self.fail_with
        return self._spoiled(await super().embed(texts, query=query))

    def _spoiled(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        match self.fault:
            case "nan":
                return np.full_like(vectors, np.nan)
            case "count":
                return vectors[:-1]
            case "dimension":
                return vectors[:, :-1]
            case None:
                return vectors


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(text.casefold()):
        yield word, _WORD_WEIGHT
        fenced = f"<{word}>"  # so that the beginning and the end of a word are pieces of their own
        for size in (2, 3, 4):
            for start in range(len(fenced) - size + 1):
                yield f"{size}{fenced[start : start + size]}", 1.0


@lru_cache(maxsize=65536)
def _number(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
