"""What belongs to nobody: generations, and which scopes there are and have work waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.errors import Conflict, NotFound
from recollect.model import ApiKey, Backlog, Generation, GenerationState, Look, ProviderConfig, Scope
from recollect.testing.reference.embeddings import ReferenceEmbeddings
from recollect.testing.reference.index import ReferenceIndex
from recollect.testing.reference.room import Room, kept


@dataclass(slots=True, kw_only=True)
class World:
    """All rooms and all generations.

    `youngest` is beyond every revision an erased scope ever had: a scope that comes back begins there, so
    that a copy of its former self can't take itself for current.
    """

    rooms: dict[Scope, Room] = field(default_factory=dict)
    generations: dict[str, Generation] = field(default_factory=dict)
    youngest: int = 0
    keys: dict[str, ApiKey] = field(default_factory=dict)
    provider: ProviderConfig | None = None
    owed: tuple[datetime, ...] = ()
    looks: dict[tuple[int, str], Look] = field(default_factory=dict)

    def room(self, scope: Scope) -> Room:
        """A copy of what the scope holds, or an empty room if it holds nothing."""
        held = self.rooms.get(scope)
        return Room(revision=self.youngest, purged=self.youngest) if held is None else held.copy()

    def copy(self) -> World:
        rooms = {scope: room.copy() for scope, room in self.rooms.items()}
        looks, keys = dict(self.looks), dict(self.keys)
        return replace(self, rooms=rooms, generations=dict(self.generations), keys=keys, looks=looks)


class ReferenceSystem:
    def __init__(self, world: World) -> None:
        self._world = world

    def generations(self) -> Sequence[Generation]:
        return sorted(self._world.generations.values(), key=lambda each: (each.created_at, each.id))

    def add_generation(self, generation: Generation) -> None:
        if generation.id in self._world.generations:
            raise Conflict("a generation with this id exists")
        self._world.generations[generation.id] = generation

    def set_generation(self, id: str, state: GenerationState) -> None:
        if id not in self._world.generations:
            raise NotFound("no generation with this id exists")
        if state is GenerationState.SERVING:
            for each in self.generations():
                if each.state is GenerationState.SERVING:
                    self._world.generations[each.id] = replace(each, state=GenerationState.RETIRED)
        self._world.generations[id] = replace(self._world.generations[id], state=state)

    def drop_generation(self, id: str) -> None:
        self._world.generations.pop(id, None)
        for room in self._world.rooms.values():
            for key in [key for key in room.embeddings if key[1] == id]:
                del room.embeddings[key]

    def scopes(
        self, after: Scope | None, limit: int, tenant: str | None = None, user: str | None = None
    ) -> Sequence[Scope]:
        chosen = [
            scope
            for scope in self._world.rooms
            if (after is None or _order(scope) > _order(after))
            and tenant in (None, scope.tenant)
            and user in (None, scope.user)
        ]
        return sorted(chosen, key=_order)[:limit]

    def waiting(self, at: datetime, limit: int, *, ahead: datetime | None = None) -> Sequence[Scope]:
        all_ = [(when, _order(scope), scope) for scope, when in self._due().items()]
        due = [each for each in all_ if each[0] <= at or (ahead is not None and each[0] > ahead)]
        return [scope for *_, scope in sorted(due, key=lambda each: each[:2])][:limit]

    def next_due(self) -> datetime | None:
        return min(self._due().values(), default=None)

    def backlog(self, generation: str) -> Backlog:
        each = [
            ReferenceEmbeddings(room, scope, ReferenceIndex(room)).backlog(generation)
            for scope, room in self._world.rooms.items()
        ]
        return Backlog(
            pending=sum(one.pending for one in each),
            error=sum(one.error for one in each),
            retrying=sum(one.retrying for one in each),
            oldest=min((one.oldest for one in each if one.oldest is not None), default=None),
        )

    def scrub_owed(self) -> datetime | None:
        return min(self._world.owed, default=None)

    def keys(self) -> Sequence[ApiKey]:
        return sorted(self._world.keys.values(), key=lambda key: (key.created_at, key.id))

    def add_key(self, key: ApiKey) -> None:
        if key.id in self._world.keys or self.find_key(key.secret_hash) is not None:
            raise Conflict("a key with this id or secret exists")
        self._world.keys[key.id] = kept(key)

    def find_key(self, secret_hash: str) -> ApiKey | None:
        return next((key for key in self._world.keys.values() if key.secret_hash == secret_hash), None)

    def revoke_key(self, id: str, at: datetime) -> None:
        key = self._world.keys.get(id)
        if key is None:
            raise NotFound("there is no key with this id")
        if key.revoked_at is None:
            self._world.keys[id] = replace(key, revoked_at=at)

    def touch_key(self, id: str, at: datetime) -> None:
        if id in self._world.keys:
            self._world.keys[id] = replace(self._world.keys[id], last_used_at=at)

    def provider(self) -> ProviderConfig | None:
        return self._world.provider

    def save_provider(self, config: ProviderConfig | None) -> None:
        self._world.provider = config

    def keep_look(self, look: Look, since: datetime) -> None:
        self._world.looks = {key: each for key, each in self._world.looks.items() if key[0] >= _minute(since)}
        self._world.looks[_minute(look.at), look.run] = kept(look)

    def looks(self, since: datetime, step: int, limit: int) -> Sequence[Look]:
        held = sorted(key for key in self._world.looks if key[0] >= _minute(since))
        steps: dict[tuple[str, int], list[tuple[int, str]]] = {}
        for minute, run in held:
            steps.setdefault((run, minute // step), []).append((minute, run))
        ends = {end for each in steps.values() for end in (each[0], each[-1])}
        return [self._world.looks[key] for key in held if key in ends][-limit:]

    def _due(self) -> dict[Scope, datetime]:
        known = self._world.generations.values()
        alive = {each.id for each in known if each.state is not GenerationState.RETIRED}
        return {
            scope: due
            for scope, room in self._world.rooms.items()
            if room.settings.memory_enabled and (due := room.work_due(alive)) is not None
        }


def _minute(at: datetime) -> int:
    return int(at.timestamp()) // 60


def _order(scope: Scope) -> tuple[str, str, str]:
    return scope.tenant, scope.user, scope.space
