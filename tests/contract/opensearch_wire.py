"""A server on the loopback that takes OpenSearch's requests in their published shapes, and no others.

It keeps documents and answers from them, so that the client can be held to the contract of every vector index. Whatever it
doesn't know it refuses with 400, so that a request of another shape fails the test that sent it.
"""

from __future__ import annotations

import fnmatch
import json
import threading
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from tests.services.wire import Exchange, Wire

Answer = tuple[int, dict[str, Any]]
METHOD = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}


class Refused(Exception):
    def __init__(self, status: int, kind: str) -> None:
        super().__init__(kind)
        self.answer: Answer = status, {"error": {"type": kind, "reason": "as published"}, "status": status}


def expect(holds: bool, kind: str = "parsing_exception") -> None:
    if not holds:
        raise Refused(400, kind)


class OpenSearch(Wire):
    """`fail_with` answers everything with that status; `seen` are the requests in order."""

    def __init__(self) -> None:
        super().__init__()
        self.templates: dict[str, Any] = {}
        self.indices: dict[str, dict[str, Any]] = {}
        self.seen: list[tuple[str, str, Any]] = []
        self.fail_with: int | None = None
        self._lock = threading.Lock()

    def meet(self, exchange: Exchange) -> None:
        kind = exchange.headers.get("Content-Type") or ""
        status, answer = self.answer(exchange.command, exchange.path, kind, exchange.content().decode())
        exchange.says(status, answer, {"Content-Type": "application/json; charset=UTF-8"})

    def answer(self, method: str, target: str, kind: str, content: str) -> Answer:
        if self.fail_with is not None:
            return self.fail_with, {"error": {"type": "cluster_block_exception"}, "status": self.fail_with}
        address = urlsplit(target)
        asked = dict(parse_qsl(address.query))
        first, _, rest = address.path.strip("/").partition("/")
        with self._lock:
            try:
                if first == "_bulk":
                    expect(kind == "application/x-ndjson" and content.endswith("\n"), "illegal_argument_exception")
                    body: Any = [json.loads(line) for line in content.splitlines()]
                else:
                    body = json.loads(content) if content else None
                self.seen.append((method, target, body))
                match method, first, rest:
                    case "PUT", "_index_template", name:
                        return self._put_template(name, body)
                    case "PUT", index, "":
                        return self._create(index, body)
                    case "POST", "_bulk", "":
                        return self._bulk(body)
                    case "POST", index, "_search":
                        return self._search(index, body, asked.get("ignore_unavailable") == "true")
                    case "POST", pattern, "_delete_by_query":
                        return self._delete_by_query(pattern, body)
                    case "DELETE", index, "":
                        return self._delete(index, asked.get("ignore_unavailable") == "true")
                raise Refused(400, "illegal_argument_exception")
            except Refused as refusal:
                return refusal.answer

    def _put_template(self, name: str, body: Any) -> Answer:
        expect(set(body) == {"index_patterns", "template"} and set(body["template"]) <= {"settings", "mappings"})
        expect(body["template"]["settings"] == {"index": {"knn": True}})
        self.templates[name] = body
        return 200, {"acknowledged": True}

    def _create(self, index: str, body: Any) -> Answer:
        expect(index == index.lower() and not index.startswith(("-", "_", "+")), "invalid_index_name_exception")
        expect(index not in self.indices, "resource_already_exists_exception")
        vector = body["mappings"]["properties"]["vector"]
        expect(set(vector) == {"type", "dimension", "method"} and vector["type"] == "knn_vector")
        expect(vector["method"] == METHOD and isinstance(vector["dimension"], int))
        fitting = [each for each in self.templates.values() if fnmatch.fnmatch(index, each["index_patterns"][0])]
        fields = fitting[0]["template"]["mappings"]["properties"] | body["mappings"]["properties"]
        self.indices[index] = {"fields": fields, "docs": {}}
        return 200, {"acknowledged": True, "shards_acknowledged": True, "index": index}

    def _bulk(self, lines: list[Any]) -> Answer:
        items = []
        for action, row in zip(lines[::2], lines[1::2], strict=True):
            expect(set(action) == {"index"} and set(action["index"]) == {"_index", "_id"})
            expect(len(action["index"]["_id"].encode()) <= 512, "illegal_argument_exception")
            index = self.indices[action["index"]["_index"]]
            fits = set(row) <= set(index["fields"]) and len(row["vector"]) == index["fields"]["vector"]["dimension"]
            if fits:
                index["docs"][action["index"]["_id"]] = row
            items.append({"index": {"_id": action["index"]["_id"], "status": 201 if fits else 400}})
        return 200, {"took": 1, "errors": any(each["index"]["status"] == 400 for each in items), "items": items}

    def _search(self, name: str, body: Any, ignore: bool) -> Answer:
        if name not in self.indices:
            if not ignore:
                raise Refused(404, "index_not_found_exception")
            return 200, {"hits": {"total": {"value": 0, "relation": "eq"}, "hits": []}}
        expect(set(body) == {"size", "_source", "query"} and set(body["query"]) == {"knn"})
        ((field, near),) = body["query"]["knn"].items()
        index = self.indices[name]
        expect(set(near) == {"vector", "k", "filter"} and 1 <= near["k"] <= 10_000)
        expect(len(near["vector"]) == index["fields"][field]["dimension"], "query_shard_exception")
        found = [
            {"_id": id, "_score": _score(near["vector"], row[field]), "_source": {"id": row["id"]}}
            for id, row in index["docs"].items()
            if _matches(near["filter"], id, row)
        ]
        found.sort(key=lambda hit: -hit["_score"])
        hits = found[: min(near["k"], body["size"])]
        return 200, {"hits": {"total": {"value": len(hits), "relation": "eq"}, "hits": hits}}

    def _delete_by_query(self, pattern: str, body: Any) -> Answer:
        expect(set(body) == {"query"})
        deleted = 0
        for name, index in self.indices.items():
            if fnmatch.fnmatch(name, pattern):
                for id in [id for id, row in index["docs"].items() if _matches(body["query"], id, row)]:
                    del index["docs"][id]
                    deleted += 1
        return 200, {"took": 1, "deleted": deleted, "version_conflicts": 0, "failures": []}

    def _delete(self, index: str, ignore: bool) -> Answer:
        if index not in self.indices and not ignore:
            raise Refused(404, "index_not_found_exception")
        self.indices.pop(index, None)
        return 200, {"acknowledged": True}


def _matches(query: Any, id: str, row: Any) -> bool:
    ((kind, about),) = query.items()
    match kind:
        case "bool":
            expect(set(about) == {"filter"})
            return all(_matches(each, id, row) for each in about["filter"])
        case "term":
            ((field, value),) = about.items()
            return bool(value in row[field] if isinstance(row[field], list) else value == row[field])
        case "ids":
            expect(set(about) == {"values"})
            return id in about["values"]
    raise Refused(400, "parsing_exception")


def _score(one: list[float], other: list[float]) -> float:
    a, b = np.array(one), np.array(other)
    return float((1 + a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) / 2)
