"""The steps of upkeep, each as it is done inside a transaction: looked at again first, audited, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.forgetting.forget import removed_in
from recollect.engine.remembering.indexing import index_memory
from recollect.engine.remembering.themes import drop_empty_themes
from recollect.engine.upkeep.archive import archive_in
from recollect.model import Memory, SpaceSettings, Status, Step, Target
from recollect.policy import capacity
from recollect.policy.digest import twin_digest
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

SESSIONS_FOR = timedelta(days=180)
"""How long a session's declaration is believed. Long: one that comes back later than that is no longer incognito by itself."""
MEMORY_STEPS = frozenset({"expire", "remove", "archive", "embed"})


@dataclass
class Tally:
    done: Counter[str] = field(default_factory=Counter)
    passed_over: int = 0
    guarded: int = 0
    """Steps that would have taken what is to be kept: pinned in the very moment, or a bug. Never carried out."""

    def add(self, other: Tally) -> None:
        self.done.update(other.done)
        self.passed_over += other.passed_over
        self.guarded += other.guarded


def carried_out(engine: Engine, steps: Sequence[Step], generations: Sequence[str], tx: Tx) -> Tally:
    tally = Tally()
    if not tx.space.known():  # erased meanwhile
        return Tally(passed_over=len(steps))
    found = tx.memories.get([step.id for step in steps if step.id and step.action in MEMORY_STEPS])
    ending: dict[str, list[Memory]] = {"expire": [], "remove": []}
    for step in steps:
        memory = found.get(step.id or "")
        if step.action in MEMORY_STEPS and (memory is None or memory.updated_at != step.seen):
            tally.passed_over += 1
        elif step.action in ("archive", "remove") and memory is not None and memory.kept:
            tally.guarded += 1
            tally.passed_over += 1
        elif step.action == "archive" and memory is not None:
            _archive(engine, tx, memory, step, tally)
        elif step.action == "embed" and memory is not None:
            index_memory(tx, memory, generations, engine.clock.now())
            tally.done["embed"] += 1
        elif step.action in ending and memory is not None:
            ending[step.action].append(memory)
        elif dropped := _drop(engine, tx, step):
            tally.done[step.action] += dropped
        else:
            tally.passed_over += 1
    if ending["expire"]:
        removed_in(engine, tx, ending["expire"], generations, action="memory.expired", bury=False)
    _purge(engine, tx, ending["remove"])
    tally.done.update({action: len(gone) for action, gone in ending.items() if gone})
    return tally


def _archive(engine: Engine, tx: Tx, memory: Memory, step: Step, tally: Tally) -> None:
    if memory.status is not Status.ACTIVE:
        tally.passed_over += 1
    else:
        archive_in(engine, tx, memory, why=step.why)
        tally.done["archive"] += 1


def _purge(engine: Engine, tx: Tx, memories: Sequence[Memory]) -> None:
    if not memories:
        return
    tx.memories.delete([memory.id for memory in memories])
    tx.owe_scrub(engine.clock.now())
    drop_empty_themes(tx, {memory.theme for memory in memories if memory.theme})
    for memory in memories:
        audit.record(tx, engine.occasion, engine.clock.now(), "memory.purged", Target("memory", memory.id))


def _drop(engine: Engine, tx: Tx, step: Step) -> int:
    """What is no memory; how many of it there were."""
    now = engine.clock.now()
    match step.action:
        case "drop_tombstones":
            count = tx.space.exhume(now)
            audit.record(tx, engine.occasion, now, "tombstones.dropped", count=count)
        case "drop_sessions":
            count = tx.space.drop_declared(now - SESSIONS_FOR)
            audit.record(tx, engine.occasion, now, "sessions.dropped", count=count)
        case _:
            count = _end_conversation(engine, tx, step.id or "", now)
    return count


def patience(engine: Engine, tx: Tx) -> SpaceSettings:
    """The settings of the space, with the configured retention where it has none of its own."""
    settings = tx.space.settings()
    return replace(settings, retention_days=settings.retention_days or engine.config.chat.days)


def _end_conversation(engine: Engine, tx: Tx, id: str, now: datetime) -> int:
    conversation = tx.conversations.get(id)
    if conversation is None or not capacity.conversations_over([conversation], patience(engine, tx), now):
        return 0
    messages = tx.conversations.history(id, conversation.message_count)
    targets = [Target("message", message.id) for message in messages]
    for memory in tx.memories.from_messages([message.id for message in messages]):
        marked = replace(memory, source_expired_at=now)
        tx.memories.replace(marked, twin_digest(tx.scope, memory.content, engine.config.pepper))
    tx.index.drop(targets)
    tx.embeddings.drop(targets)
    tx.space.drop_working([id])
    tx.conversations.delete([id])
    tx.owe_scrub(now)
    audit.record(tx, engine.occasion, now, "conversation.expired", messages=len(messages))
    return 1
