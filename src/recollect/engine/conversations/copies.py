"""Sessions under way, copied to where several processes share them; the database stays of record.

Every transaction passes here, whoever runs it, so no verb has to think of it: after one that changed a session its copy is made
anew from what the database says then, and after one that removed anything, or switched memory off, or declared a session
incognito, every copy of that scope goes. A copy holds what its owner may see of the working memory, the goal, and the last
messages.

A copy is never believed by itself. Each write to a session leaves a new stamp among the engine's own variables in its row, and
only a copy with that stamp is read: one that is late, lost or left over costs a query and changes no answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar, cast

from recollect.engine.exporting.lines import line_of, parsed
from recollect.errors import InvalidInput, RecollectError
from recollect.model import Conversation, ForgetReceipt, Message, Scope, SpaceSettings, WorkingMemory
from recollect.policy.digest import session_digest
from recollect.policy.grounding import HISTORY_MESSAGES
from recollect.ports import Capability, SessionHashes, Store, System, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

T = TypeVar("T")

STAMP = "_stamp"
LEAST_MESSAGES = 2
"""What "that" refers to is looked for among the last messages, however few of them a model is shown."""
MOST_CHARS = 256_000
"""Of the last messages together: where they are longer they are left in the database."""


async def last_messages(
    engine: Engine, scope: Scope, session_id: str
) -> Callable[[Tx, Conversation], Sequence[Message]]:
    """How to read the last messages of a session: out of its copy where the database confirms that, else out of the database."""
    wanted = max(engine.config.chat.history, LEAST_MESSAGES)
    copies = engine.copies if wanted <= HISTORY_MESSAGES else None
    told = await copies.get(scope, session_id) if copies is not None else None

    def work(tx: Tx, conversation: Conversation) -> Sequence[Message]:
        if told and told.get("stamp", "") == _stamp(tx.space.working(session_id), conversation):
            with suppress(RecollectError, ValueError, RecursionError):
                return _unpacked(told.get("messages", ""), session_id)[-wanted:]
        return tx.conversations.history(session_id, wanted)

    return work


@dataclass
class _Touched:
    """What one transaction did to sessions."""

    said: set[str] = field(default_factory=set)
    """Messages came or went."""
    stamped: set[str] = field(default_factory=set)
    removed: bool = False


class Copied:
    """A store whose sessions are copied. What is not about sessions passes through."""

    def __init__(self, store: Store, hashes: SessionHashes, pepper: bytes) -> None:
        self._store, self._hashes, self._pepper = store, hashes, pepper
        self._under_way: set[asyncio.Task[Any]] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._store.capabilities

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return await self._store.read(scope, work)

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        """Whoever goes away while it runs leaves nothing half done: what is removed here is removed there."""
        task = asyncio.ensure_future(self._written(scope, work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def system(self, work: Callable[[System], T]) -> T:
        return await self._store.system(work)

    async def scrub(self, *, however_long: bool = False) -> bool:
        return await self._store.scrub(however_long=however_long)

    async def settle(self) -> None:
        """Until what was begun here is done, whoever waits for it or not."""
        here = asyncio.get_running_loop()
        while tasks := [task for task in self._under_way if task.get_loop() is here]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        await self.settle()
        await self._store.close()
        await self._hashes.close()

    async def _written(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        touched = _Touched()

        def watched(tx: Tx) -> T:
            nonlocal touched
            touched = _Touched()  # it may run again
            result = work(cast(Tx, _Watched(tx, touched)))
            _stamp_all(tx, touched)
            return result

        result = await self._store.write(scope, watched)
        if touched.removed:
            await self._hashes.drop(scope)
        elif touched.stamped:
            await self._copy(scope, touched.stamped)
        return result

    async def _copy(self, scope: Scope, sessions: Iterable[str]) -> None:
        ticket = await self._hashes.ticket(scope)
        if ticket is None:
            return
        with suppress(RecollectError):  # what was to be written is; an older copy is known by its stamp
            told = await self._store.read(scope, lambda tx: {id: _fields(tx, id, self._pepper) for id in sessions})
            for session_id, fields in told.items():
                if fields is not None:
                    await self._hashes.put(scope, session_id, fields, ticket)


class _Part:
    """A part of a transaction, watched."""

    def __init__(self, part: Any, touched: _Touched) -> None:
        self._part, self._touched = part, touched

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)


class _Watched(_Part):
    def __init__(self, tx: Tx, touched: _Touched) -> None:
        super().__init__(tx, touched)
        self.memories = _Memories(tx.memories, touched)
        self.conversations = _Conversations(tx.conversations, touched)
        self.space = _Space(tx.space, touched)

    def erase(self) -> ForgetReceipt:
        self._touched.removed = True
        return cast(ForgetReceipt, self._part.erase())


class _Memories(_Part):
    def delete(self, ids: Iterable[str]) -> int:
        self._touched.removed = True
        return cast(int, self._part.delete(ids))


class _Conversations(_Part):
    def append(self, messages: Sequence[Message]) -> None:
        self._touched.said.update(message.session_id for message in messages)
        self._part.append(messages)

    def delete(self, ids: Iterable[str]) -> int:
        self._touched.removed = True
        return cast(int, self._part.delete(ids))

    def delete_messages(self, ids: Iterable[str]) -> int:
        """Their sessions get a new stamp, or a copy that could not be removed would still be believed."""
        ids = list(ids)
        self._touched.said.update(each.session_id for each in self._part.messages(ids).values())
        self._touched.removed = True
        return cast(int, self._part.delete_messages(ids))


class _Space(_Part):
    def save_settings(self, settings: SpaceSettings) -> None:
        self._touched.removed |= not settings.memory_enabled or settings.incognito_default
        self._part.save_settings(settings)

    def declare_incognito(self, session: str, *said: Any) -> None:
        """Which session it is can't be told from its digest, so that all go: those that go on come back with their next turn."""
        self._touched.removed = True
        self._part.declare_incognito(session, *said)

    def save_working(self, working: WorkingMemory) -> None:
        self._touched.stamped.add(working.session_id)
        self._part.save_working(_stamped(working))

    def drop_working(self, session_ids: Iterable[str]) -> int:
        self._touched.removed = True
        return cast(int, self._part.drop_working(session_ids))


