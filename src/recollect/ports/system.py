"""What the engine asks of a store that belongs to nobody: embedding generations, which scopes have work waiting, keys, what the
files are owed. It never returns content.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.model import ApiKey, Backlog, Generation, GenerationState, Look, ProviderConfig, Scope


class System(Protocol):
    """What belongs to no user. Ids, counts and clocks only."""

    def generations(self) -> Sequence[Generation]: ...

    def add_generation(self, generation: Generation) -> None:
        """Also prepares whatever index that generation's vectors need."""

    def set_generation(self, id: str, state: GenerationState) -> None:
        """Making one `serving` retires the one that was, in the same transaction."""

    def drop_generation(self, id: str) -> None:
        """Remove a retired generation and its vectors."""

    def scopes(
        self, after: Scope | None, limit: int, tenant: str | None = None, user: str | None = None
    ) -> Sequence[Scope]:
        """Every scope that exists (of that tenant, of that user), in a stable order, in pages."""

    def waiting(self, at: datetime, limit: int, *, ahead: datetime | None = None) -> Sequence[Scope]:
        """Scopes with embedding work of any generation due now, longest waiting first; not those where memory is off. At the end
        those whose work is put off beyond `ahead`, as `Embeddings.claim` has it."""

    def next_due(self) -> datetime | None:
        """When the next embedding work of anyone is due; None when there is none."""

    def backlog(self, generation: str) -> Backlog: ...

    def scrub_owed(self) -> datetime | None:
        """Since when something removed has been waiting to leave the files; None when nothing does."""

    def keys(self) -> Sequence[ApiKey]:
        """All keys, revoked and expired ones included, oldest first."""

    def add_key(self, key: ApiKey) -> None: ...

    def find_key(self, secret_hash: str) -> ApiKey | None: ...

    def revoke_key(self, id: str, at: datetime) -> None:
        """`NotFound` when there is no such key; revoking twice keeps the first time."""

    def touch_key(self, id: str, at: datetime) -> None: ...

    def provider(self) -> ProviderConfig | None:
        """The embedding provider an administrator configured; its API key as it was given, that is, encrypted."""

    def save_provider(self, config: ProviderConfig | None) -> None: ...

    def keep_look(self, look: Look, since: datetime) -> None:
        """Keep it, one a minute of each run: a later one takes the place of an earlier one. What is older than `since` goes."""

    def looks(self, since: datetime, step: int, limit: int) -> Sequence[Look]:
        """Oldest first, of every run the first and the last one within each `step` minutes; where `limit` cuts, the latest."""
