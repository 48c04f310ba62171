"""The embedding queue on Postgres, and who joins the vector index.

Inserting a vector into the graph costs milliseconds, and a scope that is searched exactly never walks it. So the vectors of
small scopes stay outside. When a scope has grown large, every new vector takes a few older ones along: nobody waits for all of
them at once, and until the last has joined, those outside are searched exactly beside the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from recollect.model import EmbeddingJob, Target
from recollect.ports import Vector
from recollect.stores.postgres.session import PostgresSession
from recollect.stores.sql.embeddings import SqlEmbeddings
from recollect.stores.sql.index import by_kind

TOGETHER: Final = 4  # how many join for each vector that is new, itself included
AT_ONCE: Final = 200  # by one statement: well within the time a statement may take

_OUTSIDE = """
SELECT kind, target_id FROM embeddings
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND space = %(space)s AND generation = %(generation)s
  AND state = 'ready' AND NOT large LIMIT %(most)s"""
# By key and apart from the look before: as one statement Postgres, without statistics, looks again for every row of the scope.
_JOIN = """
UPDATE embeddings SET large = true
WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND space = %(space)s AND kind = %(kind)s
  AND target_id = ANY (%(ids)s) AND generation = %(generation)s
RETURNING 1"""


class PostgresEmbeddings(SqlEmbeddings):
    """`ports.Embeddings` on Postgres."""

    _session: PostgresSession

    def settle(self, done: Sequence[tuple[EmbeddingJob, Vector]], at: datetime) -> int:
        settled = super().settle(done, at)
        numbers = self._ledger.numbers()
        if settled and numbers is not None and numbers[2] >= self._session.exact_below:
            for generation in {job.generation for job, _ in done}:
                self._join(generation, TOGETHER * len(done))
        return settled

    def _join(self, generation: str, count: int) -> None:
        about = {**self._owner, "generation": generation}
        while count > 0:
            outside = self._session.query(_OUTSIDE, {**about, "most": min(count, AT_ONCE)})
            for kind, ids in by_kind(Target(kind, id) for kind, id in outside):
                self._session.query(_JOIN, {**about, "kind": kind, "ids": ids})
            if len(outside) < AT_ONCE:
                return
            count -= len(outside)
