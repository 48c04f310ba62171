"""A key goes to the server it was given for, and to no other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect import Memory
from tests.providers.wire import EmbeddingServer

OPENAIS = "sk-for-openai-alone"
OWN = "for-this-server"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


def keys_seen(server: EmbeddingServer, **settings: str) -> set[str | None]:
    """What the server was shown as a key while something was remembered."""
    with Memory("memory://", user="ana", **settings) as memory:
        memory.add("the ferry leaves at noon")
        memory.flush(120)
        assert len(memory.search("ferry")) == 1
    return {seen.headers.get("Authorization") for seen in server.seen}


@pytest.mark.parametrize(
    ("embedder", "path"),
    [
        ("auto", "/api/embed"),
        ("auto", "/v1"),
        ("auto", "/vectors"),
        ("openai", "/v1"),
        ("ollama", ""),
        ("custom_http", "/vectors"),
        ("llamacpp", ""),
    ],
)
def test_openais_key_is_shown_to_no_other_server(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, embedder: str, path: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OPENAIS)
    settings = {"embedder": embedder, "embedder_url": server.url + path}
    assert keys_seen(server, **settings) == {None}
    server.seen.clear()
    assert keys_seen(server, **settings, embedder_key=OWN) == {f"Bearer {OWN}"}


def test_nor_to_the_operators_server(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OPENAIS)
    assert keys_seen(server, llamacpp_url=server.url) == {None}
    server.seen.clear()
    assert keys_seen(server, embedder="llamacpp", llamacpp_url=server.url) == {None}
