"""The library's face for asynchronous programs: `AsyncMemory`. `recollect.sync` gives the same to everyone else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from recollect.bootstrap import Running, open_engine
from recollect.engine.arguments import (
    checked_choices,
    checked_history,
    checked_kinds,
    checked_reference,
    checked_seconds,
    checked_turns,
    checked_words,
)
from recollect.engine.chatting.talks import Talk
from recollect.engine.remembering.drafts import checked_switch, checked_time
from recollect.errors import InvalidInput, Unavailable
from recollect.model import (
    KINDS,
    Filter,
    ForgetReceipt,
    Health,
    ImportReceipt,
    Kind,
    Listing,
    MemoryType,
    Page,
    Query,
    Recall,
    Receipt,
    Repeat,
    Scope,
    Status,
    TakenIn,
    Theme,
    TurnsReceipt,
    Upkeep,
)
from recollect.model import (
    Memory as MemoryRecord,
)
from recollect.policy.guard import checked_count, checked_label, checked_labels, slug
from recollect.policy.render import Block, context_block
from recollect.settings import Settings

MOST_RESULTS = 1000
MOST_TOKENS = 2**53


class AsyncMemory:
    """A person's memory, asynchronously. Opens on first use; safe from many tasks at once.

    `url` is a SQLite path (text or a path object), `sqlite://…`, `postgresql://…` or `memory://`; by default the file in the data
    folder. Further settings are taken by name (see `recollect.settings.Settings`), the rest from the environment.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] | None = None,
        user: str | None = None,
        space: str | None = None,
        *,
        tenant: str | None = None,
        **settings: Any,
    ) -> None:
        self._settings = Settings.load(store=url, user=user, space=space, tenant=tenant, **settings)
        self.scope = Scope(self._settings.tenant, self._settings.user, self._settings.space)
        self._running: Running | None = None
        self._opening: asyncio.Lock | None = None
        self._closed = False
        self._shared = False

    async def _open(self) -> Running:
        if self._closed:
            raise Unavailable("this memory is closed; open a new one")
        if self._running is None:
            if self._opening is None:
                self._opening = asyncio.Lock()
            async with self._opening:
                if self._running is None:
                    self._running = await open_engine(self._settings)
        return self._running

    async def at(self, user: str | None = None, space: str | None = None, tenant: str | None = None) -> Self:
        """The same store and model for another user or space, without opening anything twice."""
        running = await self._open()
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _running=running, _shared=True)
        other.scope = Scope(
            self.scope.tenant if tenant is None else tenant,
            self.scope.user if user is None else user,
            self.scope.space if space is None else space,
        )
        return other

    async def add(self, text: str, **fields: Any) -> Receipt:
        """Remember something. The receipt says what became of it; it can be found as soon as this returns.

        Fields: type, tags, theme, key, value, pinned, importance, confidence, source, expires_at, …
        """
        running = await self._open()
        return await running.engine.remember(self.scope, {"content": text, **fields})

    async def add_turns(self, session_id: str, turns: Iterable[Mapping[str, Any]]) -> TurnsReceipt:
        """Keep turns of a conversation word for word: `{role, content, name?, created_at?, id?}` each."""
        running = await self._open()
        return await running.engine.add_turns(self.scope, session_id, checked_turns(turns))

    async def take_in(self, session_id: str, turns: Iterable[Mapping[str, Any]]) -> TakenIn:
        """`add_turns`, and remember what their speakers say of themselves: at once by rules, or, where a chat model is
        configured, in the background. Says what was remembered and why the rest was not."""
        running = await self._open()
        return await running.engine.take_in(self.scope, session_id, checked_turns(turns))

    async def chat(self, text: str, *, session_id: str | None = None, message_id: str | None = None) -> Talk:
        """Say something in a conversation; a new one begins without `session_id`. The message is stored when this returns.

        `async for piece in talk.words()` gives the reply as it is said, `async for event in talk` everything that happens,
        `await talk.whole()` all of it at once. The configured chat model answers, with what is remembered; without one the memory
        itself does. "Forget that", "pin this", "turn memory off" and the like are carried out. The reply is stored, followed or
        not; `talk.leave()` ends it early. The same `message_id` twice is one message.
        """
        running = await self._open()
        return await running.engine.converse(self.scope, text, session_id=session_id, message_id=message_id)

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        kinds: Sequence[Kind] = KINDS,
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        themes: Sequence[str] = (),
        sessions: Sequence[str] = (),
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        min_relevance: float | None = None,
        token_budget: int | None = None,
        recipe: str = "native",
        now: datetime | str | None = None,
        topic: str | None = None,
        history: Sequence[str] = (),
    ) -> Recall:
        """Find what belongs to a question, best first. Each hit says why it is there."""
        running = await self._open()
        asked = Query(
            text=query,
            recipe=checked_label(recipe, "recipe"),
            limit=None if limit is None else checked_count(limit, "limit", 1, MOST_RESULTS),
            filter=Filter(
                kinds=checked_kinds(kinds),
                types=checked_choices(types, MemoryType, "types"),
                tags=checked_labels(tags, "tags"),
                themes=tuple(slug(theme) for theme in checked_labels(themes, "themes")),
                sessions=checked_labels(sessions, "sessions"),
                since=None if since is None else checked_time(since, "since"),
                until=None if until is None else checked_time(until, "until"),
            ),
            min_relevance=min_relevance,
            token_budget=None if token_budget is None else checked_count(token_budget, "token_budget", 1, MOST_TOKENS),
            now=None if now is None else checked_time(now, "now"),
            topic=None if topic is None else checked_words(topic, "topic"),
            history=checked_history(history),
        )
        return await running.engine.recall(self.scope, asked)

    async def context(self, query: str, *, token_budget: int = 1000, **search: Any) -> Block:
        """What belongs to a question as a block of text for a model's prompt: delimited, escaped, within the budget.

        Empty when nothing matches. Takes what `search` takes; `block.references` says which line is which memory.
        """
        checked_count(token_budget, "token_budget", 1, MOST_TOKENS)
        recall = await self.search(query, **search)
        # Long texts take a while to count and to write out, and others may wait on the same loop.
        block = await asyncio.to_thread(context_block, recall.hits, token_budget, query=query)
        (await self._open()).engine.passed_over(self.scope, recall.hits, block.used)
        return block

    async def get(self, id: str) -> MemoryRecord:
        """One memory by its id; NotFound when it isn't here."""
        running = await self._open()
        return await running.engine.get(self.scope, checked_reference(id, "id"))

    async def list(
        self,
        *,
        limit: int = 50,
        offset: int = 0,
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        themes: Sequence[str] = (),
        statuses: Sequence[str] = ("active",),
        pinned: bool | None = None,
        manually_saved: bool | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Page[MemoryRecord]:
        """Memories, newest first, a page at a time, with the total."""
        running = await self._open()
        listing = Listing(
            types=checked_choices(types, MemoryType, "types"),
            tags=checked_labels(tags, "tags"),
            themes=tuple(slug(theme) for theme in checked_labels(themes, "themes")),
            statuses=checked_choices(statuses, Status, "statuses"),
            pinned=None if pinned is None else checked_switch(pinned, "pinned"),
            manually_saved=None if manually_saved is None else checked_switch(manually_saved, "manually_saved"),
            since=None if since is None else checked_time(since, "since"),
            until=None if until is None else checked_time(until, "until"),
            limit=checked_count(limit, "limit", 1, MOST_RESULTS),
            offset=checked_count(offset, "offset", 0, 2**53),
        )
        return await running.engine.list(self.scope, listing)

    async def themes(self) -> Sequence[Theme]:
        """The themes in use, largest first."""
        running = await self._open()
        return await running.engine.themes(self.scope)

    async def update(self, id: str, **fields: Any) -> MemoryRecord:
        """Change fields of a memory; `text` is its content."""
        if "text" in fields:
            fields["content"] = fields.pop("text")
        running = await self._open()
        return await running.engine.revise(self.scope, checked_reference(id, "id"), fields)

    async def pin(self, id: str, pinned: bool = True) -> MemoryRecord:
        """Pinned memories are never trimmed or aged away."""
        return await self.update(id, pinned=pinned)

    async def archive(self, *ids: str) -> Sequence[MemoryRecord]:
        """Take memories out of recall. They can still be seen (`statuses=("archived",)`) and restored."""
        running = await self._open()
        return await running.engine.archive(self.scope, [checked_reference(id, "id") for id in ids])

    async def restore(self, id: str) -> MemoryRecord:
        """Bring an archived memory back into recall, for good."""
        running = await self._open()
        return await running.engine.restore(self.scope, checked_reference(id, "id"))

    async def repeats(self, id: str) -> Sequence[Repeat]:
        """Every telling of a memory that was told more than once, the first one first; none when it was told once."""
        running = await self._open()
        return await running.engine.repeats(self.scope, checked_reference(id, "id"))

    async def unmerge(self, id: str, repeat_id: str) -> MemoryRecord:
        """Make one telling a memory of its own again; `repeat` of the receipt names it, and so does `repeats`."""
        running = await self._open()
        told = checked_reference(repeat_id, "repeat_id")
        return await running.engine.unmerge(self.scope, checked_reference(id, "id"), told)

    async def conflicts(self, *, limit: int = 100) -> Sequence[tuple[MemoryRecord, MemoryRecord]]:
        """Pairs that may not both be true and wait for a word, the later memory of each first, newest pairs first."""
        running = await self._open()
        return await running.engine.conflicts(self.scope, checked_count(limit, "limit", 1, MOST_RESULTS))

    async def resolve(self, id: str, keep: str) -> MemoryRecord:
        """Say which is true: `keep` is the id of that one, or "both". What isn't kept stays as history."""
        running = await self._open()
        kept = checked_reference(keep, "keep")
        return await running.engine.resolve_conflict(self.scope, checked_reference(id, "id"), kept)

    async def maintain(self, *, dry_run: bool = False, roll_up: bool = False) -> Upkeep:
        """Keep this space in order now: expire, trim, end what is over. `dry_run` only says what would be done, and why."""
        running = await self._open()
        return await running.engine.maintain(self.scope, dry_run=dry_run, roll_up=roll_up)

    async def health(self) -> Health:
        """What is wrong in this space: duplicates, contradictions, what is stale, unembedded, expired or too large."""
        running = await self._open()
        return await running.engine.health(self.scope)

    async def forget(self, *ids: str, session_id: str | None = None, everything: bool = False) -> ForgetReceipt:
        """Remove memories, or a whole conversation, or everything of this user in every space. For good."""
        if [bool(ids), session_id is not None, everything].count(True) != 1:
            raise InvalidInput("say what to forget: ids, or session_id=…, or everything=True")
        running = await self._open()
        if everything:
            return await running.engine.erase_user(self.scope.tenant, self.scope.user)
        if session_id is not None:
            return await running.engine.forget_conversation(self.scope, checked_reference(session_id, "session_id"))
        return await running.engine.forget(self.scope, [checked_reference(id, "id") for id in ids])

    async def export(self, session_id: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """Everything in this space, as JSON-ready lines that `load` takes back; or one conversation with what was learnt."""
        running = await self._open()
        one = None if session_id is None else checked_reference(session_id, "session_id")
        async for line in running.engine.export(self.scope, one):
            yield line

    async def load(self, lines: Iterable[Mapping[str, Any]]) -> ImportReceipt:
        """Take back what `export` gave. What is already there is left alone."""
        running = await self._open()
        return await running.engine.import_lines(self.scope, lines)

    async def flush(self, timeout: float | None = None) -> None:
        """Wait until everything stored so far has its embedding."""
        running = await self._open()
        await running.engine.flush(self.scope, None if timeout is None else checked_seconds(timeout, "timeout"))

    async def close(self) -> None:
        """Finish what is queued and let go of the store. Closing twice is harmless."""
        running, self._running, self._closed = self._running, None, True
        if running is not None and not self._shared:
            await running.close()

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()