def _stamp_all(tx: Tx, touched: _Touched) -> None:
    """Sessions that are under way and whose row was not written along with their messages."""
    for session_id in touched.said - touched.stamped:
        if (working := tx.space.working(session_id)) is not None:
            tx.space.save_working(_stamped(working))
            touched.stamped.add(session_id)


def _stamped(working: WorkingMemory) -> WorkingMemory:
    return replace(working, context_variables={**working.context_variables, STAMP: token_hex(8)})


def _stamp(working: WorkingMemory | None, conversation: Conversation | None) -> str | None:
    """Of a session that goes on. The count tells what was written by somebody who keeps no copies."""
    if working is None or STAMP not in working.context_variables:
        return None
    return f"{working.context_variables[STAMP]}-{conversation.message_count if conversation else 0}"


def _fields(tx: Tx, session_id: str, pepper: bytes) -> dict[str, str] | None:
    """What is copied of a session; None where there is none under way, or nothing of it may leave the database."""
    working, conversation = tx.space.working(session_id), tx.conversations.get(session_id)
    stamp = _stamp(working, conversation)
    if working is None or stamp is None or _is_silent(tx, session_id, pepper):
        return None
    seen = {name: value for name, value in working.context_variables.items() if not name.startswith("_")}
    told: dict[str, Any] = {
        "session_id": session_id,
        "current_topic": working.current_topic,
        "current_goal": seen.get("goal"),
        "context_variables": json.dumps(seen, ensure_ascii=False),
        "turn_count": working.turn_count,
        "last_emotion": working.last_emotion,
        "created_at": working.created_at.isoformat(),
        "updated_at": working.updated_at.isoformat(),
        "stamp": stamp,
        "messages": _packed(tx.conversations.history(session_id, HISTORY_MESSAGES)) if conversation else None,
    }
    return {name: str(value) for name, value in told.items() if value is not None}


def _is_silent(tx: Tx, session_id: str, pepper: bytes) -> bool:
    settings = tx.space.settings()
    declared = tx.space.incognito(session_digest(tx.scope, session_id, pepper))
    return not settings.memory_enabled or (settings.incognito_default if declared is None else declared)


def _packed(messages: Sequence[Message]) -> str | None:
    if sum(len(each.content) for each in messages) > MOST_CHARS:
        return None
    return json.dumps([line_of("message", each) for each in messages], ensure_ascii=False)


def _unpacked(told: str, session_id: str) -> list[Message]:
    """Read as strictly as a file from anywhere: others may write to that server."""
    lines = json.loads(told)
    if not isinstance(lines, list):
        raise InvalidInput("expected a list of messages")
    things = [parsed(line, number, MOST_CHARS * 4) for number, line in enumerate(lines)]
    messages = [thing for kind, thing in things if kind == "message" and thing.session_id == session_id]
    if len(messages) != len(things):
        raise InvalidInput("expected messages of this session")
    return messages
