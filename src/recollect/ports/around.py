"""What goes around a provider, to watch, guard or remember it, is asked as that provider is and goes by its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.ports.providers import Embedder


class AroundEmbedder:
    """An embedder that is another one, until a subclass says what it does differently."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

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
        return await self._embedder.embed(texts, query=query)

    async def close(self) -> None:
        await self._embedder.close()
