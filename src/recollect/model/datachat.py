"""Questions over data: what is asked, what was asked before, what the asker may see, and what came of it.

AskData -> (memory) -> DataQuestion -> (answerer) -> DataAnswer -> (memory) -> DataReply
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.model.conversation import Conversation
from recollect.model.receipt import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class DataAccess:
    """What somebody may use at this moment. None means no limit of that kind.

    Names are compared without regard to case. A table may be named alone or with its database (`sales`, `bank.sales`); a grant of
    the bare name covers every database that is granted.
    """

    databases: frozenset[str] | None = None
    tables: frozenset[str] | None = None

    def __post_init__(self) -> None:
        for kind in ("databases", "tables"):
            names = getattr(self, kind)
            if names is not None:
                object.__setattr__(self, kind, frozenset(name.lower() for name in names))

    def allows(self, tables: Iterable[str], databases: Iterable[str] = ()) -> bool:
        """Whether all of these may be used: one table that isn't granted closes the whole."""
        return all(map(self._allows_table, tables)) and all(map(self._allows_database, databases))

    def _allows_database(self, name: str) -> bool:
        return self.databases is None or name.lower() in self.databases

    def _allows_table(self, name: str) -> bool:
        database, _, bare = name.lower().rpartition(".")
        if database and not self._allows_database(database):
            return False
        return self.tables is None or bool({name.lower(), bare} & self.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An earlier question of somebody and its answer, as it is remembered."""

    question: str
    answer: str
    sql: str | None = None
    explanation: str | None = None
    tables: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    result: Any = None
    session_id: str | None = None
    message_id: str | None = None
    """Of the question; the answer's follows from it."""
    asked_at: datetime | None = None
    grounds: tuple[str, ...] = ()
    """What somebody must be allowed to use to see it (see `Message.grounds`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataQuestion:
    """What an answerer gets: the question as asked, the same with its context, and the exchanges the context was made of.

    `history` is this conversation, oldest first; `similar` are close questions of earlier conversations. Both are already
    filtered by `access`. `options` are the caller's own parameters, passed through. `authorization` is the caller's own header:
    an answerer that asks another server asks in the caller's name.
    """

    question: str
    augmented: str
    history: tuple[Exchange, ...] = ()
    similar: tuple[Exchange, ...] = ()
    access: DataAccess = DataAccess()
    options: Mapping[str, Any] = field(default_factory=dict)
    authorization: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataAnswer:
    """What came of it. `answered` is False when the answerer says that it can't; `answer` then says why, in words."""

    answer: str
    answered: bool = True
    sql: str = ""
    explanation: str = ""
    tables: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    result: Mapping[str, Any] = field(default_factory=dict)
    """`{"columns": [...], "rows": [[...], ...], "row_count": n, "truncated": bool}`, or what the other server gave."""
    related: tuple[str, ...] = ()
    tokens: Mapping[str, int] = field(default_factory=dict)
    graph: str = ""
    sql_s: float = 0.0
    search_s: float = 0.0
    model_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskData:
    """A question as somebody asks it. None means: as configured."""

    question: str
    session_id: str | None = None
    session_name: str | None = None
    use_memory: bool = True
    max_history: int | None = None
    similar: int | None = None
    databases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    claims: Mapping[str, Any] = field(default_factory=dict)
    """What the caller's token says of them, if they came with one."""
    authorization: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsed:
    """How much of the memory an answerer was shown. A past question counts once, with its answer."""

    history: int = 0
    similar: int = 0
    tokens: int = 0
    truncated: bool = False
    degraded: tuple[str, ...] = ()
    """Parts of the memory that could not be used: `history`, `similar`, `permissions`, `storing`, or a part of recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talked:
    """A data conversation as far as somebody may see it: its name and count give away nothing that they may not."""

    conversation: Conversation
    exchanges: tuple[Exchange, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DataReply:
    """An answer over data, and what the memory had to do with it."""

    answer: DataAnswer
    talk: Talked | None = None
    """None where nothing is kept; `reason` says why, unless memory isn't used here at all."""
    used: ContextUsed = ContextUsed()
    reason: Refusal | None = None
    warnings: tuple[str, ...] = ()
    retrieval_s: float = 0.0
    total_s: float = 0.0
