"""Vectors that live outside the store, for the data chat's search over earlier questions. They are copies of what the store
holds: ids, scopes and labels, never a word of what was said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recollect.errors import Unsupported
from recollect.ports import VectorIndex

IndexKind = Literal["chroma", "opensearch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexConfig:
    """Where to keep them. Chroma without a URL is embedded, in `folder`."""

    kind: IndexKind
    collection: str
    url: str = ""
    folder: Path = Path()
    timeout_s: float = 10.0


def choose(config: IndexConfig) -> VectorIndex:
    if config.kind == "opensearch":
        from recollect.providers.indexes.opensearch import OpenSearchIndex

        return OpenSearchIndex(config.url, config.collection, timeout_s=config.timeout_s)
    try:
        from recollect.providers.indexes.chroma import ChromaIndex
    except ImportError as problem:
        raise Unsupported(f"Chroma needs the package {problem.name!r}: install recollect[chroma]") from problem
    return ChromaIndex(config.collection, url=config.url, folder=config.folder)
