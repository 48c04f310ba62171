"""Memories of one scope: every question answered by looking at all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.errors import Conflict, NotFound
from recollect.model import Listing, Memory, Page, Scores, Status
from recollect.testing.reference.room import Room, kept


class ReferenceMemories:
    def __init__(self, room: Room) -> None:
        self._room = room

    def insert(self, memory: Memory, digest: str) -> None:
        if memory.id in self._room.memories:
            raise Conflict("a memory with this id exists")
        self._keep(memory, digest)

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        return {id: self._room.memories[id] for id in ids if id in self._room.memories}

    def list(self, listing: Listing) -> Page[Memory]:
        shown = [memory for memory in self._room.memories.values() if _shows(listing, memory)]
        shown.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        return Page(
            items=tuple(shown[listing.offset : listing.offset + listing.limit]),
            total=len(shown),
            limit=listing.limit,
            offset=listing.offset,
        )

    def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        ids = sorted(id for id in self._room.memories if after is None or id > after)
        return [self._room.memories[id] for id in ids[:limit]]

    def twin(self, digest: str) -> Memory | None:
        return next((memory for memory in self._active() if self._room.digests[memory.id] == digest), None)

    def near(self, simhash: int, distance: int, limit: int) -> Sequence[Memory]:
        def bits(memory: Memory) -> int:
            return (memory.simhash ^ simhash).bit_count()

        close = [memory for memory in self._active() if bits(memory) <= distance]
        return sorted(close, key=lambda memory: (bits(memory), memory.id))[:limit]

    def keyed(self, key: str) -> Sequence[Memory]:
        return [memory for memory in self._active() if memory.key == key]

    def replace(self, memory: Memory, digest: str) -> None:
        if memory.id not in self._room.memories:
            raise NotFound("no memory with this id exists")
        self._keep(memory, digest)

    def touch(self, ids: Iterable[str], at: datetime) -> None:
        for id in ids:
            if memory := self._room.memories.get(id):
                seen = replace(memory, access_count=memory.access_count + 1, last_accessed=at.astimezone(UTC))
                self._room.memories[id] = seen

    def rate(self, scores: Mapping[str, Scores]) -> None:
        for id, rated in scores.items():
            if memory := self._room.memories.get(id):
                self._room.memories[id] = replace(memory, last_scores=kept(rated))

    def descendants(self, ids: Iterable[str]) -> Sequence[Memory]:
        parents = set(ids)
        return [
            memory
            for memory in self._by_id()
            if memory.supersedes in parents or not parents.isdisjoint(memory.source_ids)
        ]

    def from_messages(self, message_ids: Iterable[str]) -> Sequence[Memory]:
        sources = set(message_ids)
        return [memory for memory in self._by_id() if memory.source_message_id in sources]

    def delete(self, ids: Iterable[str]) -> int:
        doomed = self.get(ids)
        for id in doomed:
            del self._room.memories[id], self._room.digests[id]
            self._room.slots.pop(id, None)
        room = self._room
        room.repeats = {key: each for key, each in room.repeats.items() if each.memory_id not in doomed}
        room.flags = {pair: each for pair, each in room.flags.items() if doomed.keys().isdisjoint(pair)}
        room.uses = {pair: each for pair, each in room.uses.items() if each.memory_id not in doomed}
        return len(doomed)

    def _keep(self, memory: Memory, digest: str) -> None:
        self._room.memories[memory.id] = kept(memory)
        self._room.digests[memory.id] = digest

    def _by_id(self) -> Sequence[Memory]:
        return self.scan(None, len(self._room.memories))

    def _active(self) -> Sequence[Memory]:
        return [memory for memory in self._by_id() if memory.status is Status.ACTIVE]


def _shows(listing: Listing, memory: Memory) -> bool:
    return (
        (not listing.types or memory.type in listing.types)
        and (not listing.tags or not set(listing.tags).isdisjoint(memory.tags))
        and (not listing.themes or memory.theme in listing.themes)
        and (not listing.statuses or memory.status in listing.statuses)
        and (listing.pinned is None or memory.pinned == listing.pinned)
        and (listing.manually_saved is None or memory.manually_saved == listing.manually_saved)
        and (listing.captured is None or memory.captured == listing.captured)
        and (listing.expired_at is None or (memory.expires_at is not None and memory.expires_at <= listing.expired_at))
        and (listing.since is None or memory.created_at >= listing.since)
        and (listing.until is None or memory.created_at < listing.until)
    )
