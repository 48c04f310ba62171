"""One transaction of one scope: the aspects side by side over one session, and the ledger that binds them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Delete, delete, func, select

from recollect.model import EmbeddingState, ForgetReceipt, Scope
from recollect.stores.sql.conversations import SqlConversations
from recollect.stores.sql.embeddings import SqlEmbeddings
from recollect.stores.sql.expressions import fixed, own, owner
from recollect.stores.sql.index import SqlIndex
from recollect.stores.sql.ledger import Ledger
from recollect.stores.sql.links import SqlLinks
from recollect.stores.sql.memories import SqlMemories
from recollect.stores.sql.scrubs import owe
from recollect.stores.sql.session import Session
from recollect.stores.sql.space import SqlSpace
from recollect.stores.sql.tables import KEYS, embeddings, metadata

# `spaces` belongs to the ledger; conversations go after the messages that refer to them.
_OTHERS = sorted(KEYS.keys() - {"spaces"}, key=lambda name: (name == "conversations", name))
_ERASE: dict[str, Delete] = {name: delete(metadata.tables[name]).where(own(metadata.tables[name])) for name in _OTHERS}
_VECTORS = (
    select(func.count())
    .select_from(embeddings)
    .where(own(embeddings), embeddings.c.state == fixed(EmbeddingState.READY))
)


class SqlTx:
    """`ports.Tx` over a SQL session. A store calls `begin` before a write's work and `finish` after it."""

    def __init__(
        self, session: Session, scope: Scope, index: type[SqlIndex], queue: type[SqlEmbeddings] = SqlEmbeddings
    ) -> None:
        self._session = session
        self._ledger = Ledger(session, scope)
        self.owes = True
        """Whether somebody can pay what is owed to the files."""
        self._owed_at: datetime | None = None
        self.scope = scope
        self.memories = SqlMemories(session, scope, self._ledger)
        self.links = SqlLinks(session, scope, self._ledger)
        self.conversations = SqlConversations(session, scope, self._ledger)
        self.index = index(session, scope, self._ledger)
        self.embeddings = queue(session, scope, self._ledger)
        self.space = SqlSpace(session, scope, self._ledger)

    def begin(self) -> None:
        self._ledger.hold()

    def finish(self) -> None:
        if self._owed_at is not None and self.owes:
            owe(self._session, self._owed_at, self._session.touched)
        self._ledger.write()
        self._session.flush()

    def owe_scrub(self, at: datetime) -> None:
        self._owed_at = at

    def erase(self) -> ForgetReceipt:
        mine = owner(self.scope)
        vectors = self._session.rows(_VECTORS, mine)[0][0]
        removed = {name: self._session.run(statement, mine) for name, statement in _ERASE.items()}
        self._ledger.erase()
        return ForgetReceipt(
            memories=removed["memories"],
            messages=removed["messages"],
            conversations=removed["conversations"],
            index_entries=removed["entries"],
            vectors=vectors,
            tombstones=removed["tombstones"],
        )
