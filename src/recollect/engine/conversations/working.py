"""working: what a session is about while it lasts: its topic, its variables, its turns, its mood.

It begins with the first message of a user, counts their turns, and ends after half an hour of silence: what matters of it becomes
a memory, the rest goes. Whoever looks after that sees nothing of it, whether or not anybody has cleaned up yet. Where nothing
durable may be kept it lives in this process alone.

Names of variables that begin with `_` are the engine's own: footprints of what was shown as memory, and how far turns were read.
They are never shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.engine.boundary import silence, unseen
from recollect.engine.browse import missing, note
from recollect.engine.remembering.screening import is_long
from recollect.model import Analysis, Memory, Message, Query, Receipt, Scope, Step, WorkingMemory
from recollect.policy import echo
from recollect.policy.digest import session_digest
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

IDLE = timedelta(minutes=30)
AT_ONCE = 100
MOST_PLANNED = 10_000
MOST_VARIABLES = 32
WORTH_ARCHIVING = 3
"""Turns: what is left after fewer was no more than a question."""
SHOWN, UNREAD, READING = "_shown", "_unread", "_reading"
PASSING = frozenset({"people", "places", "dates"})
"""Variables that say what was mentioned, not what it was about."""

Change: TypeAlias = Callable[[WorkingMemory], WorkingMemory]
Shown: TypeAlias = Memory | Message | str


@dataclass(frozen=True, slots=True)
class Cleaned:
    removed: int = 0
    archived: int = 0


def count(
    tx: Tx, session_id: str, fresh: Sequence[Message], at: datetime, *, to_read: bool = False
) -> WorkingMemory | None:
    """Count the turns of users among new messages. Gives back what an earlier stretch of the session left, to be archived.

    Turns of long ago, as imports bring them, begin no session, unless they are to be read.
    """
    users = [message for message in fresh if message.role == "user"]
    before = tx.space.working(session_id)
    stale = before if before is not None and is_idle(before, at) and not unread(before) else None
    current = None if stale is not None else before
    if not to_read and all(message.created_at < at - IDLE for message in fresh):
        return None
    if current is None:
        if not users:
            return None
        current = WorkingMemory(session_id=session_id, created_at=at, updated_at=at)
    variables = dict(current.context_variables)
    if users and to_read:
        variables[UNREAD] = [*unread(current), *(message.order for message in users)]
    tx.space.save_working(
        replace(
            current,
            turn_count=current.turn_count + len(users),
            context_variables=variables,
            updated_at=max(current.updated_at, at),
        )
    )
    return stale


async def change(engine: Engine, scope: Scope, session_id: str, step: Change) -> WorkingMemory:
    """Apply a step to a session's working memory where that lives; one that isn't there begins."""
    at = engine.clock.now()

    def begun() -> WorkingMemory:
        return WorkingMemory(session_id=session_id, created_at=at, updated_at=at)

    def work(tx: Tx) -> WorkingMemory | None:
        if silence(tx, engine, session_id) is not None:
            return None
        after = step(tx.space.working(session_id) or begun())
        tx.space.save_working(after)
        return after

    after = await engine.store.write(scope, work)
    if after is None:
        after = step(engine.sessions.private(scope, session_id) or begun())
        engine.sessions.keep_private(scope, after)
    engine.sessions.touch(scope, at)
    return after


def noticing(analyses: Sequence[Analysis], at: datetime, *, turns: int = 0) -> Change:
    """The step that takes up what turns were found to say."""

    def step(working: WorkingMemory) -> WorkingMemory:
        topic, emotion = working.current_topic, working.last_emotion
        variables = dict(working.context_variables)
        for analysis in analyses:
            topic, emotion = analysis.topic or topic, analysis.emotion
            variables |= {name: value for name, value in analysis.variables.items() if not name.startswith("_")}
        return replace(
            working,
            current_topic=topic,
            last_emotion=emotion,
            context_variables=_latest(variables),
            turn_count=working.turn_count + turns,
            updated_at=max(working.updated_at, at),
        )

    return step


async def stored_or_private(engine: Engine, scope: Scope, session_id: str) -> WorkingMemory | None:
    """A session's working memory with the engine's own variables, wherever it lives."""

    def work(tx: Tx) -> tuple[bool, WorkingMemory | None]:
        return silence(tx, engine, session_id) is not None, tx.space.working(session_id)

    silent, found = await engine.store.read(scope, work)
    return engine.sessions.private(scope, session_id) if silent else found


async def seen(engine: Engine, scope: Scope, session_id: str) -> WorkingMemory:
    """A session's working memory as its owner may see it. What has been quiet for too long is gone."""

    def work(tx: Tx) -> tuple[bool, WorkingMemory | None]:
        return unseen(tx, engine), tx.space.working(session_id)

    private, found = await engine.store.read(scope, work)
    private = private or found is None
    if private:
        found = engine.sessions.private(scope, session_id)
    if found is None or is_idle(found, engine.clock.now()):
        raise missing("working memory", session_id)
    if not private:
        note(engine, scope, "working.read")
    return replace(found, context_variables=visible(found.context_variables))


async def on_topic(engine: Engine, scope: Scope, session_id: str | None, query: Query) -> Query:
    """The question with what its session is about, unless it names a topic itself."""
    if session_id is None or query.topic is not None:
        return query
    found = await stored_or_private(engine, scope, session_id)
    if found is None or found.current_topic is None or is_idle(found, engine.clock.now()):
        return query
    return replace(query, topic=found.current_topic)


