"""Vectors in Chroma: embedded in a folder of our own, or in a server that others may use too. It is told nothing but vectors,
ids, scopes and labels, and tells nobody that it is used.

Chroma's client blocks, so it works on threads, and is opened by the first who needs it: where it can't be, that one question
does without.
"""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import chromadb
import httpx
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from numpy.typing import NDArray

from recollect.errors import InvalidInput, Unavailable
from recollect.model import Scope
from recollect.ports import Point
from recollect.providers.indexes.naming import checked_collection, generation_name, labels_of, point_name

T = TypeVar("T")
AT_ONCE = 1000
HNSW = {"space": "cosine", "ef_search": 200, "ef_construction": 200}
"""Wider than Chroma's own: a person's questions are few, and each one missed is missed."""


class ChromaIndex:
    def __init__(self, collection: str, *, url: str = "", folder: Path | None = None, timeout_s: float = 10.0) -> None:
        self._collection = checked_collection(collection)
        self._open = _server(url) if url else _embedded(folder or Path("chroma"))
        self._timeout_s = timeout_s
        self._client: Any = None
        self._lock = threading.Lock()
        self._closed = False

    async def add(self, scope: Scope, generation: str, points: Sequence[Point]) -> None:
        await self._run(lambda client: self._add(client, scope, generation, points))

    async def search(
        self,
        scope: Scope,
        generation: str,
        vector: NDArray[np.float32],
        k: int,
        where: Mapping[str, str] | None = None,
    ) -> list[tuple[str, float]]:
        def work(client: Any) -> list[tuple[str, float]]:
            collection = self._of(client, generation)
            if collection is None or k < 1:
                return []
            asked = {"n_results": k, "where": _within(scope, where), "include": ["distances", "metadatas"]}
            found = collection.query(query_embeddings=[vector.tolist()], **asked)
            distances = zip(found["metadatas"][0], found["distances"][0], strict=True)
            return [(str(about["id"]), 1.0 - float(distance)) for about, distance in distances]

        return await self._run(work)

    async def drop(self, scope: Scope, ids: Sequence[str]) -> None:
        names = [point_name(scope, id) for id in ids]

        def work(client: Any) -> None:
            for collection in self._all(client):
                for start in range(0, len(names), AT_ONCE):
                    collection.delete(ids=names[start : start + AT_ONCE])

        await self._run(work)

    async def clear(self, scope: Scope) -> None:
        def work(client: Any) -> None:
            for collection in self._all(client):
                collection.delete(where=_within(scope))

        await self._run(work)

    async def retire(self, generation: str) -> None:
        def work(client: Any) -> None:
            if self._of(client, generation) is not None:
                client.delete_collection(generation_name(self._collection, generation))

        await self._run(work)

    async def close(self) -> None:
        with self._lock:
            client, self._client, self._closed = self._client, None, True
        if client is not None:
            await asyncio.to_thread(_let_go, client)

    def _add(self, client: Any, scope: Scope, generation: str, points: Sequence[Point]) -> None:
        if not points:
            return
        collection = client.get_or_create_collection(
            generation_name(self._collection, generation), embedding_function=None, configuration={"hnsw": HNSW}
        )
        # Of a point that comes twice the last one holds, which Chroma takes for a mistake.
        latest = {point_name(scope, point.id): point for point in points}
        for start in range(0, len(latest), AT_ONCE):
            batch = dict(list(latest.items())[start : start + AT_ONCE])
            # What is there under that name goes first: an update would keep labels the new point lacks.
            collection.delete(ids=list(batch))
            collection.add(
                ids=list(batch),
                embeddings=[point.vector.tolist() for point in batch.values()],
                metadatas=[_about(scope, point) for point in batch.values()],
            )

    def _of(self, client: Any, generation: str) -> Any | None:
        try:
            return client.get_collection(generation_name(self._collection, generation), embedding_function=None)
        except NotFoundError:
            return None

    def _all(self, client: Any) -> Iterator[Any]:
        for each in client.list_collections():
            if each.name.startswith(f"{self._collection}-"):
                yield client.get_collection(each.name, embedding_function=None)

    async def _run(self, work: Callable[[Any], T]) -> T:
        def asked() -> T:
            with _told():
                return work(self._opened())

        # Its client for servers waits for an answer as long as it takes.
        try:
            return await asyncio.wait_for(asyncio.to_thread(asked), self._timeout_s)
        except TimeoutError:
            raise Unavailable(f"Chroma did not answer within {self._timeout_s:g} s") from None

    def _opened(self) -> Any:
        with self._lock:
            if self._closed:
                raise Unavailable("the vector index is closed")
            if self._client is None:
                self._client = self._open()
            return self._client


@contextmanager
def _told() -> Iterator[None]:
    """Chroma's troubles as ours. Its messages may quote what was sent, so only their kind is passed on."""
    try:
        yield
    except (ChromaError, httpx.HTTPError, OSError, ValueError, RuntimeError) as problem:
        raise Unavailable(f"Chroma failed ({type(problem).__name__})") from None


def _let_go(client: Any) -> None:
    # Its clients for servers leave their connections open.
    for each in (client, getattr(client, "_admin_client", None)):
        if (session := getattr(getattr(each, "_server", None), "_session", None)) is not None:
            session.close()
    client.close()


def _embedded(folder: Path) -> Callable[[], Any]:
    def open() -> Any:
        for each in (folder.parent, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        return chromadb.PersistentClient(path=folder, settings=_quiet())

    return open


def _server(url: str) -> Callable[[], Any]:
    try:
        address = urlsplit(url)
        host, port = address.hostname, address.port
    except ValueError:
        host, port, address = None, None, urlsplit("")
    if address.scheme not in {"http", "https"} or not host:
        raise InvalidInput("the vector index's URL must be a full http:// or https:// address")
    secure = address.scheme == "https"
    headers = {}
    if address.username:
        login = f"{unquote(address.username)}:{unquote(address.password or '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()

    def open() -> Any:
        return chromadb.HttpClient(
            host=host, port=port or (443 if secure else 8000), ssl=secure, headers=headers, settings=_quiet()
        )

    return open


def _quiet() -> Settings:
    return Settings(anonymized_telemetry=False)


def _about(scope: Scope, point: Point) -> dict[str, Any]:
    whose = {"tenant": scope.tenant, "user": scope.user, "space": scope.space, "id": point.id}
    return whose | dict.fromkeys(labels_of(point.labels), True)


def _within(scope: Scope, where: Mapping[str, str] | None = None) -> dict[str, Any]:
    whose: list[dict[str, Any]] = [{"tenant": scope.tenant}, {"user": scope.user}, {"space": scope.space}]
    return {"$and": whose + [{label: True} for label in labels_of(where or {})]}
