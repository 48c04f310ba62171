"""Short ways to ask an answerer, one question after the other."""

from __future__ import annotations

from typing import Any

from recollect.model import DataAccess, DataAnswer, DataQuestion, Exchange
from recollect.ports import Answerer


class Talk:
    """A conversation: each answer is what the next question leans on."""

    def __init__(self, answerer: Answerer, access: DataAccess | None = None) -> None:
        self._answerer = answerer
        self._access = access or DataAccess()
        self._history: list[Exchange] = []

    async def ask(self, question: str, **options: Any) -> DataAnswer:
        answer = await self._answerer.answer(
            DataQuestion(
                question=question,
                augmented=question,
                history=tuple(self._history),
                access=self._access,
                options=options,
            )
        )
        self._history.append(
            Exchange(question=question, answer=answer.answer, sql=answer.sql or None, tables=answer.tables)
        )
        return answer


def rows(answer: DataAnswer) -> list[list[Any]]:
    found: list[list[Any]] = answer.result["rows"]
    return sorted(found, key=repr)
