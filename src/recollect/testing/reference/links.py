"""What ties the memories of one scope to each other, by looking at all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.model import Flag, Repeat, Status, Use
from recollect.testing.reference.room import Room, kept


class ReferenceLinks:
    def __init__(self, room: Room) -> None:
        self._room = room

    def keep(self, repeat: Repeat) -> None:
        self._room.repeats[repeat.memory_id, repeat.id] = kept(repeat)

    def last_place(self, memory_id: str) -> int | None:
        return max((each.place for each in self.repeats([memory_id])), default=None)

    def repeats(self, memory_ids: Iterable[str]) -> Sequence[Repeat]:
        wanted = set(memory_ids)
        return [each for each in self._all() if each.memory_id in wanted]

    def repeats_from(self, message_ids: Iterable[str]) -> Sequence[Repeat]:
        sources = set(message_ids)
        return [each for each in self._all() if each.source_message_id in sources]

    def drop(self, memory_id: str, repeat_ids: Iterable[str]) -> int:
        doomed = {(memory_id, id) for id in repeat_ids} & self._room.repeats.keys()
        for key in doomed:
            del self._room.repeats[key]
        return len(doomed)

    def flag(self, flags: Sequence[Flag]) -> None:
        for each in flags:
            self._room.flags.setdefault((each.memory_id, each.other_id), kept(each))

    def flagged(self, memory_ids: Iterable[str]) -> Sequence[Flag]:
        wanted = set(memory_ids)
        found = [each for pair, each in self._room.flags.items() if not wanted.isdisjoint(pair)]
        return sorted(found, key=lambda each: (each.at, each.memory_id, each.other_id))

    def all_flags(self, limit: int) -> Sequence[Flag]:
        return self.flagged(id for pair in self._room.flags for id in pair)[::-1][:limit]

    def unflag(self, flags: Iterable[Flag]) -> int:
        doomed = {(each.memory_id, each.other_id) for each in flags} & self._room.flags.keys()
        for pair in doomed:
            del self._room.flags[pair]
        return len(doomed)

    def state(self, memory_id: str, slots: Iterable[str]) -> None:
        self._room.slots[memory_id] = frozenset(slots)

    def stating(self, slots: Iterable[str], limit: int) -> Sequence[str]:
        wanted = set(slots)
        found = [
            memory
            for id, held in self._room.slots.items()
            if not wanted.isdisjoint(held) and (memory := self._room.memories[id]).status is Status.ACTIVE
        ]
        found.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        return [memory.id for memory in found[:limit]]

    def use(self, uses: Sequence[Use]) -> None:
        for each in uses:
            self._room.uses.setdefault((each.memory_id, each.message_id), kept(each))

    def uses(self, memory_id: str, limit: int) -> Sequence[Use]:
        found = [each for each in self._room.uses.values() if each.memory_id == memory_id]
        return sorted(found, key=lambda each: (each.at, each.message_id), reverse=True)[:limit]

    def used_by(self, message_ids: Iterable[str]) -> Sequence[Use]:
        wanted = set(message_ids)
        found = [each for each in self._room.uses.values() if each.message_id in wanted]
        return sorted(found, key=lambda each: (each.message_id, each.reference))

    def scan_uses(self, after: Use | None, limit: int) -> Sequence[Use]:
        start = ("", "") if after is None else (after.memory_id, after.message_id)
        return [self._room.uses[pair] for pair in sorted(self._room.uses) if pair > start][:limit]

    def _all(self) -> Sequence[Repeat]:
        return sorted(self._room.repeats.values(), key=lambda each: (each.memory_id, each.place, each.id))
