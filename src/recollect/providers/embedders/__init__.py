"""Which embedder serves, decided in one place.

With `auto`, the first of these that applies:

    1. the operator's llama.cpp server, if its URL is configured and it answers;
    2. the HTTP endpoint a person configured;
    3. the model that comes with Recollect.

Naming a provider skips the search, and `off` means none: texts are then found by their words alone.
Nothing is ever sent to a server that was not named in the configuration. What is needed for one provider
is imported only when that one is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.ports import Embedder

if TYPE_CHECKING:
    from recollect.providers.embedders.http import HttpEmbedder

__all__ = ["EmbedderConfig", "Provider", "choose"]

Provider = Literal["auto", "local", "openai", "ollama", "llamacpp", "custom_http", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderConfig:
    provider: Provider = "auto"
    endpoint_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    timeout_s: float = 30.0
    batch: int | None = None
    llamacpp_url: str | None = None
    """The operator's llama.cpp server: preferred by `auto`, whatever else is configured."""
    models_dir: Path | None = None
    """Where weights that no package carries are looked for."""

    def __post_init__(self) -> None:
        if self.provider not in get_args(Provider):
            raise InvalidInput(f"the embedding provider must be one of {', '.join(get_args(Provider))}")
        for name in ("dimensions", "timeout_s", "batch"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidInput(f"the embedder's `{name}` must be greater than zero")


def choose(config: EmbedderConfig) -> Embedder | None:
    """The embedder for this configuration, or None for `off`. May wait for the operator's server, briefly."""
    match config.provider:
        case "off":
            return None
        case "local":
            return _local(config.models_dir, config.model)
        case "auto":
            return _operators(config) or _persons(config) or _local(config.models_dir, None)
        case "llamacpp":
            return _http("llamacpp", config, config.endpoint_url or config.llamacpp_url)
        case named:
            return _http(named, config, config.endpoint_url)


def _operators(config: EmbedderConfig) -> Embedder | None:
    """The configured llama.cpp server, if it embeds when asked: one that only chats is of no use here."""
    if config.llamacpp_url is None:
        return None
    # The person's model, key and dimensions are meant for the person's endpoint.
    own = EmbedderConfig(timeout_s=config.timeout_s, batch=config.batch)
    embedder = _http("llamacpp", own, config.llamacpp_url)
    try:
        embedder.probe(timeout_s=min(config.timeout_s, 2.0))
    except RecollectError:
        embedder.disconnect()
        return None
    return embedder


def _persons(config: EmbedderConfig) -> Embedder | None:
    if config.endpoint_url is None:
        return None
    return _http(_spoken_at(config.endpoint_url), config, config.endpoint_url)


def _spoken_at(url: str) -> str:
    """The wire format an address suggests."""
    path = url.rstrip("/")
    if path.endswith("/api/embed"):
        return "ollama"
    return "openai" if path.endswith(("/v1", "/embeddings")) else "custom_http"


def _http(provider: str, config: EmbedderConfig, url: str | None) -> HttpEmbedder:
    from recollect.providers.embedders.http import HttpEmbedder
    from recollect.providers.embedders.wires import WIRES

    return HttpEmbedder(
        WIRES[provider],
        url=url,
        model=config.model,
        api_key=config.api_key,
        dimensions=config.dimensions,
        batch=config.batch,
        timeout_s=config.timeout_s,
    )


def _local(models_dir: Path | None, model: str | None) -> Embedder:
    """The best that this machine has, or the one that was asked for and no other."""
    from recollect.providers.embedders.local import LocalEmbedder, UseEncoder, use_encoder
    from recollect.providers.embedders.pair import PAIR, pair

    if model not in {None, PAIR, UseEncoder.model}:
        raise InvalidInput(f"RECOLLECT_EMBEDDER_MODEL: the local models are {PAIR} and {UseEncoder.model}")
    if model == UseEncoder.model:
        return LocalEmbedder(use_encoder())
    both = pair(models_dir)
    if model == PAIR and both is None:
        raise Unavailable(f"the weights or the runtime of {model} are not installed")
    return both or LocalEmbedder(use_encoder())
