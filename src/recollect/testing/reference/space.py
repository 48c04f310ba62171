"""What belongs to one scope beside its memories: settings, themes, tombstones, audit trail, sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from recollect.errors import Conflict
from recollect.model import AuditEvent, Declaration, Page, SpaceSettings, Status, Theme, Tombstone, WorkingMemory
from recollect.testing.reference.room import Room, kept

T = TypeVar("T")


class ReferenceSpace:
    def __init__(self, room: Room, known: bool, neighbours: Mapping[str, Room]) -> None:
        self._room = room
        self._known = known
        self._neighbours = neighbours

    def settings(self) -> SpaceSettings:
        return self._room.settings

    def save_settings(self, settings: SpaceSettings) -> None:
        self._room.settings = settings

    def themes(self) -> Sequence[Theme]:
        counts = Counter(memory.theme for memory in self._room.memories.values() if memory.status is Status.ACTIVE)
        counted = [replace(theme, count=counts[theme.slug]) for theme in self._room.themes.values()]
        return sorted(counted, key=lambda theme: (-theme.count, theme.slug))

    def save_theme(self, theme: Theme) -> None:
        self._room.themes[theme.slug] = kept(theme)

    def open_theme(self, theme: Theme) -> None:
        self._room.themes.setdefault(theme.slug, kept(theme))

    def drop_theme(self, slug: str) -> None:
        self._room.themes.pop(slug, None)

    def bury(self, tombstones: Sequence[Tombstone]) -> None:
        for stone in tombstones:
            held = self._room.tombstones.get(stone.digest)
            if held is None or held.expires_at < stone.expires_at:
                self._room.tombstones[stone.digest] = kept(stone)

    def buried(self, digest: str, at: datetime) -> Tombstone | None:
        stone = self._room.tombstones.get(digest)
        return stone if stone is not None and stone.expires_at > at else None

    def exhume(self, before: datetime) -> int:
        doomed = [stone.digest for stone in self._room.tombstones.values() if stone.expires_at < before]
        for digest in doomed:
            del self._room.tombstones[digest]
        return len(doomed)

    def graves(self, before: datetime) -> int:
        return sum(stone.expires_at < before for stone in self._room.tombstones.values())

    def tombstones(self, after: str | None, limit: int) -> Sequence[Tombstone]:
        return _page(self._room.tombstones, after, limit)

    def record(self, event: AuditEvent) -> None:
        if event.id in self._room.audit:
            raise Conflict("an audit event with this id exists")
        self._room.audit[event.id] = kept(event)

    def audit(self, limit: int, offset: int) -> Page[AuditEvent]:
        events = sorted(self._room.audit.values(), key=lambda event: (event.at, event.id), reverse=True)
        page = tuple(events[offset : offset + limit])
        return Page(items=page, total=len(events), limit=limit, offset=offset)

    def known(self) -> bool:
        return self._known

    def incognito(self, session: str) -> bool | None:
        if any(room.sessions.get(session, (False,))[0] for room in (self._room, *self._neighbours.values())):
            return True
        return False if session in self._room.sessions else None

    def declare_incognito(self, session: str, incognito: bool | None, at: datetime) -> None:
        for room in self._neighbours.values():
            if room.sessions.get(session, (False,))[0]:
                del room.sessions[session]
        self._room.sessions.pop(session, None)
        if incognito is not None:
            self._room.sessions[session] = incognito, at

    def declared(self, before: datetime) -> int:
        return sum(at < before for _, at in self._room.sessions.values())

    def drop_declared(self, before: datetime) -> int:
        doomed = [session for session, (_, at) in self._room.sessions.items() if at < before]
        for session in doomed:
            del self._room.sessions[session]
        return len(doomed)

    def declarations(self, after: str | None, limit: int) -> Sequence[Declaration]:
        said = {
            session: Declaration(session=session, incognito=incognito, declared_at=at)
            for session, (incognito, at) in self._room.sessions.items()
        }
        return _page(said, after, limit)

    def keep_declarations(self, declarations: Sequence[Declaration]) -> None:
        for each in map(kept, declarations):
            self._room.sessions.setdefault(each.session, (each.incognito, each.declared_at))

    def sharing(self) -> Mapping[str, tuple[str, ...]]:
        settings = {space: self._neighbours[space].settings for space in sorted(self._neighbours)}
        return {space: its.shared_tags for space, its in settings.items() if its.memory_enabled and its.shared_tags}

    def working(self, session_id: str) -> WorkingMemory | None:
        return self._room.working.get(session_id)

    def save_working(self, working: WorkingMemory) -> None:
        self._room.working[working.session_id] = kept(working)

    def drop_working(self, session_ids: Iterable[str]) -> int:
        doomed = {id for id in session_ids if id in self._room.working}
        for id in doomed:
            del self._room.working[id]
        return len(doomed)

    def workings(self, after: str | None, limit: int) -> Sequence[WorkingMemory]:
        return _page(self._room.working, after, limit)

    def idle_working(self, before: datetime, limit: int) -> Sequence[WorkingMemory]:
        idle = [working for working in self._room.working.values() if working.updated_at < before]
        return sorted(idle, key=lambda working: (working.updated_at, working.session_id))[:limit]


def _page(things: Mapping[str, T], after: str | None, limit: int) -> Sequence[T]:
    return [things[name] for name in sorted(things) if after is None or name > after][:limit]
