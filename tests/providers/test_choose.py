"""Who embeds: the operator's server, then the person's endpoint, then the model that comes along."""

from __future__ import annotations

import pytest

from recollect.errors import InvalidInput
from recollect.providers.embedders import EmbedderConfig, Provider, choose
from tests.providers.wire import SIZE, EmbeddingServer, Fault


def chosen(config: EmbedderConfig) -> str | None:
    embedder = choose(config)
    return embedder.provider if embedder else None


def test_nothing_configured_means_the_local_model() -> None:
    assert chosen(EmbedderConfig()) == "local"


def test_off_means_none_even_with_everything_configured(server: EmbeddingServer) -> None:
    config = EmbedderConfig(provider="off", endpoint_url=server.url, llamacpp_url=server.url)
    assert chosen(config) is None
    assert not server.seen


async def test_the_operators_server_comes_first(server: EmbeddingServer) -> None:
    config = EmbedderConfig(
        llamacpp_url=server.url,
        endpoint_url="https://elsewhere.invalid/v1",
        model="theirs",
        api_key="sk-theirs",
        dimensions=3,
    )
    embedder = choose(config)
    assert embedder is not None
    assert (embedder.provider, embedder.model, embedder.dimensions) == ("llamacpp", "bge-m3-q8.gguf", SIZE)
    # What the person configured is meant for the person's own endpoint.
    assert "Authorization" not in server.seen[0].headers
    assert "model" not in server.seen[0].body
    await embedder.close()


@pytest.mark.parametrize("fault", [Fault(status=501, body=b"{}"), Fault(status=401), Fault(body=b"hello")])
def test_an_operators_server_that_does_not_embed_is_passed_over(server: EmbeddingServer, fault: Fault) -> None:
    server.faults.append(fault)
    assert chosen(EmbedderConfig(llamacpp_url=server.url)) == "local"


def test_an_operators_server_that_is_down_is_passed_over() -> None:
    with EmbeddingServer().running() as gone:
        url = gone.url
    assert chosen(EmbedderConfig(llamacpp_url=url)) == "local"
    assert chosen(EmbedderConfig(llamacpp_url=url, endpoint_url="https://e.invalid/v1")) == "openai"


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://e.invalid/v1", "openai"),
        ("https://e.invalid/v1/embeddings/", "openai"),
        ("http://e.invalid:11434/api/embed", "ollama"),
        ("https://e.invalid/vectors", "custom_http"),
    ],
)
def test_a_persons_endpoint_comes_second_and_needs_no_answer(url: str, provider: str) -> None:
    assert chosen(EmbedderConfig(endpoint_url=url)) == provider


@pytest.mark.parametrize("provider", ["openai", "ollama", "llamacpp", "local"])
def test_a_named_provider_is_taken_at_its_word(provider: Provider) -> None:
    config = EmbedderConfig(provider=provider, llamacpp_url="http://127.0.0.1:9", api_key="sk-1")
    assert chosen(config) == provider


@pytest.mark.parametrize("options", [{"provider": "magic"}, {"dimensions": 0}, {"batch": -1}, {"timeout_s": 0.0}])
def test_nonsense_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        EmbedderConfig(**options)  # type: ignore[arg-type]


def test_a_custom_endpoint_without_a_url_is_refused() -> None:
    with pytest.raises(InvalidInput, match="endpoint_url"):
        choose(EmbedderConfig(provider="custom_http"))


def test_a_configuration_does_not_show_its_key() -> None:
    assert "hunter2" not in repr(EmbedderConfig(api_key="hunter2"))
