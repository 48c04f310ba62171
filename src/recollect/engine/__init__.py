"""The engine: one file per verb, in a folder for each walk, and this class to hold what they share.

Verbs are functions over (engine, scope, …); the methods here only name them. Everything an embedder, a clock or a database
does for them comes in through `recollect.ports`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from copy import copy
from typing import Any, Self

from recollect.engine import browse, control, telling
from recollect.engine.chatting import chat
from recollect.engine.chatting.talks import Talk, Talks
from recollect.engine.config import EngineConfig
from recollect.engine.conversations import converse, extract, sweep, working
from recollect.engine.conversations.asides import Asides
from recollect.engine.conversations.sessions import Sessions
from recollect.engine.datachat import ask, recalling, showing
from recollect.engine.datachat.rules import Desk
from recollect.engine.embedding import elsewhere, embed
from recollect.engine.embedding.elsewhere import Elsewhere
from recollect.engine.embedding.fairness import Turns
from recollect.engine.embedding.generations import Generations
from recollect.engine.embedding.pacing import Pace
from recollect.engine.embedding.providing import Providing
from recollect.engine.exporting import export
from recollect.engine.forgetting import forget, unsaying
from recollect.engine.forgetting.debts import Debts, scrub_in_passing
from recollect.engine.recalling import limits, recall
from recollect.engine.recalling.notes import Notes
from recollect.engine.recalling.shelves import Shelves
from recollect.engine.remembering import disputes, merging, remember, revise
from recollect.engine.upkeep import archive, enrich, health, maintain, rollup
from recollect.errors import RecollectError
from recollect.model import (
    AskData,
    AuditEvent,
    Conversation,
    DataReply,
    EmbeddingStatus,
    ForgetReceipt,
    Health,
    Hit,
    ImportReceipt,
    Listing,
    Memory,
    Message,
    Occasion,
    Page,
    Provenance,
    Query,
    Recall,
    Receipt,
    Repeat,
    Scope,
    SpaceSettings,
    TakenIn,
    Talked,
    Target,
    Theme,
    TurnsReceipt,
    Upkeep,
    Use,
    WorkingMemory,
)
from recollect.policy.backoff import is_due
from recollect.ports import Cache, Chat, Clock, Judge, SessionHashes, Store

__all__ = ["Engine", "EngineConfig"]


def _nothing() -> None:
    pass


class Engine:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        config: EngineConfig,
        generations: Generations,
        cache: Cache | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.config = config
        self.generations = generations
        self.shelves = Shelves(config.exact_below, config.index_bytes)
        self.notes = Notes()
        self.cache = cache
        """Without one nothing is counted or kept between questions."""
        self.copies: SessionHashes | None = None
        """Where the sessions under way are copied to, for processes that share them."""
        self.providing: Providing | None = None
        """Keeps this process at the embedding provider that an administrator configured, where that can be done."""
        self.chat: Chat | None = None
        """A language model, where one is configured; everything works without."""
        self.desk = Desk()
        """Those who answer questions over data, and who know what somebody may ask; bootstrap puts them here."""
        self.elsewhere: Elsewhere | None = None
        """An index outside the store with copies of the data chat's vectors, where one is configured."""
        self.sessions = Sessions()
        self.talks = Talks()
        self.asides = Asides()
        self.turns = Turns()
        self.pace = Pace()
        """How often providers may be asked in the background; whoever knows a limit puts one here."""
        self.judge: Judge | None = None
        """Asked whether a new statement replaces an old one where rules can't tell; a provider may be put here. A write
        waits for it."""
        self.reviewer: Judge | None = None
        """Asked the same of what was left open, later and in the background."""
        self.debts = Debts()
        self.occasion = Occasion()
        self.wake: Callable[[], None] = _nothing
        """Called after a write that left work for the background; a runner puts itself here."""
        self.heard: Callable[[str, Mapping[str, Any]], None] = telling.nobody
        """Told what was done, in numbers and names of outcomes; whoever keeps the metrics puts itself here."""

    def on(self, occasion: Occasion) -> Self:
        """This engine, asked under these circumstances: the same store, copies and notes."""
        view = copy(self)
        view.occasion = occasion
        return view

    async def remember(self, scope: Scope, fields: Mapping[str, Any], *, as_admin: bool = False) -> Receipt:
        receipt = await remember.remember(self, scope, fields, as_admin=as_admin)
        self.heard("wrote", {"outcome": receipt.outcome, "reason": receipt.reason or ""})
        maintain.note_write(self, scope, fields)
        return receipt

    async def recall(self, scope: Scope, query: Query) -> Recall:
        recalled = await recall.recall(self, scope, query)
        self.heard("recalled", telling.of_recall(recalled))
        return recalled

    async def recall_softly(self, scope: Scope, query: Query) -> Recall:
        """`recall`, within the limit of questions a minute; beyond it an earlier answer or none."""
        recalled = await limits.recall_softly(self, scope, query)
        self.heard("rate_limited" if recalled.trace.rate_limited else "recalled", telling.of_recall(recalled))
        return recalled

    def passed_over(self, scope: Scope, hits: Iterable[Hit], used: Iterable[Target]) -> None:
        """Of these hits only the `used` ones were shown to anybody: the others don't count as accessed."""
        recall.passed_over(self, scope, hits, used)

    async def get(self, scope: Scope, id: str) -> Memory:
        return await browse.get(self, scope, id)

    async def list(self, scope: Scope, listing: Listing) -> Page[Memory]:
        return await browse.list_memories(self, scope, listing)

    async def themes(self, scope: Scope) -> Sequence[Theme]:
        return await browse.themes(self, scope)

    async def why(self, scope: Scope, id: str) -> Provenance:
        return await browse.why(self, scope, id)

    async def embedding_status(self, scope: Scope, targets: Sequence[Target]) -> dict[Target, EmbeddingStatus]:
        return await browse.embedding_status(self, scope, targets)

    async def conversations(self, scope: Scope, limit: int, offset: int) -> Page[Conversation]:
        return await browse.conversations(self, scope, limit, offset)

    async def conversation(self, scope: Scope, session_id: str, limit: int) -> tuple[Conversation, Sequence[Message]]:
        return await browse.conversation(self, scope, session_id, limit)

    async def used(self, scope: Scope, session_id: str) -> Sequence[tuple[Use, Memory]]:
        """The memories that the replies of a conversation were made with."""
        return await browse.used(self, scope, session_id)

    async def working(self, scope: Scope, session_id: str) -> WorkingMemory:
        return await working.seen(self, scope, session_id)

    async def audit_trail(self, scope: Scope, limit: int, offset: int) -> Page[AuditEvent]:
        return await browse.audit_trail(self, scope, limit, offset)

    async def spaces(self, tenant: str, user: str) -> Sequence[str]:
        return await control.spaces(self, tenant, user)

    async def space_settings(self, scope: Scope) -> SpaceSettings:
        return await control.space_settings(self, scope)

    async def change_settings(self, scope: Scope, changes: Mapping[str, Any]) -> SpaceSettings:
        settings = await control.change_settings(self, scope, changes)
        if "memory_enabled" in changes:
            self.heard("acted", {"action": "memory_on" if settings.memory_enabled else "memory_off"})
        return settings

    async def start_incognito(self, scope: Scope, session_id: str | None = None) -> str:
        self.heard("acted", {"action": "incognito_start"})
        return await control.start_incognito(self, scope, session_id)

    async def end_incognito(self, scope: Scope, session_id: str) -> None:
        self.heard("acted", {"action": "incognito_end"})
        await control.end_incognito(self, scope, session_id)
        self.asides.end(scope, session_id)
        self.sessions.forget(scope, session_id)

    async def is_incognito(self, scope: Scope, session_id: str) -> bool:
        return await control.is_incognito(self, scope, session_id)

    async def revise(self, scope: Scope, id: str, changes: Mapping[str, Any]) -> Memory:
        memory = await revise.revise(self, scope, id, changes)
        if "pinned" in changes:
            self.heard("acted", {"action": "pin" if memory.pinned else "unpin"})
        return memory

    async def repeats(self, scope: Scope, memory_id: str) -> Sequence[Repeat]:
        return await merging.repeats(self, scope, memory_id)

    async def unmerge(self, scope: Scope, memory_id: str, repeat_id: str) -> Memory:
        return await merging.unmerge(self, scope, memory_id, repeat_id)

    async def conflicts(self, scope: Scope, limit: int = 100) -> Sequence[tuple[Memory, Memory]]:
        return await disputes.conflicts(self, scope, limit)

    async def resolve_conflict(self, scope: Scope, id: str, keep: str) -> Memory:
        return await disputes.resolve(self, scope, id, keep)

    async def forget(self, scope: Scope, ids: Sequence[str]) -> ForgetReceipt:
        receipt = await forget.forget(self, scope, ids)
        self.heard("acted", {"action": "delete", "count": receipt.memories})
        return receipt

    async def unsay(self, scope: Scope, id: str) -> ForgetReceipt:
        """Forget a memory, the message it was told in, and every message that tells it again."""
        return await unsaying.unsay_one(self, scope, id)

    async def archive(self, scope: Scope, ids: Sequence[str]) -> Sequence[Memory]:
        return await archive.archive(self, scope, ids)

    async def restore(self, scope: Scope, id: str) -> Memory:
        return await archive.restore(self, scope, id)

    async def maintain(
        self,
        scope: Scope,
        *,
        dry_run: bool = False,
        roll_up: bool = False,
        tags: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Upkeep:
        """Do what keeps a space in order: expire, trim, end what is over; on request sum up what is old, and propose tags."""
        return await maintain.maintain(self, scope, dry_run=dry_run, roll_up=roll_up, tags=tags, progress=progress)

    async def health(self, scope: Scope) -> Health:
        return await health.health(self, scope)

    async def mend(
        self,
        scope: Scope,
        concerns: Sequence[str],
        *,
        dry_run: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> Upkeep:
        return await health.mend(self, scope, concerns, dry_run=dry_run, progress=progress)

    async def undo_rollup(self, scope: Scope, id: str) -> Sequence[Memory]:
        return await rollup.undo(self, scope, id)

    async def clear(self, scope: Scope) -> ForgetReceipt:
        return await forget.clear(self, scope)

    async def forget_conversation(self, scope: Scope, session_id: str) -> ForgetReceipt:
        self.asides.end(scope, session_id)
        self.sessions.forget(scope, session_id)
        return await forget.forget_conversation(self, scope, session_id)

    async def erase_user(
        self, tenant: str, user: str, progress: Callable[[ForgetReceipt], None] | None = None
    ) -> ForgetReceipt:
        self.asides.erase(tenant, user)
        return await forget.erase_user(self, tenant, user, progress)

    async def add_turns(self, scope: Scope, session_id: str, turns: Iterable[Mapping[str, Any]]) -> TurnsReceipt:
        return await converse.add_turns(self, scope, session_id, turns)

    async def take_in(self, scope: Scope, session_id: str, turns: Iterable[Mapping[str, Any]]) -> TakenIn:
        """`add_turns`, and remember what their speakers say of themselves: at once by rules, or later by a model."""
        return await extract.take_in(self, scope, session_id, turns)

    async def converse(
        self, scope: Scope, text: str, *, session_id: str | None = None, message_id: str | None = None
    ) -> Talk:
        """Begin one turn of a chat: its message is stored when this returns, its reply comes as events."""
        return await chat.converse(self, scope, text, session_id=session_id, message_id=message_id)

    async def ask_data(self, scope: Scope, asked: AskData) -> DataReply:
        """Answer a question over data in the light of what this person asked before and may still see."""
        return await ask.ask(self, scope, asked)

    async def data_conversations(self, scope: Scope, asked: AskData, limit: int, offset: int) -> Page[Talked]:
        return await showing.conversations(self, scope, await recalling.access_of(self, scope, asked), limit, offset)

    async def data_conversation(self, scope: Scope, asked: AskData, session_id: str) -> Talked:
        return await showing.conversation(self, scope, await recalling.access_of(self, scope, asked), session_id)

    async def forget_data_conversation(self, scope: Scope, session_id: str) -> ForgetReceipt:
        return await showing.forget(self, scope, session_id)

    async def export_data(self, scope: Scope, asked: AskData) -> dict[str, Any]:
        return await showing.export(self, scope, await recalling.access_of(self, scope, asked))

    async def erase_data(self, scope: Scope) -> ForgetReceipt:
        return await showing.erase(self, scope)

    async def shown(self, scope: Scope, session_id: str, things: Iterable[Memory | Message | str]) -> None:
        """These reached a prompt as memory in this session: when they come back, they are no news."""
        await working.show(self, scope, session_id, things)

    async def propose_tags(self, scope: Scope, most: int = 1000) -> int:
        """Give memories with few tags those their nearest neighbours share; returns how many got some."""
        return await enrich.propose_tags(self, scope, most)

    async def on_topic(self, scope: Scope, session_id: str | None, query: Query) -> Query:
        """The question with its session's topic, which ranks what is on topic higher."""
        return await working.on_topic(self, scope, session_id, query)

    def export(self, scope: Scope, session_id: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """Everything, or one conversation with what is remembered from it."""
        if session_id is not None:
            return export.export_conversation(self, scope, session_id)
        return export.export(self, scope)

    async def import_lines(
        self, scope: Scope, lines: Iterable[Mapping[str, Any]], *, as_admin: bool = False
    ) -> ImportReceipt:
        self.debts.wrote.add(scope)
        return await export.import_lines(self, scope, lines, as_admin=as_admin)

    async def flush(self, scope: Scope, timeout: float | None = None) -> None:
        await embed.flush(self, scope, timeout)
        await elsewhere.settle(self)
        with suppress(RecollectError):
            await self.notes.write(self.store, self.clock)

    async def settle_debts(self, *, at_once: bool = False) -> None:
        """What may wait until nobody does: what was noted of reads, keeping within bounds, cleaning up after corrections."""
        now = self.clock.now()
        last, every = self.debts.settled_at, self.config.notes_every
        if at_once or last is None or is_due(last + every, now, every):
            self.debts.settled_at = now
            await self.notes.write(self.store, self.clock)
            await maintain.settle(self)
            await sweep.sweep(self)
            await elsewhere.settle(self)
        await (maintain.scrub(self) if at_once else scrub_in_passing(self))

    async def close(self) -> None:
        """Let go of everything, whatever goes wrong on the way; accesses that can't be written any more are dropped."""
        async with AsyncExitStack() as parting:
            parting.push_async_callback(self.store.close)
            parting.push_async_callback(self.generations.close)
            if self.cache is not None:
                parting.push_async_callback(self.cache.close)
            if self.chat is not None:
                parting.push_async_callback(self.chat.close)
            if self.elsewhere is not None:
                parting.push_async_callback(self.elsewhere.index.close)
            parting.push_async_callback(self.desk.close)
            await self.talks.close()
            with suppress(RecollectError):
                await self.settle_debts(at_once=True)
