"""Embedders for the loopback server, and how to look at what they return and raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.errors import RecollectError
from recollect.providers.embedders.http import HttpEmbedder
from recollect.providers.embedders.patience import Patience
from recollect.providers.embedders.wires import OPENAI, Wire
from tests.providers.wire import EmbeddingServer, vector

KEY = "sk-very-secret-0123456789"
TEXT = "Ana's blood type is AB negative"
QUICK = Patience(attempts=3, timeout_s=60.0, first_wait_s=0.01, longest_wait_s=0.5)


class Connect:
    """Makes embedders for the server at hand and closes them when the test is over."""

    def __init__(self, server: EmbeddingServer) -> None:
        self._server = server
        self.made: list[HttpEmbedder] = []

    def __call__(self, wire: Wire = OPENAI, path: str | None = None, **options: Any) -> HttpEmbedder:
        base = {"openai": "/v1", "custom_http": "/vectors"}.get(wire.provider, "") if path is None else path
        settings: dict[str, Any] = {
            "model": "m1",
            "patience": QUICK,
            "query_patience": QUICK,
            "url": self._server.url + base,
            "api_key": KEY,
        } | options
        self.made.append(HttpEmbedder(wire, **settings))
        return self.made[-1]


def same(found: NDArray[np.float32], texts: Sequence[str]) -> bool:
    expected = np.array([vector(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    return found.dtype == np.float32 and np.allclose(found, expected, atol=1e-6)


async def failure(embedder: HttpEmbedder, texts: Sequence[str] = (TEXT,), query: bool = False) -> RecollectError:
    """What `embed` raises, having made sure that it tells nothing private."""
    with pytest.raises(RecollectError) as caught:
        await embedder.embed(texts, query=query)
    told = f"{caught.value} {caught.value.details} {caught.value.__cause__}"
    assert KEY not in told
    assert all(text not in told for text in texts)
    return caught.value