async def show(engine: Engine, scope: Scope, session_id: str, things: Iterable[Shown]) -> None:
    """Note that these reached a prompt as memory in this session: they are not news when they come back."""
    key = session_key(engine, scope, session_id)
    told = list(things)

    def work() -> list[str]:
        return [mark for thing in told for mark in _marks(thing, key)]

    long = is_long([each if isinstance(each, str) else each.content for each in told])
    marks = await asyncio.to_thread(work) if long else work()
    if not marks:
        return
    at = engine.clock.now()

    def step(working: WorkingMemory) -> WorkingMemory:
        before = footprints(working)
        kept = list(dict.fromkeys((*before, *marks)))[-echo.MOST :]
        variables = {**working.context_variables, SHOWN: kept}
        return replace(working, context_variables=variables, updated_at=max(working.updated_at, at))

    await change(engine, scope, session_id, step)


async def adopt(engine: Engine, scope: Scope) -> None:
    """Look after the sessions another process left here: what they have unread is read, and they end when they go quiet."""
    future = engine.clock.now() + IDLE
    found = await engine.store.read(scope, lambda tx: tx.space.idle_working(future, AT_ONCE))
    for each in found:
        if unread(each):
            engine.sessions.call(scope, each.session_id)
    if found:
        engine.sessions.touch(scope, min(each.updated_at for each in found))


async def planned(engine: Engine, scope: Scope) -> tuple[Step, ...]:
    """What `clean` would do now, as a step of upkeep."""
    before = engine.clock.now() - IDLE
    idle = await engine.store.read(scope, lambda tx: tx.space.idle_working(before, MOST_PLANNED))
    done = sum(1 for each in idle if not unread(each))
    why = f"quiet for more than {IDLE.seconds // 60} minutes; what mattered becomes a memory"
    return (Step(action="end_sessions", count=done, why=why),) if done else ()


async def clean(engine: Engine, scope: Scope) -> Cleaned:
    """Archive what matters of sessions that have gone quiet, and remove them."""
    removed = archived = 0
    before = engine.clock.now() - IDLE
    while True:
        idle = await engine.store.read(scope, lambda tx: tx.space.idle_working(before, AT_ONCE))
        done = [each for each in idle if not unread(each)]
        for working in idle:
            if unread(working):
                engine.sessions.call(scope, working.session_id)
            else:
                archived += await archive(engine, scope, working) is not None
        removed += await engine.store.write(scope, lambda tx, done=done: _drop(tx, done))  # type: ignore[misc]
        if len(idle) < AT_ONCE or not done:
            return Cleaned(removed, archived)


async def archive(engine: Engine, scope: Scope, working: WorkingMemory) -> Receipt | None:
    """What a session was about, as a memory, if it came to anything."""
    content = summary(working)
    if content is None or engine.config.write_mode != "automatic":
        return None
    fields = {
        "content": content,
        "type": "note",
        "source": "system",
        "confidence": 0.6,
        "tags": ["session"],
        "source_conversation_id": working.session_id,
    }
    occasion = replace(engine.occasion, session_id=working.session_id)
    receipt = await engine.on(occasion).remember(scope, fields)
    return None if receipt.outcome == "refused" else receipt


def summary(working: WorkingMemory) -> str | None:
    """In a sentence: when, about what, to which end. None where there was no end."""
    said = {name: value for name, value in visible(working.context_variables).items() if name not in PASSING}
    if not said or working.turn_count < WORTH_ARCHIVING:
        return None
    about = f" about {working.current_topic}" if working.current_topic else ""
    values = "; ".join(f"{name.replace('_', ' ')}: {_said(value)}" for name, value in said.items())
    return f"In a conversation on {working.updated_at:%Y-%m-%d}{about}: {values}"


def is_idle(working: WorkingMemory, now: datetime) -> bool:
    return now - working.updated_at > IDLE


def visible(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in variables.items() if not name.startswith("_")}


def blanked(working: WorkingMemory) -> WorkingMemory:
    """Without what the session is about; the engine's own variables stay."""
    own = {name: value for name, value in working.context_variables.items() if name.startswith("_")}
    return replace(working, current_topic=None, context_variables=own)


def blank(tx: Tx, session_ids: Iterable[str | None]) -> None:
    """Something that was said in these sessions is forgotten: what they noted of it must neither be seen nor become a memory."""
    for session_id in {each for each in session_ids if each is not None}:
        if (known := tx.space.working(session_id)) is not None:
            tx.space.save_working(blanked(known))


def footprints(working: WorkingMemory | None) -> list[str]:
    kept = working.context_variables.get(SHOWN, ()) if working is not None else ()
    return [each for each in kept if isinstance(each, str)]


def unread(working: WorkingMemory | None) -> list[int]:
    """The places of messages that are yet to be read."""
    orders = working.context_variables.get(UNREAD, ()) if working is not None else ()
    return [each for each in orders if isinstance(each, int)]


def session_key(engine: Engine, scope: Scope, session_id: str) -> bytes:
    return bytes.fromhex(session_digest(scope, session_id, engine.config.pepper))


def _marks(thing: Shown, key: bytes) -> Iterable[str]:
    yield from echo.footprints(thing if isinstance(thing, str) else thing.content, key)
    if isinstance(thing, Memory) and thing.key is not None and thing.value is not None:
        yield echo.filed(thing.key, thing.value, key)


def _latest(variables: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in variables.items() if name.startswith("_")}
    others = list(visible(variables).items())[-MOST_VARIABLES:]
    return {**own, **dict(others)}


def _drop(tx: Tx, idle: Sequence[WorkingMemory]) -> int:
    """Those to which nothing has happened meanwhile."""
    same = [each.session_id for each in idle if tx.space.working(each.session_id) == each]
    return tx.space.drop_working(same) if same else 0


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
