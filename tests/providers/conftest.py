"""An embedding server for each test that asks for one, and embedders connected to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.providers.asking import Connect
from tests.providers.wire import EmbeddingServer


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
async def connect(server: EmbeddingServer) -> AsyncIterator[Connect]:
    connect = Connect(server)
    yield connect
    for embedder in connect.made:
        await embedder.close()
