"""The embedding queue on Postgres, and who joins the vector index.

Inserting a vector into the graph costs milliseconds, and a scope that is searched exactly never walks it. So the vectors of
small scopes stay outside. When a scope has grown large, every new vector takes a few older ones along: nobody waits for all of
them at once, and until the last has joined, those outside are searched exactly beside the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from recollect.model import EmbeddingJob
from recollect.ports import Vector
from recollect.stores.postgres.session import PostgresSession
from recollect.stores.sql.embeddings import SqlEmbeddings

TOGETHER: Final = 4  # how many join for each vector that is new, itself included
AT_ONCE: Final = 200  # by one statement: well within the time a statement may take

_JOIN = """
WITH next AS (
  SELECT kind, target_id FROM embeddings
  WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND space = %(space)s AND generation = %(generation)s
    AND state = 'ready' AND NOT large LIMIT %(most)s
)
UPDATE embeddings e SET large = true FROM next
WHERE e.tenant_id = %(tenant_id)s AND e.user_id = %(user_id)s AND e.space = %(space)s AND e.generation = %(generation)s
  AND e.kind = next.kind AND e.target_id = next.target_id
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
        while count > 0:
            most = min(count, AT_ONCE)
            joined = len(self._session.query(_JOIN, {**self._owner, "generation": generation, "most": most}))
            if joined < most:
                return
            count -= joined
