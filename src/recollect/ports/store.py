"""What the engine asks of a store.

A transaction is a plain function. `store.write(scope, work)` runs `work(tx)` in one transaction of that scope, on the store's own
thread, and commits when it returns. So a verb's decisions read as straight-line code, a client that goes away can't leave
one half done, and a store is free to batch several of them into one commit. `work` may run again after a lost race, so it
must not have effects of its own.

Every method of `Tx` sees its own scope only; there is no way to name another. `System` (a file of its own) is for what belongs to
nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.model import (
    AuditEvent,
    Backlog,
    Changes,
    Conversation,
    Declaration,
    EmbeddingJob,
    EmbeddingStatus,
    Entry,
    Filter,
    Flag,
    ForgetReceipt,
    Found,
    Listing,
    Memory,
    Message,
    Page,
    Repeat,
    Scope,
    Scores,
    SpaceSettings,
    Target,
    Theme,
    Tombstone,
    Use,
    WorkingMemory,
)
from recollect.ports.system import System

T = TypeVar("T")
Vector = NDArray[np.float32]


class Memories(Protocol):
    def insert(self, memory: Memory, digest: str) -> None:
        """Add a memory. `digest` is the keyed hash of its normalised content. An id already in use raises `Conflict`."""

    def get(self, ids: Iterable[str]) -> dict[str, Memory]: ...

    def list(self, listing: Listing) -> Page[Memory]: ...

    def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        """All memories of any status in id order, in pages: for exports and jobs."""

    def twin(self, digest: str) -> Memory | None:
        """The active memory with exactly this normalised content."""

    def near(self, simhash: int, distance: int, limit: int) -> Sequence[Memory]:
        """Active memories whose SimHash differs in at most `distance` (≤ 3) bits, found through the band index; equal ones
        through an index of their own, at a cost that doesn't depend on how many there are."""

    def keyed(self, key: str) -> Sequence[Memory]:
        """Active memories stored under `key`."""

    def replace(self, memory: Memory, digest: str) -> None:
        """Write every field of an existing memory."""

    def touch(self, ids: Iterable[str], at: datetime) -> None:
        """Count an access for each time an id is listed."""

    def rate(self, scores: Mapping[str, Scores]) -> None:
        """Keep the ranking that memories got last; ids that are gone are passed over."""

    def descendants(self, ids: Iterable[str]) -> Sequence[Memory]:
        """Memories that name one of `ids` among their `source_ids` or as the one they supersede."""

    def from_messages(self, message_ids: Iterable[str]) -> Sequence[Memory]:
        """Memories whose `source_message_id` is one of these."""

    def delete(self, ids: Iterable[str]) -> int:
        """Remove memories, and with them all that `Links` knows of them."""


class Links(Protocol):
    """What ties memories to each other. Nothing here outlives the memory it belongs to."""

    def keep(self, repeat: Repeat) -> None:
        """Add a telling of a memory, or write it anew."""

    def last_place(self, memory_id: str) -> int | None:
        """The highest place among the tellings of a memory; None when none are kept."""

    def repeats(self, memory_ids: Iterable[str]) -> Sequence[Repeat]:
        """All tellings of these memories, by memory, place and id."""

    def repeats_from(self, message_ids: Iterable[str]) -> Sequence[Repeat]:
        """Tellings whose `source_message_id` is one of these."""

    def drop(self, memory_id: str, repeat_ids: Iterable[str]) -> int:
        """Remove tellings of one memory."""

    def flag(self, flags: Sequence[Flag]) -> None:
        """Note that two memories may not both be true; what is noted already stays."""

    def flagged(self, memory_ids: Iterable[str]) -> Sequence[Flag]:
        """Flags that name one of these on either side, oldest first."""

    def all_flags(self, limit: int) -> Sequence[Flag]:
        """Newest first."""

    def unflag(self, flags: Iterable[Flag]) -> int: ...

    def state(self, memory_id: str, slots: Iterable[str]) -> None:
        """Say anew which slots a memory fills: digests of what it is about, so that another value for it finds it."""

    def stating(self, slots: Iterable[str], limit: int) -> Sequence[str]:
        """Ids of active memories that fill one of these slots, newest first."""

    def use(self, uses: Sequence[Use]) -> None:
        """Note that replies were made with memories. A note goes with its memory, and with its message."""

    def uses(self, memory_id: str, limit: int) -> Sequence[Use]:
        """The replies that were made with this memory, newest first."""

    def used_by(self, message_ids: Iterable[str]) -> Sequence[Use]:
        """The memories that these replies were made with, by message and reference."""

    def scan_uses(self, after: Use | None, limit: int) -> Sequence[Use]:
        """A page of all of them, in the order of their memories' and messages' ids, from the one after `after` on."""


