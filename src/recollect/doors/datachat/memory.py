"""The memory of the data chat under the names its contract gives it, for programs that bring their own endpoint.

Every method is one or two of the engine's verbs. Unlike the contract's sketch it is asynchronous, and says once whose memory it
is; a `user_id` that is given names another user of the same tenant. What somebody may use is asked of the configured permissions
each time, as the endpoint does; `access` says it for the one user it was made for, and opens nothing for anybody else.

    memory = MemoryManager(engine, Scope("default", "ana"), access=DataAccess(tables=frozenset({"sales"})))
    talk = await memory.get_or_create_conversation("ana", None)
    history = await memory.get_conversation_history(talk.id)
    similar = await memory.semantic_search_memory("ana", "What about 2023?")
    context = memory.build_augmented_context("What about 2023?", history, similar)
    await memory.store_interaction(talk.id, "ana", "What about 2023?", {"answer": "…", "sql_query": "…"})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.engine import Engine
from recollect.engine.datachat import cleaning, recalling, showing, summaries
from recollect.engine.datachat.keeping import keep_answer, keep_question, open_conversation
from recollect.errors import NotFound
from recollect.model import AskData, Conversation, DataAccess, DataAnswer, Exchange, ForgetReceipt, Scope, Talked
from recollect.policy.datachat import context
from recollect.policy.ids import new_id


class MemoryManager:
    """The data chat's memory for a program of one's own, by the names its contract gives the methods."""

    def __init__(self, engine: Engine, scope: Scope, access: DataAccess | None = None) -> None:
        self._engine, self._scope, self._given = engine, scope, access

    async def get_or_create_conversation(self, user_id: str, session_id: str | None = None) -> Conversation:
        """The conversation of that id as far as it may be seen; a new one where there is none, or it has reached its end."""
        scope, id = self._of(user_id), session_id or new_id(self._engine.clock.now())
        if await recalling.silenced(self._engine, scope, id) is not None:
            return await open_conversation(self._engine, scope, id)
        talk, ended = await recalling.talk_of(self._engine, scope, id, await self._access(scope), 0)
        if talk is not None:
            return talk.conversation
        return await open_conversation(self._engine, scope, new_id(self._engine.clock.now()) if ended else id)

    async def get_conversation_history(self, conversation_id: str, max_messages: int = 10) -> list[Exchange]:
        """The last questions with their answers, oldest first; none where nothing may be recalled."""
        if await recalling.silenced(self._engine, self._scope, conversation_id) is not None:
            return []
        talk = await self._talk(conversation_id, max(0, max_messages))
        answered = [each for each in talk.exchanges if each.answer]
        return answered[-max_messages:] if max_messages > 0 else []

    async def semantic_search_memory(
        self, user_id: str, query: str, k: int = 3, conversation_id: str | None = None
    ) -> list[Exchange]:
        """Questions like this one, the likest first; of one conversation only, where it is named."""
        scope, asked = self._of(user_id), AskData(question=query, similar=k)
        found, _ = await recalling.similar_to(self._engine, scope, asked, ())
        shown = recalling.worth_showing(found, (), await self._access(scope), asked)
        return [each for each in shown if conversation_id in (None, each.session_id)][:k]

    def build_augmented_context(
        self, current_question: str, history: Sequence[Exchange], similar_memories: Sequence[Exchange]
    ) -> str:
        """The question with both before it, within the budget."""
        tokens = self._engine.config.data.context_tokens
        return context(current_question, history, similar_memories, None, tokens).text

    async def store_interaction(
        self, conversation_id: str, user_id: str, question: str, answer_data: Mapping[str, Any]
    ) -> None:
        """Keep a question and its answer, which goes by the names of the endpoint's response."""
        scope, asked = self._of(user_id), AskData(question=question)
        if await recalling.silenced(self._engine, scope, conversation_id) is not None:
            return
        stored = await keep_question(self._engine, scope, conversation_id, asked)
        if stored is None:
            return
        access = await self._access(scope)
        talk, _ = await recalling.talk_of(self._engine, scope, conversation_id, access, recalling.MOST_MESSAGES)
        shown = [each for each in talk.exchanges if each.answer] if talk else []
        near, _ = await recalling.similar_to(self._engine, scope, asked, ())
        # Whoever answered may have had all of this from `semantic_search_memory`.
        shown += recalling.worth_showing(near, shown, access, asked)
        await keep_answer(self._engine, scope, stored, _answer(answer_data), access, shown, near)

    async def summarize_conversation(self, conversation_id: str) -> str:
        """A short account of what has left the window of the last questions; empty while nothing has, or may be recalled."""
        if await recalling.silenced(self._engine, self._scope, conversation_id) is not None:
            return ""
        return await summaries.summarise(self._engine, self._scope, await self._talk(conversation_id, 0)) or ""

    async def cleanup_expired_conversations(self) -> int:
        """End what has reached its end, of all users; how many conversations that were."""
        return await cleaning.clean(self._engine)

    async def export_user_memory(self, user_id: str) -> dict[str, Any]:
        """Everything the data chat keeps of a user, as far as they may still see it."""
        scope = self._of(user_id)
        return await showing.export(self._engine, scope, await self._access(scope))

    async def delete_user_memory(self, user_id: str) -> ForgetReceipt:
        """Erase all of that, for good."""
        return await showing.erase(self._engine, self._of(user_id))

    def _of(self, user_id: str) -> Scope:
        return replace(self._scope, user=user_id)

    async def _access(self, scope: Scope) -> DataAccess:
        if self._given is None or (scope != self._scope and self._engine.desk.permissions is not None):
            return await recalling.access_of(self._engine, scope, AskData(question=""))
        return self._given if scope == self._scope else recalling.NOTHING

    async def _talk(self, conversation_id: str, results: int) -> Talked:
        access = await self._access(self._scope)
        talk, _ = await recalling.talk_of(self._engine, self._scope, conversation_id, access, results)
        if talk is None:
            raise NotFound(f"no conversation has the id {conversation_id!r} here", id=conversation_id)
        return talk


def _answer(data: Mapping[str, Any]) -> DataAnswer:
    return DataAnswer(
        answer=str(data.get("answer", "")),
        sql=str(data.get("sql_query") or ""),
        explanation=str(data.get("query_explanation") or ""),
        tables=tuple(data.get("tables_used") or ()),
        databases=tuple(data.get("vdp_database_names") or ()),
        result=dict(data.get("execution_result") or {}),
        related=tuple(data.get("related_questions") or ()),
        tokens=dict(data.get("tokens") or {}),
        sql_s=float(data.get("sql_execution_time") or 0.0),
    )
