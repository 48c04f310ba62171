"""The shelf: everything one scope can recall, held in memory as numpy columns and searched exactly.

One row per card. A changed card gets a new row and its old one dies, so rows only grow and nothing is rebuilt for a
single change; when a third of the rows are dead the shelf is laid out anew. Not thread-safe: one shelf serves one
thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.policy.postings import Floats, Postings
from recollect.policy.threads import Surroundings, Threads
from recollect.policy.vectors import Vectors

Key = tuple[str, str]
Mask = NDArray[np.bool_]

_K1, _B = 1.2, 0.75
_EMPTY_BYTES, _ROW_BYTES = 5 * 1024, 270  # objects, tables of rows, and what is worked out for the next question
_AT_ONCE = 1024  # cards read in together: their vectors stay in the processor's cache on the way
_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "memory", ""})
_COLUMNS: dict[str, type[np.generic]] = {
    "alive": np.bool_, "question": np.bool_, "assistant": np.bool_,
    "voice": np.int32, "twin": np.int64, "created": np.float64, "told": np.float64, "about_from": np.float64,
    "about_until": np.float64, "chars": np.float32, "length": np.float32,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Card:
    """One recallable thing as ranking sees it. Not `dated`: `created_at` is only when we came to know of it."""

    kind: str
    id: str
    session: str | None
    position: int
    speaker: str | None
    role: str
    created_at: datetime
    dated: bool
    terms: str
    chars: int
    is_question: bool
    vector: NDArray[Any] | None = None
    about: tuple[datetime, datetime] | None = None

    @property
    def key(self) -> Key:
        return self.kind, self.id


class Lexical(NamedTuple):
    """BM25 as a share of the best any text could reach, of the rows alone and with their neighbours' words; the
    share of the question's rarity each row covers; and the rows of each rare word that quotes rather than describes:
    one with digits or joints, or one of a question of three words at most."""

    alone: Floats
    around: Floats
    coverage: Floats
    rare: list[NDArray[np.int32]]


class Shelf:
    def __init__(self) -> None:
        self._cards: list[Card] = []
        self._card_bytes = 0
        self._row_of: dict[Key, int] = {}
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(64, kind) for name, kind in _COLUMNS.items()}
        self._voices: dict[str, int] = {}
        self._postings = Postings()
        self._surroundings: Surroundings | None = None
        self._damps: dict[bool, Floats] = {}
        self.vectors = Vectors()
        self.threads = Threads()

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def rows(self) -> int:
        """How many rows there are, dead ones included: the length of every column and mask."""
        return len(self._cards)

    @property
    def nbytes(self) -> int:
        """What it takes, about; what an empty one takes counts too, because there are many small ones."""
        columns = sum(column.nbytes for column in self._columns.values()) + _ROW_BYTES * self.rows
        held = self.vectors.nbytes + self._postings.nbytes + self._card_bytes + self.threads.nbytes
        return _EMPTY_BYTES + columns + held

    @property
    def speakers(self) -> list[str]:
        """The names people go by in the conversations here; roles such as "user" are no names."""
        return [voice for voice in self._voices if voice not in _ROLES]

    def voice(self, name: str) -> int:
        return self._voices.get(name, -1)

    def card(self, row: int) -> Card:
        return self._cards[row]

    def row(self, key: Key) -> int | None:
        return self._row_of.get(key)

    def column(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self.rows]

    def mask(self, wanted: Callable[[Card], bool]) -> Mask:
        """The rows whose card is `wanted`: what `allowed` is made of."""
        return self.column("alive") & np.fromiter(map(wanted, self._cards), np.bool_, self.rows)

    def put(self, cards: Iterable[Card]) -> None:
        """Add cards, or replace those with the same kind and id."""
        self.fill((card if card.vector is None else replace(card, vector=None), card.vector) for card in cards)

    def fill(self, pairs: Iterable[tuple[Card, NDArray[Any] | None]], count: int = 0) -> None:
        """The same for cards that come apart from their vectors, a few thousand at a time: how a whole memory is read in.
        `count` is how many there are, if known."""
        self._make_room(self.rows + count)
        self.vectors.expect(self.rows + count)
        pairs = iter(pairs)
        while block := list(islice(pairs, _AT_ONCE)):
            self._fill(block)
        self._tidy()

    def _fill(self, pairs: Sequence[tuple[Card, NDArray[Any] | None]]) -> None:
        fresh: dict[Key, tuple[Card, NDArray[Any] | None]] = {}
        for card, vector in pairs:
            key = card.kind, card.id
            row = self._row_of.get(key)
            if row is not None and self._cards[row] == card:
                self.vectors.put(row, vector)
                continue
            if row is not None:
                self._kill(row)
            fresh[key] = card, vector
        if fresh:
            first = self.rows
            self._append([card for card, _ in fresh.values()])
            vectors = enumerate((vector for _, vector in fresh.values()), first)
            self.vectors.put_new({row: vector for row, vector in vectors if vector is not None})

    def drop(self, keys: Iterable[Key]) -> None:
        for row in [row for key in keys if (row := self._row_of.get(key)) is not None]:
            self._kill(row)
        self._tidy()

    def lexical(self, terms: Sequence[str], allowed: Mask | None = None, limit: int = 50) -> list[tuple[int, float]]:
        """The plain BM25 leg: rows that hold any of the terms, best first."""
        return self.best(self.match(terms, around=False).alone, allowed, limit, above=0.0)

    def dense(self, query: NDArray[Any], allowed: Mask | None = None, limit: int = 50) -> list[tuple[int, float]]:
        """The plain dense leg: rows by cosine, best first, exact."""
        held = self.vectors.held(self.rows)
        cosine, _ = self.vectors.similarities(query, self.rows)
        return self.best(cosine, held if allowed is None else held & allowed, limit)

    def best(self, scores: Floats, allowed: Mask | None, limit: int, above: float = -np.inf) -> list[tuple[int, float]]:
        eligible = self.column("alive") & (scores > above)
        rows = np.flatnonzero(eligible if allowed is None else eligible & allowed)
        if len(rows) > limit:
            rows = rows[np.argpartition(-scores[rows], limit - 1)[:limit]]
        rows = rows[np.lexsort((rows, -scores[rows]))]
        return [(int(row), float(scores[row])) for row in rows]

    def surroundings(self) -> Surroundings:
        if self._surroundings is None:
            self._surroundings = self.threads.surroundings(self.column("question"))
        return self._surroundings

    def match(self, terms: Sequence[str], *, around: bool) -> Lexical:
        """How well each row matches the words of a question. Only the postings of these words are touched."""
        alone, wide, coverage = (np.zeros(self.rows + 1, np.float32) for _ in range(3))
        pool, rare, most = np.zeros(self.rows + 1, np.float32), [], 0.0
        near = self.surroundings() if around else None
        damp, wide_damp = self._damping(None), self._damping(near)
        for term in terms:
            rows, counts = self._living(*self._postings.of(term))
            idf = float(np.log1p((len(self) - len(rows) + 0.5) / (len(rows) + 0.5)))
            most += idf
            alone[rows] += idf * counts * (_K1 + 1) / (counts + damp[rows])
            coverage[rows] += idf
            if 0 < len(rows) <= max(1, min(3, len(self) // 200)) and (len(terms) < 4 or not term.isalpha()):
                rare.append(rows)
            if near and len(rows) > max(1000, len(self) // 4):  # a word of every fourth turn says little of the next
                wide[rows] += idf * counts * (_K1 + 1) / (counts + wide_damp[rows])
            elif near:
                touched = near.spread(rows, counts, pool)
                wide[touched] += idf * pool[touched] * (_K1 + 1) / (pool[touched] + wide_damp[touched])
                pool[touched] = 0
        top = max(most, 1e-6)
        return Lexical(alone[:-1] / (top * (_K1 + 1)), wide[:-1] / (top * (_K1 + 1)), coverage[:-1] / top, rare)

    def holding(self, terms: Iterable[str]) -> NDArray[np.int32]:
        """The rows that hold every one of these terms, ascending; of no terms, none."""
        common: NDArray[np.int32] | None = None
        for term in terms:
            rows, _ = self._living(*self._postings.of(term))
            common = rows if common is None else np.intersect1d(common, rows, assume_unique=True)
        return np.zeros(0, np.int32) if common is None else common

    def _living(self, rows: NDArray[np.int32], counts: Floats) -> tuple[NDArray[np.int32], Floats]:
        """Postings without dead rows: what a shelf finds must not depend on what it has been through."""
        if self.rows == len(self):
            return rows, counts
        kept = self.column("alive")[rows]
        return rows[kept], counts[kept]

    def _damping(self, near: Surroundings | None) -> Floats:
        """BM25's length term, for rows alone or with their neighbours; padded by one as `spread` is. Kept until rows change."""
        kept = self._damps.get(near is not None)
        if kept is None:
            length, alive = self.column("length"), self.column("alive")
            length = near.gather(length) if near else length
            mean = float(length.sum(where=alive)) / max(int(alive.sum()), 1)
            kept = np.append(_K1 * (1 - _B + _B * length / np.float32(max(mean, 1e-6))), np.float32(1))
            self._damps[near is not None] = kept
        return kept

    def _changed(self) -> None:
        """Rows came or went: what was worked out from all of them is no longer true."""
        self._surroundings = None
        self._damps = {}

    def _append(self, cards: Sequence[Card]) -> None:
        """New rows for cards that have none; their vectors come apart."""
        first, rows = self.rows, slice(self.rows, self.rows + len(cards))
        self._make_room(rows.stop)
        voices = self._voices
        voice = [voices.setdefault((card.speaker or card.role).casefold(), len(voices)) for card in cards]
        terms = [card.terms.split() for card in cards]
        told = np.array([card.created_at.timestamp() for card in cards])
        values: dict[str, Any] = {
            "alive": True, "question": [card.is_question for card in cards],
            "assistant": [card.role == "assistant" for card in cards],
            "voice": voice, "twin": [hash(card.terms) for card in cards],
            "told": told, "created": np.where([card.dated for card in cards], told, np.nan),
            "about_from": [card.about[0].timestamp() if card.about else np.nan for card in cards],
            "about_until": [card.about[1].timestamp() if card.about else np.nan for card in cards],
            "chars": [card.chars for card in cards], "length": [len(each) for each in terms],
        }  # fmt: skip
        for name, value in values.items():
            self._columns[name][rows] = value
        self._cards += cards
        self._card_bytes += sum(300 + len(card.terms) for card in cards)
        self._row_of.update(((card.kind, card.id), row) for row, card in enumerate(cards, first))
        self._postings.add(first, terms)
        for row, card in enumerate(cards, first):
            if card.session is not None and card.kind == "message":
                self.threads.join(row, card.session, card.position, voice[row - first])
        self._changed()

    def _make_room(self, rows: int) -> None:
        room = len(self._columns["alive"])
        if rows > room:
            self._columns = {name: np.resize(column, max(rows, 2 * room)) for name, column in self._columns.items()}

    def _kill(self, row: int) -> None:
        del self._row_of[self._cards[row].key]
        self._columns["alive"][row] = False
        self.vectors.put(row, None)
        self.threads.leave(row)
        self._changed()

    def _tidy(self) -> None:
        dead = self.rows - len(self)
        if dead > 64 and dead * 3 > self.rows:
            fresh = Shelf()
            fresh.fill((self._cards[row], self.vectors.get(row)) for row in self._row_of.values())
            self.__dict__ = fresh.__dict__
