"""The answerer that needs no model: the question before, adapted by rules, or a first question that says what it wants."""

from __future__ import annotations

import asyncio
import re
import time

from recollect.errors import InvalidInput, NotAllowed
from recollect.model import DataAnswer, DataQuestion
from recollect.providers.answerers.database import Database
from recollect.providers.answerers.rules import Adapted, Cannot, adapt, begin
from recollect.providers.answerers.running import NOTHING, Running, cannot
from recollect.providers.answerers.schema import Schema

# Words that only somebody says who goes on with what was asked before.
_GOING_ON = re.compile(
    r"^\W*(?:and|what about|how about|what if|also|now|then|but|same|only|just|instead|by|for|in|without|remove)\b"
    r"|\binstead\b|\b(?:them|these|those)\b|^[那再只换改也还]|呢[?？]?\s*$",
    re.IGNORECASE,
)
FEW_WORDS = 3
"""A question of so few words leans on the one before, even if it could stand alone."""


class RuleAnswerer:
    name = "rules"

    def __init__(self, database: Database) -> None:
        self._database = database

    async def answer(self, question: DataQuestion) -> DataAnswer:
        running = Running(self._database, question.access, question.options)
        began = time.monotonic()
        schema = await running.schema()
        searched = time.monotonic() - began
        if not schema.tables:
            return cannot(NOTHING, question.question)
        before = next((each.sql for each in reversed(question.history) if each.sql), None)
        found = await asyncio.to_thread(self._read, before, question.question, schema)
        if isinstance(found, Cannot):
            return cannot(found.why, question.question, search_s=searched)
        try:
            done = await running.run(found.sql, schema)
        except (NotAllowed, InvalidInput) as problem:
            return cannot(problem.message, question.question, search_s=searched)
        explanation = "Read by rules: " + "; ".join(found.changes) + "."
        return await asyncio.to_thread(running.answer, done, schema, question.question, explanation, search_s=searched)

    async def close(self) -> None:
        await self._database.close()

    def _read(self, before: str | None, question: str, schema: Schema) -> Adapted | Cannot:
        dialect = self._database.dialect
        if before is None:
            return begin(question, schema, dialect)
        if _GOING_ON.search(question) or len(question.split()) <= FEW_WORDS:
            adapted = adapt(before, question, schema, dialect)
            anew = begin(question, schema, dialect) if isinstance(adapted, Cannot) else adapted
            return anew if isinstance(anew, Adapted) else adapted
        anew = begin(question, schema, dialect)
        return anew if isinstance(anew, Adapted) else adapt(before, question, schema, dialect)
