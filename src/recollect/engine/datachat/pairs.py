"""Questions and answers as they lie in a conversation, brought together again.

Two questions may be asked at once, so neighbours needn't belong together: an answer is named after its question.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from recollect.model import Exchange, Message
from recollect.policy.grounds import UNKNOWN, databases_in

_ENDING = ".answer"


def answer_id(question_id: str) -> str:
    return question_id + _ENDING


def question_id(answer_id: str) -> str:
    return answer_id.removesuffix(_ENDING)


def paired(messages: Iterable[Message]) -> list[Exchange]:
    """In the order in which they were asked. What was never answered rests on nobody knows what."""
    known = {message.id: message for message in messages}
    asked = sorted((each for each in known.values() if each.role == "user"), key=lambda each: each.order)
    return [exchange(each, known.get(answer_id(each.id))) for each in asked]


def exchange(question: Message, answer: Message | None) -> Exchange:
    asked = Exchange(
        question=question.content,
        answer="",
        session_id=question.session_id,
        message_id=question.id,
        asked_at=question.created_at,
        grounds=(UNKNOWN,),
    )
    if answer is None:
        return asked
    grounds = asked.grounds if answer.grounds is None else answer.grounds
    return replace(
        asked,
        answer=answer.content,
        sql=answer.sql_query,
        explanation=answer.query_explanation,
        tables=answer.tables_used,
        databases=tuple(sorted(databases_in(grounds))),
        result=answer.execution_result,
        grounds=grounds,
    )
