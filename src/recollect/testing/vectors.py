"""Vector indexes to test by: one that is a dictionary, one that shows any store's own search through the same port, and one that
fails when told to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from recollect.errors import RecollectError
from recollect.model import EmbeddingJob, Entry, Filter, GenerationState, Scope, Target
from recollect.ports import Point, Store, System, Tx, VectorIndex

Vector = NDArray[np.float32]
_NOW = datetime(2024, 1, 1, tzinfo=UTC)


def _holds(labels: Mapping[str, str | Sequence[str]], where: Mapping[str, str]) -> bool:
    def has(name: str, value: str) -> bool:
        held = labels.get(name, ())
        return value == held if isinstance(held, str) else value in held

    return all(has(name, value) for name, value in where.items())


class ReferenceIndex:
    def __init__(self) -> None:
        self.points: dict[tuple[Scope, str], dict[str, Point]] = {}

    async def add(self, scope: Scope, generation: str, points: Sequence[Point]) -> None:
        self.points.setdefault((scope, generation), {}).update({point.id: point for point in points})

    async def search(
        self, scope: Scope, generation: str, vector: Vector, k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        held = self.points.get((scope, generation), {}).values()
        found = [(point.id, _cosine(point.vector, vector)) for point in held if _holds(point.labels, where or {})]
        return sorted(found, key=lambda each: -each[1])[:k]

    async def drop(self, scope: Scope, ids: Sequence[str]) -> None:
        for (whose, _), held in self.points.items():
            if whose == scope:
                for id in ids:
                    held.pop(id, None)

    async def clear(self, scope: Scope) -> None:
        self.points = {key: held for key, held in self.points.items() if key[0] != scope}

    async def retire(self, generation: str) -> None:
        self.points = {key: held for key, held in self.points.items() if key[1] != generation}

    async def close(self) -> None:
        """A dictionary needs no closing."""


class FaultyIndex:
    """Another index, which fails while `fail_with` is set."""

    def __init__(self, inner: VectorIndex) -> None:
        self.inner = inner
        self.fail_with: RecollectError | None = None

    def _well(self) -> VectorIndex:
        if self.fail_with is not None:
            raise self.fail_with
        return self.inner

    async def add(self, scope: Scope, generation: str, points: Sequence[Point]) -> None:
        await self._well().add(scope, generation, points)

    async def search(
        self, scope: Scope, generation: str, vector: Vector, k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        return await self._well().search(scope, generation, vector, k, where)

    async def drop(self, scope: Scope, ids: Sequence[str]) -> None:
        await self._well().drop(scope, ids)

    async def clear(self, scope: Scope) -> None:
        await self._well().clear(scope)

    async def retire(self, generation: str) -> None:
        await self._well().retire(generation)

    async def close(self) -> None:
        await self.inner.close()


class StoreIndex:
    """A store's own vectors. Labels are tags of its entries; generations are the store's and must be there."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, scope: Scope, generation: str, points: Sequence[Point]) -> None:
        latest = {Target("message", point.id): point for point in points}

        def work(tx: Tx) -> None:
            tx.index.put([_entry(target, point) for target, point in latest.items()])
            done = [(_job(scope, target, generation, point), point.vector) for target, point in latest.items()]
            tx.embeddings.queue({job.target: job.content_hash for job, _ in done}, generation, _NOW)
            tx.embeddings.settle(done, _NOW)

        await self._store.write(scope, work)

    async def search(
        self, scope: Scope, generation: str, vector: Vector, k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        wanted = {f"{name}={value}" for name, value in (where or {}).items()}

        def work(tx: Tx) -> list[tuple[str, float]]:
            filter = Filter(kinds=("message",), tags=tuple(sorted(wanted)))
            found = tx.index.dense(vector, generation, filter, _NOW, 10_000 if len(wanted) > 1 else k)
            entries = tx.index.entries([each.target for each in found])
            whole = [each for each in found if wanted <= set(entries[each.target].tags)]
            return [(each.target.id, each.score) for each in whole[:k]]

        return await self._store.read(scope, work)

    async def drop(self, scope: Scope, ids: Sequence[str]) -> None:
        targets = [Target("message", id) for id in ids]

        def work(tx: Tx) -> None:
            tx.embeddings.drop(targets)
            tx.index.drop(targets)

        await self._store.write(scope, work)

    async def clear(self, scope: Scope) -> None:
        await self._store.write(scope, lambda tx: tx.erase())

    async def retire(self, generation: str) -> None:
        def work(system: System) -> None:
            if any(each.id == generation for each in system.generations()):
                system.set_generation(generation, GenerationState.RETIRED)
                system.drop_generation(generation)

        await self._store.system(work)

    async def close(self) -> None:
        """Whoever opened the store closes it."""


def _entry(target: Target, point: Point) -> Entry:
    tags = tuple(
        f"{name}={value}"
        for name, values in point.labels.items()
        for value in ((values,) if isinstance(values, str) else values)
    )
    return Entry(target=target, terms=(), chars=0, created_at=_NOW, tags=tags)


def _job(scope: Scope, target: Target, generation: str, point: Point) -> EmbeddingJob:
    return EmbeddingJob(
        space=scope.space,
        target=target,
        generation=generation,
        content="",
        content_hash=hashlib.sha256(point.vector.tobytes()).hexdigest(),
        attempts=0,
    )


def _cosine(one: Vector, other: Vector) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
