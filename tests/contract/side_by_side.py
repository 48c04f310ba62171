"""Two stores driven alike: each piece of work runs on both, and what comes back must be the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from recollect.errors import RecollectError
from recollect.model import EmbeddingJob, Found, Scope, Target
from recollect.ports import Store, System, Tx, Vector
from tests.contract.samples import digest, unit

T = TypeVar("T")
TOLERANCE = 2e-3
"""Vectors are kept in half precision, so cosines may differ by this much."""


@dataclass(frozen=True)
class Pair:
    """A store under test and the reference, and a loop to run them on from code that is not asynchronous."""

    runner: asyncio.Runner
    real: Store
    reference: Store

    def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        """Run `work` on both; they return the same or raise the same error."""
        return self._alike(lambda store: store.write(scope, work))

    def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return self._alike(lambda store: store.read(scope, work))

    def system(self, work: Callable[[System], T]) -> T:
        return self._alike(lambda store: store.system(work))

    def each(self, scope: Scope, work: Callable[[Tx], T]) -> tuple[T, T]:
        """Run a reading `work` on both, for answers that are compared in some other way than by equality."""
        return self.runner.run(self.real.read(scope, work)), self.runner.run(self.reference.read(scope, work))

    def _alike(self, ask: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
        real, expected = (self._outcome(ask(store)) for store in (self.real, self.reference))
        assert real == expected
        if isinstance(real, _Refused):
            raise real
        return real

    def _outcome(self, coroutine: Coroutine[Any, Any, T]) -> T | _Refused:
        try:
            return self.runner.run(coroutine)
        except RecollectError as error:
            return _Refused(type(error))


class _Refused(RecollectError):
    """An error to compare: two are the same when they are of one class, whatever they say."""

    def __init__(self, kind: type[RecollectError]) -> None:
        super().__init__(kind.__name__)
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Refused) and other.kind is self.kind

    def __hash__(self) -> int:
        return hash(self.kind)


def vector_of(text: str) -> Vector:
    """A direction that belongs to a text."""
    numbers = bytes.fromhex(digest(text))[:3]
    return unit(*(number - 127.5 for number in numbers))


def vectors_of(jobs: Iterable[EmbeddingJob]) -> list[tuple[EmbeddingJob, Vector]]:
    return [(job, vector_of(job.content)) for job in jobs]


def targets(found: Iterable[Found]) -> set[Target]:
    return {each.target for each in found}


def assert_same_ranking(real: Iterable[Found], expected: Iterable[Found], everyone: Iterable[Found]) -> None:
    """The same scores in the same places; who holds a place may differ only where scores nearly tie."""
    real, expected = list(real), list(expected)
    exact = {each.target: each.score for each in everyone}
    np.testing.assert_allclose([f.score for f in real], [f.score for f in expected], atol=TOLERANCE)
    np.testing.assert_allclose([f.score for f in real], [exact[f.target] for f in real], atol=TOLERANCE)
    assert len(targets(real)) == len(real)
