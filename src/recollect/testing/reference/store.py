"""The store itself: transactions by copying. What is published never changes, so a snapshot is just kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import TypeVar

from recollect.errors import Unavailable
from recollect.model import EmbeddingState, ForgetReceipt, Scope
from recollect.ports import Capability, System, Tx
from recollect.testing.reference.conversations import ReferenceConversations
from recollect.testing.reference.embeddings import ReferenceEmbeddings
from recollect.testing.reference.index import ReferenceIndex
from recollect.testing.reference.links import ReferenceLinks
from recollect.testing.reference.memories import ReferenceMemories
from recollect.testing.reference.room import Room
from recollect.testing.reference.space import ReferenceSpace
from recollect.testing.reference.system import ReferenceSystem, World

T = TypeVar("T")
_THREADS = 8


class ReferenceTx:
    """One transaction of one scope, over a room of its own."""

    def __init__(self, scope: Scope, room: Room, known: bool, neighbours: Mapping[str, Room]) -> None:
        self.scope = scope
        self.room = room
        self.neighbours = neighbours
        self.erased = False
        self.owed_at: datetime | None = None
        self.memories = ReferenceMemories(room)
        self.links = ReferenceLinks(room)
        self.conversations = ReferenceConversations(room)
        self.index = ReferenceIndex(room)
        self.embeddings = ReferenceEmbeddings(room, scope, self.index)
        self.space = ReferenceSpace(room, known, neighbours)

    def erase(self) -> ForgetReceipt:
        room = self.room
        receipt = ForgetReceipt(
            memories=len(room.memories),
            messages=len(room.messages),
            conversations=len(room.conversations),
            index_entries=len(room.entries),
            vectors=sum(row.state is EmbeddingState.READY for row in room.embeddings.values()),
            tombstones=len(room.tombstones),
        )
        beyond = room.revision + 1
        room.fill(Room(revision=beyond, purged=beyond))
        self.index = ReferenceIndex(room)
        self.embeddings = ReferenceEmbeddings(room, self.scope, self.index)
        self.erased = True
        return receipt

    def owe_scrub(self, at: datetime) -> None:
        self.owed_at = at


class ReferenceStore:
    """An in-memory `Store` for tests and for checking other stores against."""

    def __init__(self) -> None:
        self._world = World()
        self._writing = Lock()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="recollect-reference")
        self._closed = False

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset({Capability.FULL_TEXT, Capability.SCRUBS})

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return await self._run(lambda: work(self._begin(scope)))

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return await self._run(lambda: self._transact(scope, work))

    async def system(self, work: Callable[[System], T]) -> T:
        def transact() -> T:
            with self._writing:
                world = self._world.copy()
                outcome = work(ReferenceSystem(world))
                self._world = world
                return outcome

        return await self._run(transact)

    async def scrub(self, *, however_long: bool = False) -> bool:
        """Nothing to do: what was deleted is referred to by nobody."""

        def settle() -> bool:
            with self._writing:
                self._world = replace(self._world, owed=())
            return True

        return await self._run(settle)

    async def close(self) -> None:
        self._closed = True
        self._threads.shutdown()

    def _begin(self, scope: Scope) -> ReferenceTx:
        world = self._world
        mine = {
            each.space: room.copy()
            for each, room in world.rooms.items()
            if (scope.tenant, scope.user) == (each.tenant, each.user) and scope != each
        }
        return ReferenceTx(scope, world.room(scope), scope in world.rooms, mine)

    def _transact(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        with self._writing:
            world = self._world
            tx = self._begin(scope)
            outcome = work(tx)
            youngest = world.youngest
            rooms = world.rooms | {replace(scope, space=space): room for space, room in tx.neighbours.items()}
            # Where nothing came of it, nobody new has arrived.
            if scope in rooms or tx.room != Room(revision=youngest, purged=youngest):
                rooms[scope] = tx.room
            if tx.erased:
                youngest = max(youngest, tx.room.revision)
                if tx.room == Room(revision=tx.room.revision, purged=tx.room.purged):
                    rooms.pop(scope, None)
            owed = world.owed if tx.owed_at is None else (*world.owed, tx.owed_at)
            self._world = replace(world, rooms=rooms, youngest=youngest, owed=owed)
            return outcome

    async def _run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise Unavailable("the store is closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
