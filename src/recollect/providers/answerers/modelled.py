"""The answerer that has a model write the SQL: once, and once more if the first didn't run. Then it says that it can't.

When the model's server can't be reached, the rules are asked instead; if they can't answer either, the error stands.
"""

from __future__ import annotations

import asyncio
import time

from recollect.errors import InvalidInput, NotAllowed, Unavailable
from recollect.model import Completion, DataAnswer, DataQuestion, Utterance
from recollect.ports import Chat
from recollect.providers.answerers.asking import ANSWER, Proposal, conversation, honest, repaired, understood
from recollect.providers.answerers.database import Database
from recollect.providers.answerers.ruled import RuleAnswerer
from recollect.providers.answerers.running import NOTHING, Executed, Running, cannot
from recollect.providers.answerers.schema import Schema

MOST_TOKENS = 1_500
UNREADABLE = "the model's answer could not be read"


class SqlAnswerer:
    name = "sql"

    def __init__(self, database: Database, chat: Chat) -> None:
        self._database = database
        self._chat = chat
        self._rules = RuleAnswerer(database)

    async def answer(self, question: DataQuestion) -> DataAnswer:
        running = Running(self._database, question.access, question.options)
        began = time.monotonic()
        schema = await running.schema()
        if not schema.tables:
            return cannot(NOTHING, question.question)
        asked = _Asked(self._chat, time.monotonic() - began)
        try:
            return await self._asked(asked, running, schema, question)
        except Unavailable as problem:
            if asked.answers:
                raise
            fallback = await self._rules.answer(question)
            if not fallback.answered:
                raise problem from None
            return fallback

    async def close(self) -> None:
        """The model is its owner's to close: others use it as well."""
        await self._database.close()

    async def _asked(self, asked: _Asked, running: Running, schema: Schema, question: DataQuestion) -> DataAnswer:
        messages = await asyncio.to_thread(conversation, question, schema, self._database.dialect)
        why = UNREADABLE
        for attempt in (1, 2):
            text, proposal = await asked.once(messages)
            if proposal is not None and not proposal.answerable:
                return cannot(proposal.reason or "the tables don't answer it", question.question, **asked.spent())
            if proposal is not None:
                done = await self._tried(running, schema, proposal)
                if isinstance(done, Executed):
                    return await self._told(asked, running, schema, question, proposal, done)
                why = done
            if attempt == 1:
                messages = repaired(messages, text, why)
        return cannot(why, question.question, **asked.spent())

    async def _tried(self, running: Running, schema: Schema, proposal: Proposal) -> Executed | str:
        try:
            return await running.run(proposal.sql, schema)
        except (NotAllowed, InvalidInput) as problem:
            return problem.message

    async def _told(
        self,
        asked: _Asked,
        running: Running,
        schema: Schema,
        question: DataQuestion,
        proposal: Proposal,
        done: Executed,
    ) -> DataAnswer:
        title = honest(proposal.headline, question.question, done.passed.sql)
        more = asked.spent() | ({"related": proposal.related} if proposal.related else {})
        return await asyncio.to_thread(
            running.answer, done, schema, question.question, proposal.explanation, title, **more
        )


class _Asked:
    """The model's side of one question: what it said, how long it took, what it cost."""

    def __init__(self, chat: Chat, search_s: float) -> None:
        self._chat = chat
        self._search_s = search_s
        self._seconds = 0.0
        self.answers: list[Completion] = []

    async def once(self, messages: list[Utterance]) -> tuple[str, Proposal | None]:
        began = time.monotonic()
        try:
            completion = await self._chat.complete(messages, schema=ANSWER, max_tokens=MOST_TOKENS)
        finally:
            self._seconds += time.monotonic() - began
        self.answers.append(completion)
        return completion.text, understood(completion.text)

    def spent(self) -> dict[str, object]:
        used = [each.usage for each in self.answers if each.usage is not None]
        asked, said = sum(each.prompt for each in used), sum(each.completion for each in used)
        tokens = {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}
        return {"tokens": tokens, "model_s": self._seconds, "search_s": self._search_s}
