"""How much a search gives, and which model turns texts into vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.settings.addresses import web
from recollect.settings.parsing import fraction, number, one_of, setting, text, whole

EmbedderName = Literal["auto", "local", "openai", "ollama", "llamacpp", "custom_http", "off"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    token_budget: int | None = setting(
        None,
        whole(1, 1_000_000),
        "The most tokens of memory put into a prompt. Unset: as the recipe says (1000; datachat 4000).",
        "TOKEN_BUDGET",
    )
    min_relevance: float | None = setting(
        None, fraction, "Below this relevance nothing matches. Unset: as the recipe says (0.3).", "MIN_RELEVANCE"
    )
    max_results: int | None = setting(
        None,
        whole(1, 1000),
        "How many hits a search gives. Unset: as the recipe says (10; longterm 5, companion 12).",
        "MAX_RESULTS",
        "MEMORY_RETRIEVAL_LIMIT",
    )
    companion_alpha: float = setting(1.0, number(0, 10), "What relevance weighs in the recipe `companion`.")
    companion_beta: float = setting(1.0, number(0, 10), "What recency weighs there.")
    companion_gamma: float = setting(1.0, number(0, 10), "What importance weighs there.")
    companion_lambda: float = setting(
        0.7, fraction, "How much worth counts there beside variety: 1 is worth alone, 0 variety alone."
    )
    exact_below: int = setting(
        200_000,
        whole(0, 5_000_000),
        "Scopes with at most this many entries are searched exactly, in memory; larger ones through the "
        "database's own indexes.",
    )
    index_memory_mb: int = setting(
        1024, whole(1, 1_000_000), "How much memory the in-memory indexes of all scopes may take together."
    )
    embedder: EmbedderName = setting(
        "auto",
        one_of(EmbedderName),
        "Who makes embeddings. `auto`: a configured llama.cpp server, else a configured endpoint, else the local "
        "model. `off`: words only.",
    )
    embedder_url: str = setting("", web, "The embedding endpoint.")
    embedder_model: str = setting("", text, "The embedding model's name at that endpoint.")
    embedder_key: str = setting(
        "",
        text,
        "The embedding endpoint's API key. Unset: `OPENAI_API_KEY`, if OpenAI itself is the one server that is configured.",
        secret=True,
    )
    embedder_dimensions: int = setting(0, whole(0, 16_000), "The vector size to ask for; 0 lets the model decide.")
    embedder_timeout_s: int = setting(30, whole(1, 600), "How long one call for embeddings may take.")
    llamacpp_url: str = setting("", web, "A llama.cpp server; used first when it answers.")
    embed_batch: int = setting(64, whole(1, 2048), "How many texts are embedded at once in the background.")
    embed_lease_s: int = setting(
        120, whole(5, 3600), "How long claimed embedding work stays claimed when its worker dies."
    )
