"""What the engine asks of models, caches and clocks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.model import Completion, Piece, Scope, Utterance


class Embedder(Protocol):
    """Turns texts into unit vectors. When it can't, it says why: `Unavailable` (try again), `NotAllowed` (the key),
    `InvalidInput` (the text or the model). It never returns NaN, a wrong count or a wrong size."""

    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]: ...

    async def close(self) -> None: ...


class Chat(Protocol):
    """A language model. When it can't answer, it says why: `Unavailable` (try again), `NotAllowed` (the key), `InvalidInput` (the
    request or the model's name). What it says is never trusted: it may be empty, malformed or hostile."""

    @property
    def model(self) -> str: ...

    async def complete(
        self, messages: Sequence[Utterance], *, schema: Mapping[str, Any] | None = None, max_tokens: int | None = None
    ) -> Completion:
        """A whole answer. With a JSON schema it is asked to be JSON of that shape, as firmly as its server allows."""

    def stream(self, messages: Sequence[Utterance], *, max_tokens: int | None = None) -> AsyncIterator[Piece]:
        """An answer piece by piece; the last has `finish`. Closing the iterator ends the model's work. One that breaks off
        raises `Unavailable` after the pieces that came."""

    async def close(self) -> None: ...


Judgement = Literal["replaces", "both", "unsure"]


class Judge(Protocol):
    """Says of older statements whether a new one replaces them, both are true, or that can't be told: one answer for each.

    Asked only about what rules can't decide. When it fails, nothing is decided.
    """

    async def __call__(self, new: str, old: Sequence[str]) -> Sequence[Judgement]: ...


class Cache(Protocol):
    """A place for small things that may be lost at any time. It never fails a request: what can't be reached is not there.

    Ids, hashes, counts, scores and vectors only: never text.
    """

    async def get(self, key: str) -> bytes | None: ...

    async def set(self, key: str, value: bytes, ttl_s: float) -> None: ...

    async def add(self, key: str, ttl_s: float) -> int:
        """Count up by one and return the count; the first count starts the time to live. 0 when it can't be known."""

    async def drop(self, key: str) -> None: ...

    async def close(self) -> None: ...


class SessionHashes(Protocol):
    """Copies of sessions under way that several processes share: the one place outside the database where text may be, and not
    for longer than a day.

    It never fails a request: what can't be reached is not there. Nothing is only here, and nothing here is believed that the
    database doesn't confirm. A ticket says up to which removal the one who holds it had seen: taken before the database is read,
    it keeps a late copy from bringing back what was removed meanwhile.
    """

    async def get(self, scope: Scope, session_id: str) -> Mapping[str, str] | None: ...

    async def ticket(self, scope: Scope) -> str | None:
        """None when nothing can be written now."""

    async def put(self, scope: Scope, session_id: str, fields: Mapping[str, str], ticket: str) -> None:
        """Written as a whole, for 24 hours, unless something was removed since the ticket was taken."""

    async def drop(self, scope: Scope) -> None:
        """Every session of that scope. What can't be removed now is removed later."""

    async def settle(self) -> None:
        """Try again what could not be removed."""

    async def close(self) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The present, in UTC, with a time zone."""
