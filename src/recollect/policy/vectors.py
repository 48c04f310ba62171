"""The embeddings on a shelf: one matrix, searched exactly, with and without the user's own average taken out.

Everything a person says shares a direction (their topics, their manner), which drowns the differences that matter.
Taking the mean out of memories and question alike brings them forward. The mean is trusted in proportion to how many
vectors it rests on, and it is refreshed only when the shelf has grown by a tenth, so one more memory costs one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.policy.postings import Floats

_TRUST = 50  # vectors at which the mean counts for half
_AT_HAND = 256  # rows that stay in the processor's cache while several queries are compared with them
_AT_FIRST = 16  # rows: most people say little, and a server may hold thousands of them


class Vectors:
    def __init__(self) -> None:
        self._matrix: Floats = np.zeros((0, 0), np.float32)
        self._held: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._sum: NDArray[np.float64] = np.zeros(0)
        self._count = 0
        self._centre: Floats = np.zeros(0, np.float32)
        self._centred_at = 0
        self._along: Floats = np.zeros(0, np.float32)
        self._norm: Floats = np.zeros(0, np.float32)
        self._expected = _AT_FIRST

    @property
    def nbytes(self) -> int:
        return self._matrix.nbytes

    @property
    def trust(self) -> float:
        return self._count / (self._count + _TRUST)

    @property
    def centre(self) -> Floats:
        """What is taken out: the mean, as far as it is trusted. Of length 0 while there is no vector."""
        self._recentre()
        return self._centre

    def expect(self, rows: int) -> None:
        """So many rows are about to come: make room once, and for a few more, so that the next one finds it too. Room that
        nothing was written to takes no memory."""
        self._expected = max(_AT_FIRST, rows + rows // 8)

    def put(self, row: int, vector: NDArray[Any] | None) -> None:
        """Set, replace or (with None) remove a row's vector. One of another length than the rest is left out."""
        if row < len(self._held) and self._held[row]:
            self._sum -= self._matrix[row]
            self._count -= 1
            self._matrix[row] = 0
            self._held[row] = False
        if vector is None or (self._sum.size and len(vector) != self._sum.size):
            return
        self._make_room(row, len(vector))
        unit = np.asarray(vector, np.float32)
        unit = unit / max(float(np.sqrt(unit @ unit)), 1e-9)
        self._matrix[row] = unit
        self._held[row] = True
        self._sum += unit
        self._count += 1
        if len(self._along) > row:
            self._measure(row, row + 1)

    def put_new(self, vectors: Mapping[int, NDArray[Any]]) -> None:
        """The same for many rows at once, ascending, none of which holds a vector yet."""
        dimensions = self._sum.size or next((len(vector) for vector in vectors.values()), 0)
        fitting = {row: vector for row, vector in vectors.items() if len(vector) == dimensions}
        if not fitting:
            return
        rows = np.fromiter(fitting, np.int64, len(fitting))
        self._make_room(int(rows[-1]), dimensions)
        block = np.concatenate(list(fitting.values()), dtype=np.float32).reshape(len(fitting), dimensions)
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        block /= np.maximum(lengths, np.float32(1e-9))[:, None]
        self._matrix[rows] = block
        self._held[rows] = True
        self._sum += np.ones(len(fitting), np.float32) @ block
        self._count += len(fitting)
        first = int(rows[0])
        self._along, self._norm = self._along[:first], self._norm[:first]  # measured anew from here on

    def get(self, row: int) -> Floats | None:
        return self._matrix[row] if row < len(self._held) and self._held[row] else None

    def cosines(self, query: NDArray[Any], rows: Sequence[int]) -> dict[int, float]:
        """The plain cosine of a few rows, of those that have a vector."""
        there = [row for row in rows if row < len(self._held) and self._held[row]]
        if not there or len(query) != self._sum.size:
            return {}
        unit = np.asarray(query, np.float32)
        near = self._matrix[there] @ (unit / max(float(np.linalg.norm(unit)), 1e-9))
        return dict(zip(there, near.tolist(), strict=True))

    def held(self, rows: int) -> NDArray[np.bool_]:
        return np.append(self._held[:rows], np.zeros(max(0, rows - len(self._held)), np.bool_))

    def similarities(self, query: NDArray[Any], rows: int) -> tuple[Floats, Floats]:
        """Plain and centred cosine of every row; 0 where a row has no vector, or the query is of another length."""
        return self.similarities_to([query], rows)[0]

    def similarities_to(self, queries: Sequence[NDArray[Any]], rows: int) -> list[tuple[Floats, Floats]]:
        """The same for each of several queries, at little more than the price of one: the matrix is read once."""
        if not self._count or any(len(query) != self._sum.size for query in queries):
            return [(np.zeros(rows, np.float32), np.zeros(rows, np.float32)) for _ in queries]
        self._recentre()
        units = [np.asarray(query, np.float32) for query in queries]
        asides = [unit / np.float32(max(float(np.linalg.norm(unit)), 1e-9)) - self._centre for unit in units]
        missing = ~self.held(rows)
        return [
            self._cosines(dots, aside, missing)
            for dots, aside in zip(self._products(asides, min(rows, len(self._along))), asides, strict=True)
        ]

    def _products(self, vectors: Sequence[Floats], rows: int) -> Floats:
        """Of each vector with each row. Of several, a block of rows at a time: it is still at hand for the next vector."""
        found = np.empty((len(vectors), rows), np.float32)
        step = _AT_HAND if len(vectors) > 1 else max(rows, 1)
        for start in range(0, rows, step):
            block = self._matrix[start : min(start + step, rows)]
            for place, vector in enumerate(vectors):
                found[place, start : start + len(block)] = block @ vector
        return found

    def _cosines(self, dots: Floats, aside: Floats, missing: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Plain and centred, from the products with what sets a query apart from the centre."""
        some = len(dots)
        plain, centred = np.zeros(len(missing), np.float32), np.zeros(len(missing), np.float32)
        plain[:some] = dots + self._along[:some]
        centred[:some] = (dots - self._centre @ aside) / (self._norm[:some] * max(float(np.linalg.norm(aside)), 1e-9))
        plain[missing] = centred[missing] = 0
        return plain, centred

    def _make_room(self, row: int, dimensions: int) -> None:
        if not self._sum.size:
            self._sum = np.zeros(dimensions)
        if row >= len(self._matrix):
            more = max(self._expected, row + 1, len(self._matrix) * 3 // 2) - len(self._matrix)
            grown = np.zeros((len(self._matrix) + more, dimensions), np.float32)
            if len(self._matrix):
                grown[: len(self._matrix)] = self._matrix
            self._matrix = grown
            self._held = np.append(self._held, np.zeros(more, np.bool_))

    def _recentre(self) -> None:
        if abs(self._count - self._centred_at) * 10 > self._centred_at:
            self._centre = (self.trust * self._sum / self._count).astype(np.float32)
            self._centred_at = self._count
            self._along, self._norm = np.zeros(0, np.float32), np.zeros(0, np.float32)
        if len(self._along) < len(self._matrix):
            start = len(self._along)
            grown = np.zeros(len(self._matrix) - start, np.float32)
            self._along, self._norm = np.append(self._along, grown), np.append(self._norm, grown)
            self._measure(start, len(self._matrix))

    def _measure(self, start: int, end: int) -> None:
        """Where rows lie along the centre, and how far from it: with these, one product gives both cosines."""
        along = self._matrix[start:end] @ self._centre
        square = self._held[start:end] - 2 * along + self._centre @ self._centre
        self._along[start:end] = along
        self._norm[start:end] = np.sqrt(np.maximum(square, 1e-6))