class Conversations(Protocol):
    def open(self, conversation: Conversation) -> Conversation:
        """The stored conversation of that id; if there is none, this one becomes it."""

    def get(self, id: str) -> Conversation | None: ...

    def list(self, limit: int, offset: int) -> Page[Conversation]:
        """Most recently updated first."""

    def scan(self, after: str | None, limit: int) -> Sequence[Conversation]: ...

    def replace(self, conversation: Conversation) -> None: ...

    def append(self, messages: Sequence[Message]) -> None:
        """Add messages whose ids are new; the conversation's `message_count` becomes at least the last order + 1."""

    def messages(self, ids: Iterable[str]) -> dict[str, Message]: ...

    def history(
        self, session_id: str, limit: int, before: int | None = None, *, results: bool = True
    ) -> Sequence[Message]:
        """The last `limit` messages (those with `order < before`, if given), oldest first. Without `results` their
        `execution_result`, by far the largest part of an answer over data, stays unread."""

    def delete(self, ids: Iterable[str]) -> int:
        """Remove conversations and their messages; index entries and vectors are the caller's to drop first."""

    def delete_messages(self, ids: Iterable[str]) -> int: ...


class Index(Protocol):
    def put(self, entries: Sequence[Entry]) -> None:
        """Add or replace entries; each gets the scope's next revision."""

    def drop(self, targets: Iterable[Target]) -> int: ...

    def changes(self, since: int, generation: str | None, most: int) -> Changes:
        """What has changed after revision `since`. With more than `most` entries in the scope, counts only, no items."""

    def lexical(self, terms: Sequence[str], filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        """Best first. Any of the terms may match; one ending in `*` matches as a prefix, one of several words parted by single
        spaces where these stand side by side. Expired entries never match."""

    def dense(self, vector: Vector, generation: str, filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        """Nearest first by cosine, over ready vectors of that generation. Filters never make results go missing."""

    def entries(self, targets: Iterable[Target]) -> dict[Target, Entry]: ...

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many entries of this scope each term occurs."""


class Embeddings(Protocol):
    def queue(self, hashes: Mapping[Target, str], generation: str, at: datetime) -> None:
        """Mark targets as to be embedded (again); a ready vector of the same content hash stays as it is."""

    def claim(
        self, generation: str, at: datetime, lease: timedelta, limit: int, *, ahead: datetime | None = None
    ) -> Sequence[EmbeddingJob]:
        """Take due work, oldest first, for `lease`; what is not settled by then is claimable again. What is put off beyond
        `ahead` was by a clock that ran ahead, and is due, too."""

    def settle(self, done: Sequence[tuple[EmbeddingJob, Vector]], at: datetime) -> int:
        """Store vectors whose target's content hash still matches; their entries get a new revision."""

    def fail(self, jobs: Sequence[EmbeddingJob], error: str, retry_at: datetime | None, at: datetime) -> None:
        """State `error`; due again at `retry_at`, or never."""

    def status(self, targets: Iterable[Target], generation: str) -> dict[Target, EmbeddingStatus]: ...

    def ready(self, targets: Iterable[Target], generation: str) -> dict[Target, Vector]:
        """The vectors that are made, as they are stored."""

    def enqueue_missing(self, generation: str, at: datetime, limit: int) -> int:
        """Queue up to `limit` entries that have no row in this generation yet."""

    def backlog(self, generation: str) -> Backlog: ...

    def drop(self, targets: Iterable[Target]) -> int:
        """Remove vectors and jobs of every generation."""


class Space(Protocol):
    def settings(self) -> SpaceSettings: ...

    def save_settings(self, settings: SpaceSettings) -> None: ...

    def themes(self) -> Sequence[Theme]:
        """With counts of active memories, largest first."""

    def save_theme(self, theme: Theme) -> None: ...

    def open_theme(self, theme: Theme) -> None:
        """Create the theme if its slug is new; leave it alone otherwise."""

    def drop_theme(self, slug: str) -> None: ...

    def bury(self, tombstones: Sequence[Tombstone]) -> None: ...

    def buried(self, digest: str, at: datetime) -> Tombstone | None: ...

    def exhume(self, before: datetime) -> int:
        """Remove tombstones that expired before this time."""

    def graves(self, before: datetime) -> int:
        """How many tombstones `exhume` would remove."""

    def tombstones(self, after: str | None, limit: int) -> Sequence[Tombstone]:
        """All of them by digest, expired ones too, in pages: for moving a scope to another store."""

    def record(self, event: AuditEvent) -> None: ...

    def audit(self, limit: int, offset: int) -> Page[AuditEvent]: ...

    def known(self) -> bool:
        """Whether this scope held anything when the transaction began."""

    def incognito(self, session: str) -> bool | None:
        """Whether this session (a digest of its id) was declared incognito in any space of this user, or expressly not in this
        one; None when nothing was said."""

    def declare_incognito(self, session: str, incognito: bool | None, at: datetime) -> None:
        """Say so in this space; or with None take back what was said here, and in every space that it is incognito."""

    def declared(self, before: datetime) -> int:
        """How many sessions were declared incognito or not before this time, and never since."""

    def drop_declared(self, before: datetime) -> int:
        """Take back what was said of these."""

    def declarations(self, after: str | None, limit: int) -> Sequence[Declaration]:
        """What was said of sessions in this space, by session, in pages."""

    def keep_declarations(self, declarations: Sequence[Declaration]) -> None:
        """Put down what was said elsewhere; what is known of a session in this space stays, and so do other spaces."""

    def sharing(self) -> Mapping[str, tuple[str, ...]]:
        """This user's other spaces that share something with this one, by name, with the tags they share."""

    def working(self, session_id: str) -> WorkingMemory | None: ...

    def save_working(self, working: WorkingMemory) -> None: ...

    def drop_working(self, session_ids: Iterable[str]) -> int: ...

    def workings(self, after: str | None, limit: int) -> Sequence[WorkingMemory]:
        """All of them by session, in pages."""

    def idle_working(self, before: datetime, limit: int) -> Sequence[WorkingMemory]: ...


class Tx(Protocol):
    """One transaction of one scope."""

    @property
    def scope(self) -> Scope: ...
    @property
    def memories(self) -> Memories: ...
    @property
    def links(self) -> Links: ...
    @property
    def conversations(self) -> Conversations: ...
    @property
    def index(self) -> Index: ...
    @property
    def embeddings(self) -> Embeddings: ...
    @property
    def space(self) -> Space: ...

    def erase(self) -> ForgetReceipt:
        """Remove everything this scope holds, settings and audit trail included."""

    def owe_scrub(self, at: datetime) -> None:
        """What this transaction removes or rewrites is to leave the files, too: owed from its commit until a `scrub` did it."""


class Capability(StrEnum):
    """Where stores differ, by name, so that tests and doctors can say so instead of guessing."""

    DURABLE = "durable"
    FULL_TEXT = "full_text"
    APPROXIMATE_VECTORS = "approximate_vectors"
    ROW_LEVEL_SECURITY = "row_level_security"
    MANY_PROCESSES = "many_processes"
    SCRUBS = "scrubs"


class Store(Protocol):
    @property
    def capabilities(self) -> frozenset[Capability]: ...

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        """Run `work` over one consistent snapshot. It must not write."""

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        """Run `work` in one transaction; writers of one scope run one after another. A scope that holds nothing isn't there:
        work that comes late for someone who was erased doesn't bring their name back."""

    async def system(self, work: Callable[[System], T]) -> T: ...

    async def scrub(self, *, however_long: bool = False) -> bool:
        """Get what is owed out of files and index segments, as far as this store can; whether nothing is owed any more. What
        takes longer than anybody waits for an answer is left, unless somebody says `however_long`."""

    async def close(self) -> None: ...
