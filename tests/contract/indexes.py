"""The vector indexes under contract, and how to open each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial

from recollect.ports import System, VectorIndex
from recollect.providers.indexes.chroma import ChromaIndex
from recollect.providers.indexes.opensearch import OpenSearchIndex
from recollect.testing import ReferenceIndex, StoreIndex
from tests.contract.opensearch_wire import OpenSearch
from tests.contract.samples import generation
from tests.contract.stores import OPENERS, Ground

SIZES = {"g1": 3, "g2": 5}
COLLECTION = "ai_sdk_conversation_memory"


@asynccontextmanager
async def _reference(ground: Ground) -> AsyncIterator[VectorIndex]:
    yield ReferenceIndex()


@asynccontextmanager
async def _chroma(ground: Ground) -> AsyncIterator[VectorIndex]:
    index = ChromaIndex(COLLECTION, folder=ground.folder / "chroma")
    yield index
    await index.close()


@asynccontextmanager
async def _opensearch(ground: Ground) -> AsyncIterator[VectorIndex]:
    with OpenSearch().running() as server:
        index = OpenSearchIndex(server.url, COLLECTION)
        yield index
        await index.close()


@asynccontextmanager
async def _of_store(ground: Ground, name: str) -> AsyncIterator[VectorIndex]:
    def prepare(system: System) -> None:
        for id, dimensions in SIZES.items():
            system.add_generation(replace(generation(), id=id, dimensions=dimensions))

    async with OPENERS[name](ground) as store:
        await store.system(prepare)
        yield StoreIndex(store)


INDEXES: dict[str, Callable[[Ground], AbstractAsyncContextManager[VectorIndex]]] = {
    "reference": _reference,
    "chroma": _chroma,
    "opensearch": _opensearch,
    "sqlite": partial(_of_store, name="sqlite-memory"),
    "pgvector": partial(_of_store, name="postgres"),
}


def abroad(kind: str, url: str, collection: str = COLLECTION) -> VectorIndex:
    """One that is asked over a network."""
    return OpenSearchIndex(url, collection) if kind == "opensearch" else ChromaIndex(collection, url=url)
