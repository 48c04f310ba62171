"""What belongs to no user, on Postgres. Row-level security holds for jobs as well, so what spans users is done by functions that
the migration made (see `migrations.postgres_ddl`)."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from recollect.errors import Conflict
from recollect.model import Backlog, Generation, GenerationState
from recollect.stores.postgres.session import PostgresSession
from recollect.stores.sql.embeddings import backlog_of
from recollect.stores.sql.system import SqlSystem
from recollect.stores.sql.tables import generations

_STATE = select(generations.c.state).where(generations.c.id == bindparam("id"))


class PostgresSystem(SqlSystem):
    _session: PostgresSession

    def add_generation(self, generation: Generation) -> None:
        super().add_generation(generation)
        self._unhurried("SELECT recollect_prepare_generation(%(id)s::text)", generation.id)

    def drop_generation(self, id: str) -> None:
        if self._session.row(_STATE, {"id": id}) == (GenerationState.SERVING.value,):
            raise Conflict("this embedding generation is serving; make another one serve before dropping it")
        self._unhurried("SELECT recollect_drop_generation(%(id)s::text)", id)

    def backlog(self, generation: str) -> Backlog:
        statement = "SELECT pending, error, retrying, oldest FROM recollect_backlog(%(id)s::text)"
        return backlog_of(self._session.query(statement, {"id": generation})[0])

    def _unhurried(self, statement: str, id: str) -> None:
        """Run what takes as long as there are rows: the timeout that protects recalls isn't meant for it."""
        with self._session.unhurried():
            self._session.query(statement, {"id": id})
