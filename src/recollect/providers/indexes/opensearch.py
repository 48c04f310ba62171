"""Vectors in OpenSearch (experimental): an index for each generation, filtered k-nearest-neighbour search, plain HTTP.

The Lucene engine is chosen because it filters while it searches: a filter never makes results go missing. Scores are
(1 + cosine) / 2 there. A template holds what all generations have in common; how long a vector is, each index says for itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAllowed, Unavailable
from recollect.model import Scope
from recollect.ports import Point
from recollect.providers.address import full_address, on_this_machine
from recollect.providers.indexes.naming import checked_collection, generation_name, labels_of, point_name

AT_ONCE = 500
WORD = {"type": "keyword"}


class OpenSearchIndex:
    def __init__(self, url: str, collection: str, *, timeout_s: float = 10.0) -> None:
        self._collection = checked_collection(collection)
        self._url = full_address(url, "the vector index's URL")
        self._timeout_s = timeout_s
        self._known: set[str] = set()
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._owner = 0
        self._closed = False

    async def add(self, scope: Scope, generation: str, points: Sequence[Point]) -> None:
        if not points:
            return
        index = generation_name(self._collection, generation)
        await asyncio.to_thread(self._prepare, index, len(points[0].vector))
        for start in range(0, len(points), AT_ONCE):
            lines = "".join(_lines(index, scope, points[start : start + AT_ONCE]))
            answer = await self._ask("POST", "/_bulk?refresh=wait_for", text=lines)
            if answer.get("errors"):
                raise Unavailable("OpenSearch did not take every vector")

    async def search(
        self,
        scope: Scope,
        generation: str,
        vector: NDArray[np.float32],
        k: int,
        where: Mapping[str, str] | None = None,
    ) -> list[tuple[str, float]]:
        if k < 1:
            return []
        near = {"vector": vector.tolist(), "k": k, "filter": _within(scope, where)}
        body = {"size": k, "_source": ["id"], "query": {"knn": {"vector": near}}}
        path = f"/{generation_name(self._collection, generation)}/_search?ignore_unavailable=true"
        answer = await self._ask("POST", path, body)
        try:
            return [(str(hit["_source"]["id"]), 2 * float(hit["_score"]) - 1) for hit in answer["hits"]["hits"]]
        except (KeyError, TypeError, ValueError):
            raise Unavailable("OpenSearch answered in a form that can't be read") from None

    async def drop(self, scope: Scope, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), AT_ONCE):
            names = [point_name(scope, id) for id in ids[start : start + AT_ONCE]]
            await self._delete({"ids": {"values": names}})

    async def clear(self, scope: Scope) -> None:
        await self._delete(_within(scope))

    async def retire(self, generation: str) -> None:
        index = generation_name(self._collection, generation)
        await self._ask("DELETE", f"/{index}?ignore_unavailable=true")
        self._known.discard(index)

    async def close(self) -> None:
        with self._lock:
            client, self._client, self._closed = self._client, None, True
        if client is not None and self._owner == os.getpid():
            client.close()

    async def _delete(self, query: Mapping[str, Any]) -> None:
        path = f"/{self._collection}-*/_delete_by_query?refresh=true&conflicts=proceed"
        answer = await self._ask("POST", path, {"query": query})
        if answer.get("failures") or answer.get("version_conflicts"):
            raise Unavailable("OpenSearch did not remove every vector")

    def _prepare(self, index: str, dimensions: int) -> None:
        """The template and the index, before the first vector of a generation. Who comes second finds them there."""
        if index in self._known:
            return
        self._send("PUT", f"/_index_template/{self._collection}", _template(self._collection))
        self._send("PUT", f"/{index}", _index(dimensions), fine=("resource_already_exists_exception",))
        self._known.add(index)

    async def _ask(self, method: str, path: str, body: Any = None, *, text: str | None = None) -> dict[str, Any]:
        return await asyncio.to_thread(self._send, method, path, body, text)

    def _send(
        self, method: str, path: str, body: Any = None, text: str | None = None, fine: Sequence[str] = ()
    ) -> dict[str, Any]:
        content = text if text is not None else None if body is None else json.dumps(body)
        kind = "application/x-ndjson" if text is not None else "application/json"
        try:
            response = self._opened().request(method, self._at(path), content=content, headers={"Content-Type": kind})
            answer = response.json()
        except (httpx.HTTPError, ValueError) as problem:
            # Messages can quote a request or an address with a password: only the kind of trouble is passed on.
            raise Unavailable(f"OpenSearch could not be asked ({type(problem).__name__})") from None
        if response.is_success and isinstance(answer, dict):
            return answer
        reason = _reason(answer)
        if reason in fine:
            return {}
        if response.status_code in {401, 403}:
            raise NotAllowed(f"OpenSearch refused the credentials (HTTP {response.status_code})")
        raise Unavailable(f"OpenSearch refused (HTTP {response.status_code} {reason})".rstrip())

    def _at(self, path: str) -> httpx.URL:
        return self._url.copy_with(raw_path=(self._url.path.rstrip("/") + path).encode())

    def _opened(self) -> httpx.Client:
        with self._lock:
            if self._closed:
                raise Unavailable("the vector index is closed")
            # Connections inherited through a fork are still the parent's.
            if self._client is None or self._owner != os.getpid():
                # On this machine a proxy from the environment would only be in the way.
                abroad = not on_this_machine(self._url)
                self._client, self._owner = httpx.Client(timeout=self._timeout_s, trust_env=abroad), os.getpid()
            return self._client


def _template(collection: str) -> dict[str, Any]:
    words = dict.fromkeys(("tenant", "user", "space", "id", "labels"), WORD)
    return {
        "index_patterns": [f"{collection}-*"],
        "template": {
            "settings": {"index": {"knn": True}},
            "mappings": {"dynamic": "strict", "properties": words},
        },
    }


def _index(dimensions: int) -> dict[str, Any]:
    method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
    vector = {"type": "knn_vector", "dimension": dimensions, "method": method}
    return {"mappings": {"properties": {"vector": vector}}}


def _lines(index: str, scope: Scope, points: Sequence[Point]) -> Iterator[str]:
    for point in points:
        whose = {"tenant": scope.tenant, "user": scope.user, "space": scope.space, "id": point.id}
        row = {**whose, "labels": [*labels_of(point.labels)], "vector": point.vector.tolist()}
        yield json.dumps({"index": {"_index": index, "_id": point_name(scope, point.id)}}) + "\n"
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _within(scope: Scope, where: Mapping[str, str] | None = None) -> dict[str, Any]:
    terms = {"tenant": scope.tenant, "user": scope.user, "space": scope.space}
    whose: list[dict[str, Any]] = [{"term": {name: value}} for name, value in terms.items()]
    return {"bool": {"filter": whose + [{"term": {"labels": label}} for label in labels_of(where or {})]}}


def _reason(answer: object) -> str:
    """The kind of an error, which is one of OpenSearch's own words; its message may quote what was sent."""
    error = answer.get("error") if isinstance(answer, dict) else None
    kind = error.get("type") if isinstance(error, dict) else None
    return kind if isinstance(kind, str) and kind.replace("_", "").isalnum() and len(kind) < 80 else ""
