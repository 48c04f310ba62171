"""From SQL to rows for one person: the schema cut to what they may use, the guard over it, the database behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.errors import InvalidInput
from recollect.model import DataAccess, DataAnswer
from recollect.providers.answerers.chart import chart
from recollect.providers.answerers.database import Database, Rows
from recollect.providers.answerers.guard import Guard, Passed
from recollect.providers.answerers.schema import Schema, Table
from recollect.providers.answerers.telling import headline, refusal, related, told

NOTHING = "there is no table here that you may ask about"


@dataclass(frozen=True)
class Executed:
    passed: Passed
    rows: Rows


class Running:
    """One person's question at one database."""

    def __init__(self, database: Database, access: DataAccess, options: Mapping[str, Any]) -> None:
        self._database = database
        self._access = access
        self._rows = _whole(options, "vql_execute_rows_limit", database.rows)
        self._plot = bool(options.get("plot", False))

    async def schema(self) -> Schema:
        """What this person may use, now."""
        return (await self._database.schema()).only(self._allowed)

    async def run(self, sql: str, schema: Schema) -> Executed:
        """`NotAllowed` or `InvalidInput` when it can't be run as it is; both say why."""
        passed = await asyncio.to_thread(Guard(self._database.dialect, schema, self._rows).check, sql)
        return Executed(passed, await self._database.run(passed.bounded, schema, self._rows))

    def answer(
        self, done: Executed, schema: Schema, question: str, explanation: str, title: str = "", **more: Any
    ) -> DataAnswer:
        dialect = self._database.dialect
        named = title or headline(done.passed.sql, dialect) or ("结果" if not question.isascii() else "The result")
        more.setdefault("related", related(done.passed.sql, schema, dialect, question))
        return DataAnswer(
            answer=told(named, done.rows, question),
            sql=done.passed.sql,
            explanation=explanation,
            tables=tuple(each.full for each in done.passed.tables),
            databases=self._databases(done.passed.tables),
            result=done.rows.as_result(),
            graph=chart(done.rows, named) if self._plot else "",
            sql_s=done.rows.seconds,
            **more,
        )

    def _databases(self, tables: tuple[Table, ...]) -> tuple[str, ...]:
        names = {each.schema or self._database.name for each in tables}
        return tuple(sorted(filter(None, names)))

    def _allowed(self, table: Table) -> bool:
        """Grants may name it with its database or without."""
        database = table.schema or self._database.name
        return self._access.allows((f"{database}.{table.name}",), (database,))


def cannot(why: str, question: str, **more: Any) -> DataAnswer:
    return DataAnswer(answer=refusal(why, question), answered=False, **more)


def _whole(options: Mapping[str, Any], name: str, most: int) -> int:
    value = options.get(name)
    if value is None:
        return most
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"{name} must be a whole number, 1 or more")
    return min(value, most)
