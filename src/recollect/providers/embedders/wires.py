"""The wire formats of embedding servers: where a request goes, what it says, and how the answer is read.

    openai       POST {base}/embeddings      {"model", "input": [...], "dimensions"?}
                                             {"data": [{"index": 0, "embedding": [...]}]}
    ollama       POST {base}/api/embed       {"model", "input": [...], "dimensions"?}
                                             {"embeddings": [[...]]}
    llamacpp     POST {base}/v1/embeddings   as openai
                 POST {base}/embedding       {"content": [...]}, on servers that lack the other
                                             [{"index": 0, "embedding": [[...]]}]
    custom_http  POST {the URL as it is}     {"model", "input": [...], "dimensions"?}
                                             any of these answers, or plainly [[...]]

Reading is shared and lenient about shape, because servers that say they speak one format often answer in
another; it is strict about order, because a swapped pair of vectors is a mistake nobody would ever
notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.errors import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One wire format, with the limits its servers have unless told otherwise."""

    provider: str
    paths: tuple[str, ...]
    """Tried in this order; the next one only where a server does not know the one before (404 or 405)."""
    url: str | None = None
    model: str | None = None
    keyed: bool = False
    """Whether the public server at `url` is of no use without a key."""
    sends_dimensions: bool = True
    batch: int = 32
    text_bytes: int = 20_000
    """About 8,000 tokens, what the larger models take; smaller limits are found out by refusal."""
    request_bytes: int = 200_000

    def endpoint(self, base: str, path: str) -> str:
        """The full address; a base that already names one of the paths is taken apart first."""
        base = base.rstrip("/")
        for known in sorted(self.paths, key=len, reverse=True):
            if known and base.endswith(known):
                base = base.removesuffix(known)
                break
        if path.startswith("/v1/"):
            base = base.removesuffix("/v1")
        return base + path

    def body(self, path: str, texts: Sequence[str], model: str | None, dimensions: int | None) -> dict[str, Any]:
        if path == "/embedding":
            return {"content": list(texts)}
        said: dict[str, Any] = {"input": list(texts)}
        if model is not None:
            said["model"] = model
        if dimensions is not None and self.sends_dimensions:
            said["dimensions"] = dimensions
        return said


OPENAI = Wire(
    provider="openai",
    paths=("/embeddings",),
    url="https://api.openai.com/v1",
    keyed=True,
    model="text-embedding-3-small",
    batch=256,
    request_bytes=600_000,
)
OLLAMA = Wire(provider="ollama", paths=("/api/embed",), url="http://127.0.0.1:11434", model="nomic-embed-text")
LLAMACPP = Wire(
    provider="llamacpp",
    paths=("/v1/embeddings", "/embedding"),
    url="http://127.0.0.1:8080",
    sends_dimensions=False,
)
CUSTOM_HTTP = Wire(provider="custom_http", paths=("",), model="custom")

WIRES: Mapping[str, Wire] = {wire.provider: wire for wire in (OPENAI, OLLAMA, LLAMACPP, CUSTOM_HTTP)}

DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Sizes that are published and fixed, so that no call is needed to learn them."""


def vectors_in(answer: Any) -> list[Any]:
    """The vectors of an answer in the order of the texts, unchecked."""
    rows = answer
    if isinstance(answer, dict):
        rows = answer.get("data", answer.get("embeddings"))
        if rows is None and "embedding" in answer:
            rows = [answer]
    if not isinstance(rows, list):
        raise Unavailable("the embedder's answer holds no embeddings")
    if any(isinstance(row, dict) for row in rows):
        rows = [_own(row) for row in _ordered(rows)]
    return rows


def _ordered(rows: list[Any]) -> list[Any]:
    """Rows by their `index`, if they carry one."""
    indexes = [row.get("index") if isinstance(row, dict) else None for row in rows]
    if all(index is None for index in indexes):
        return rows
    places = {index: row for index, row in zip(indexes, rows, strict=True) if type(index) is int}
    if sorted(places) != list(range(len(rows))):
        raise Unavailable("the embedder's answer numbers its vectors wrongly, so their order is unknown")
    return [places[at] for at in range(len(rows))]


def _own(row: Any) -> Any:
    vector = row.get("embedding") if isinstance(row, dict) else None
    if not isinstance(vector, list):
        raise Unavailable("the embedder's answer has an entry without an `embedding` list")
    if vector and isinstance(vector[0], list):
        if len(vector) != 1:
            raise Unavailable(
                "the embedder returned a vector for every token instead of one for each text; "
                "start the server with pooling (llama.cpp: `--pooling mean`)"
            )
        return vector[0]
    return vector
