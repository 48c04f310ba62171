"""The index of one scope: textbook BM25 over all entries, exact cosine over all vectors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from recollect.model import Change, Changes, Entry, Filter, Found, Target
from recollect.ports import Vector
from recollect.testing.reference.room import Room, kept

_FIT = re.compile(r"\w+")
_WANTED = re.compile(r"\w+(?:\*|(?: \w+)+)?")
_K1, _B = 1.2, 0.75


class ReferenceIndex:
    def __init__(self, room: Room) -> None:
        self._room = room
        self._began_at = room.revision

    def put(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            fit = tuple(term for term in entry.terms if _FIT.fullmatch(term))
            self._room.entries[entry.target] = kept(replace(entry, terms=fit))
        self.renew(entry.target for entry in entries)

    def drop(self, targets: Iterable[Target]) -> int:
        doomed = self.entries(targets)
        for target in doomed:
            del self._room.entries[target], self._room.revisions[target]
        if doomed:
            self._advance()
            self._room.purged = self._room.revision
        return len(doomed)

    def renew(self, targets: Iterable[Target]) -> None:
        """Give entries the revision of this transaction, so that copies fetch them again."""
        for target in self.entries(targets):
            self._advance()
            self._room.revisions[target] = self._room.revision

    def changes(self, since: int, generation: str | None, most: int) -> Changes:
        room = self._room
        items = [
            Change(entry=entry, vector=self._vector(target, generation))
            for target, entry in sorted(room.entries.items())
            if room.revisions[target] > since and len(room.entries) <= most
        ]
        return Changes(revision=room.revision, purged=room.purged, size=len(room.entries), items=items)

    def lexical(self, terms: Sequence[str], filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        wanted = [_counter(term) for term in dict.fromkeys(terms) if _WANTED.fullmatch(term)]
        scores = dict.fromkeys(self._room.entries, 0.0)
        for count in wanted:
            for target, score in self._bm25(count).items():
                scores[target] += score
        return self._best({target: score for target, score in scores.items() if score > 0}, filter, now, limit)

    def dense(self, vector: Vector, generation: str, filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        scores = {
            target: _cosine(vector, held)
            for target in self._room.entries
            if (held := self._vector(target, generation)) is not None
        }
        return self._best(scores, filter, now, limit)

    def entries(self, targets: Iterable[Target]) -> dict[Target, Entry]:
        return {target: self._room.entries[target] for target in targets if target in self._room.entries}

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        held = [set(entry.terms) for entry in self._room.entries.values()]
        return {term: sum(term in words for words in held) for term in terms}

    def _advance(self) -> None:
        # Once per transaction: everything that changes together has one number.
        self._room.revision = self._began_at + 1

    def _vector(self, target: Target, generation: str | None) -> Any | None:
        row = None if generation is None else self._room.embeddings.get((target, generation))
        return None if row is None else row.vector

    def _bm25(self, count_in: Callable[[tuple[str, ...]], int]) -> dict[Target, float]:
        counts = {target: count_in(entry.terms) for target, entry in self._room.entries.items()}
        holding = sum(count > 0 for count in counts.values())
        rarity = math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
        lengths = {target: len(entry.terms) for target, entry in self._room.entries.items()}
        mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
        return {
            target: rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[target] / mean))
            for target, count in counts.items()
            if count
        }

    def _best(self, scores: dict[Target, float], filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        admitted = [
            Found(target, score) for target, score in scores.items() if _admits(filter, self._room.entries[target], now)
        ]
        return sorted(admitted, key=lambda found: (-found.score, found.target))[:limit]


def _counter(term: str) -> Callable[[tuple[str, ...]], int]:
    """How often a term, a prefix or a phrase occurs among an entry's terms."""
    if term.endswith("*"):
        return lambda words: sum(word.startswith(term[:-1]) for word in words)
    phrase = tuple(term.split(" "))
    return lambda words: sum(words[at : at + len(phrase)] == phrase for at in range(len(words)))


def _cosine(one: Vector, other: Vector) -> float:
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


def _admits(filter: Filter, entry: Entry, now: datetime) -> bool:
    return (
        (not filter.kinds or entry.target.kind in filter.kinds)
        and (not filter.types or entry.type in filter.types)
        and (not filter.tags or not set(filter.tags).isdisjoint(entry.tags))
        and (not filter.themes or entry.theme in filter.themes)
        and (not filter.sessions or entry.session_id in filter.sessions)
        and (filter.since is None or entry.created_at >= filter.since)
        and (filter.until is None or entry.created_at < filter.until)
        and (entry.expires_at is None or entry.expires_at > now)
    )
