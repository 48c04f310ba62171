"""One peer, in its own environment: `python child.py <peer> <folder>` reads the job from the folder and leaves its figures there.

Stands alone: nothing of Recollect is installed where this runs. Vectors come from a table, so a peer's own cost is all there is
to measure; a text that isn't in the table counts as missed and gets a vector that is near nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

USER = "ana"


class Table:
    """The vectors of every text and question, by text."""

    def __init__(self, folder: Path) -> None:
        job = json.loads((folder / "job.json").read_text())
        self.texts: list[str] = job["texts"]
        self.questions: list[str] = job["questions"]
        self.changes: list[tuple[str, str, str]] = [(each[0], each[1], each[2]) for each in job["changes"]]
        self.forgotten: list[str] = job["forgotten"]
        vectors = np.load(folder / "vectors.npy")
        known = [*self.texts, *self.questions, *(text for change in self.changes for text in change)]
        self._rows = dict(zip(known, vectors.tolist(), strict=True))
        self.dimensions = vectors.shape[1]
        self.missed = 0

    def vector(self, text: str) -> list[float]:
        if text not in self._rows:
            self.missed += 1
            return [1.0] + [0.0] * (self.dimensions - 1)
        return list(self._rows[text])

    def vectors(self, texts: Any) -> list[list[float]]:
        return [self.vector(text) for text in texts]


class Peer:
    """How to add a text, how to find ten, and how to take one out again."""

    def __init__(
        self,
        what: str,
        add: Callable[[int, str], object],
        search: Callable[[str], list[str]],
        forget: Callable[[int], object],
    ) -> None:
        self.what, self.add, self.search, self.forget = what, add, search, forget


@contextmanager
def mem0(table: Table, folder: Path) -> Iterator[Peer]:
    module = import_module("mem0")
    unused = {"provider": "openai", "config": {"api_key": "none"}}
    store = {"collection_name": "bench", "path": str(folder / "qdrant"), "embedding_model_dims": table.dimensions}
    memory = module.Memory.from_config(
        {
            "llm": unused,
            "embedder": unused,
            "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
            "history_db_path": str(folder / "history.db"),
        }
    )

    class Embedding:
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return table.vector(text)

        def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
            return table.vectors(texts)

    memory.embedding_model = Embedding()

    def search(question: str) -> list[str]:
        found = memory.search(question, filters={"user_id": USER}, top_k=10)
        return [hit["memory"] for hit in found["results"]]

    ids: dict[int, str] = {}

    def add(number: int, text: str) -> None:
        ids[number] = memory.add(text, user_id=USER, infer=False)["results"][0]["id"]

    yield Peer(f"mem0 {version('mem0ai')} (qdrant)", add, search, lambda number: memory.delete(ids[number]))


@contextmanager
def chroma(table: Table, folder: Path) -> Iterator[Peer]:
    module = import_module("chromadb")

    class Embedding(module.EmbeddingFunction):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            """Has nothing to set up."""

        def __call__(self, input: Any) -> Any:
            return [np.array(vector, np.float32) for vector in table.vectors(input)]

    settings = module.config.Settings(anonymized_telemetry=False)
    client = module.PersistentClient(str(folder / "chroma"), settings=settings)
    notes = client.create_collection("bench", embedding_function=Embedding(), metadata={"hnsw:space": "cosine"})

    def search(question: str) -> list[str]:
        found = notes.query(query_texts=[question], n_results=10, where={"user": USER})
        return list(found["documents"][0])

    def add(number: int, text: str) -> None:
        notes.add(ids=[str(number)], documents=[text], metadatas=[{"user": USER}])

    yield Peer(f"chroma {version('chromadb')}", add, search, lambda number: notes.delete(ids=[str(number)]))


@contextmanager
def langgraph(table: Table, folder: Path) -> Iterator[Peer]:
    sys.modules["sqlite3"] = import_module("pysqlite3")
    store_class = import_module("langgraph.store.sqlite").SqliteStore
    index = {"dims": table.dimensions, "embed": table.vectors, "fields": ["text"]}
    with store_class.from_conn_string(str(folder / "langgraph.db"), index=index) as store:
        store.setup()

        def search(question: str) -> list[str]:
            return [item.value["text"] for item in store.search((USER,), query=question, limit=10)]

        yield Peer(
            f"langgraph {version('langgraph')} (sqlite)",
            lambda number, text: store.put((USER,), str(number), {"text": text}, index=["text"]),
            search,
            lambda number: store.delete((USER,), str(number)),
        )


def measured(peer: Peer, table: Table, seconds_at_most: float) -> dict[str, Any]:
    """Add everything one by one, answer every question once for what it finds and once more for the time it takes."""
    adding, asking = [], []
    until = perf_counter() + seconds_at_most
    for number, text in enumerate(table.texts):
        started = perf_counter()
        peer.add(number, text)
        adding.append(perf_counter() - started)
        if perf_counter() > until:
            raise TimeoutError(f"{number + 1:,} of {len(table.texts):,} texts after {seconds_at_most:.0f} s of adding")
    places = {text: number for number, text in enumerate(table.texts)}
    found = [[places[text] for text in peer.search(question) if text in places] for question in table.questions]
    for question in table.questions:
        started = perf_counter()
        peer.search(question)
        asking.append(perf_counter() - started)
    return {"what": peer.what, "add_s": adding, "search_s": asking, "found": found, "missed": table.missed}


def changed(peer: Peer, table: Table) -> list[list[str]]:
    """What was so and is otherwise now, told in that order; what each question finds."""
    told = [text for before, since, _ in table.changes for text in (before, since)]
    for number, text in enumerate(told, len(table.texts)):
        peer.add(number, text)
    return [peer.search(question) for *_, question in table.changes]


def forget(peer: Peer, table: Table) -> None:
    for text in table.forgotten:
        peer.forget(table.texts.index(text))


def left_behind(home: Path, texts: list[str]) -> int:
    """How many of these texts still stand in some file, as they were written or as JSON escapes them."""
    spelt = [(text.encode(), json.dumps(text)[1:-1].encode()) for text in texts]
    held = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return sum(any(way in content for content in held for way in ways) for ways in spelt)


def main() -> None:
    name, folder, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    table = Table(folder)
    home = folder / f"{name}-home"
    home.mkdir()
    with {"mem0": mem0, "chroma": chroma, "langgraph": langgraph}[name](table, home) as peer:
        figures = measured(peer, table, seconds)
        figures["changed"] = changed(peer, table)
        forget(peer, table)
    figures["left_behind"] = left_behind(home, table.forgotten)
    (folder / f"{name}.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
