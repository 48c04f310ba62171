"""Which rows hold a term, and how often: an inverted index that grows by small sorted segments.

New rows wait in a list until the next look-up, then become a segment; segments of like size are merged, so adding a
few rows to a large index costs a few microseconds a term and never a rebuild.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
Floats = NDArray[np.float32]

_NO_ROWS: Rows = np.zeros(0, np.int32)
_NO_COUNTS: Floats = np.zeros(0, np.float32)


class _Segment(NamedTuple):
    """Postings sorted by term, then row; `starts` has one entry more than `terms`."""

    terms: NDArray[np.int64]
    starts: NDArray[np.int64]
    rows: Rows
    counts: Floats


class Postings:
    def __init__(self) -> None:
        self._vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
        self._pending: list[NDArray[np.int64]] = []
        self._segments: list[_Segment] = []

    @property
    def nbytes(self) -> int:
        arrays = sum(part.nbytes for segment in self._segments for part in segment)
        return arrays + 100 * len(self._vocabulary) + sum(part.nbytes for part in self._pending)

    def add(self, first: int, texts: Sequence[Sequence[str]]) -> None:
        """The terms of consecutive rows. Rows must be added in ascending order, each once."""
        lengths = [len(terms) for terms in texts]
        # No loop of ours touches a single word: a memory has millions of them.
        numbers = np.fromiter(map(self._vocabulary.__getitem__, chain.from_iterable(texts)), np.int64, sum(lengths))
        self._pending.append(numbers << 32 | np.repeat(np.arange(first, first + len(texts)), lengths))

    def of(self, term: str) -> tuple[Rows, Floats]:
        """The rows that hold `term`, ascending, and how often each does. A trailing `*` makes it a prefix."""
        self._settle()
        if term.endswith("*"):
            return self._beginning_with(term[:-1])
        number = self._vocabulary.get(term)
        return (_NO_ROWS, _NO_COUNTS) if number is None else self._numbered(number)

    def _beginning_with(self, prefix: str) -> tuple[Rows, Floats]:
        """Prefixes are rare in questions: going through the vocabulary costs less than keeping it in order."""
        parts = [self._numbered(number) for term, number in self._vocabulary.items() if term.startswith(prefix)]
        if not prefix or not parts:
            return _NO_ROWS, _NO_COUNTS
        rows, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
        return rows, np.bincount(place, np.concatenate([part[1] for part in parts])).astype(np.float32)

    def _numbered(self, number: int) -> tuple[Rows, Floats]:
        rows, counts = [_NO_ROWS], [_NO_COUNTS]
        for segment in self._segments:
            at = int(np.searchsorted(segment.terms, number))
            if at < len(segment.terms) and segment.terms[at] == number:
                part = slice(int(segment.starts[at]), int(segment.starts[at + 1]))
                rows.append(segment.rows[part])
                counts.append(segment.counts[part])
        return (rows[1], counts[1]) if len(rows) == 2 else (np.concatenate(rows), np.concatenate(counts))

    def _settle(self) -> None:
        if not self._pending:
            return
        pairs, counts = np.unique(np.concatenate(self._pending), return_counts=True)
        self._pending = []
        self._segments.append(_segment(pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32), counts.astype(np.float32)))
        while len(self._segments) > 1 and len(self._segments[-1].rows) * 2 >= len(self._segments[-2].rows):
            newer, older = self._segments.pop(), self._segments.pop()
            self._segments.append(_merged(older, newer))


def _segment(terms: NDArray[np.int64], rows: Rows, counts: Floats) -> _Segment:
    distinct, starts = np.unique(terms, return_index=True)
    return _Segment(distinct, np.append(starts, len(terms)), rows, counts)


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    """Rows only grow, so a stable sort by term keeps every term's rows ascending."""
    terms = np.concatenate([np.repeat(part.terms, np.diff(part.starts)) for part in (older, newer)])
    order = np.argsort(terms, kind="stable")
    rows = np.concatenate([older.rows, newer.rows])[order]
    return _segment(terms[order], rows, np.concatenate([older.counts, newer.counts])[order])
