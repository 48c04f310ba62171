"""An embedding server for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.providers.wire import EmbeddingServer


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running
