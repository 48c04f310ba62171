"""What the data chat asks of those who answer, those who know permissions, and those who keep vectors elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.model import DataAccess, DataAnswer, DataQuestion, DataReply, Occasion, Scope


class Answerer(Protocol):
    """Answers a question over data. What it can't answer it says so (`answered=False`), and invents nothing. It fails with
    `Unavailable` (try again), `NotAllowed` (the caller's rights) or `InvalidInput` (the caller's options)."""

    @property
    def name(self) -> str: ...

    async def answer(self, question: DataQuestion) -> DataAnswer: ...

    async def close(self) -> None: ...


class Permissions(Protocol):
    """Says what somebody may use now. It fails closed: who can't be asked about may use nothing (`Unavailable`)."""

    async def of(self, scope: Scope, claims: Mapping[str, Any], authorization: str | None) -> DataAccess: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Point:
    """A vector with the id of what it stands for, and the labels it can be filtered by."""

    id: str
    vector: NDArray[np.float32]
    labels: Mapping[str, str | Sequence[str]]


class VectorIndex(Protocol):
    """Vectors that live outside the store, a copy that can be built again. A scope never sees another's.

    `add` replaces what has the same id, labels and all. `search` gives ids and cosines, best first, of those whose labels hold
    every one of `where`. `drop` and `clear` remove from every generation. What can't be reached is `Unavailable`.
    """

    async def add(self, scope: Scope, generation: str, points: Sequence[Point]) -> None: ...

    async def search(
        self, scope: Scope, generation: str, vector: NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]: ...

    async def drop(self, scope: Scope, ids: Sequence[str]) -> None: ...

    async def clear(self, scope: Scope) -> None: ...

    async def retire(self, generation: str) -> None:
        """Remove what everybody has of a generation that serves nobody any more."""

    async def close(self) -> None: ...


class Archive(Protocol):
    """Where what has reached its end is put away: written once, never read here. It fails with `Unavailable`."""

    async def put(self, path: str, data: bytes) -> None:
        """`path` has parts, with slashes between; the same path again replaces what is there."""


class Tracer(Protocol):
    """Follows questions for whoever watches over them. It never fails, and nobody waits for it."""

    def asked(
        self, scope: Scope, occasion: Occasion, question: DataQuestion, reply: DataReply, facts: Mapping[str, Any]
    ) -> None: ...

    async def close(self) -> None: ...
