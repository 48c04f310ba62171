"""Between the contract's words and the engine's: pure functions."""

from __future__ import annotations

from recollect.doors.datachat import wire
from recollect.doors.http.asking import Caller
from recollect.errors import InvalidInput
from recollect.model import AskData, DataReply, Exchange, ForgetReceipt, Page, Talked


def asked_of(sent: wire.MemoryChatIn, caller: Caller, authorization: str | None) -> AskData:
    return AskData(
        question=sent.question,
        session_id=sent.session_id,
        session_name=sent.session_name,
        use_memory=sent.use_memory,
        max_history=sent.max_history_messages,
        similar=sent.semantic_search_k,
        databases=_names(sent.vdp_database_names),
        tags=_names(sent.vdp_tag_names),
        options=sent.model_dump(exclude=set(wire.MEMORY_FIELDS), exclude_none=True),
        claims=caller.claims,
        authorization=authorization,
    )


def looker(caller: Caller, authorization: str | None) -> AskData:
    """Somebody who asks nothing, and may see no more for it."""
    return AskData(question="", claims=caller.claims, authorization=authorization)


def reply_out(reply: DataReply) -> wire.MemoryChatOut:
    answer, used = reply.answer, reply.used
    return wire.MemoryChatOut(
        answer=answer.answer,
        answered=answer.answered,
        sql_query=answer.sql,
        query_explanation=answer.explanation,
        tokens=dict(answer.tokens),
        execution_result=dict(answer.result),
        related_questions=list(answer.related),
        tables_used=list(answer.tables),
        raw_graph=answer.graph,
        sql_execution_time=answer.sql_s,
        vector_store_search_time=answer.search_s,
        llm_time=answer.model_s,
        total_execution_time=reply.total_s,
        conversation_metadata=wire.ConversationMetadata() if reply.talk is None else metadata_of(reply.talk),
        memory_context_used=wire.MemoryContextUsed(
            history_messages_count=used.history,
            similar_queries_count=used.similar,
            context_tokens=used.tokens,
            context_truncated=used.truncated,
            degraded=list(used.degraded),
        ),
        memory_retrieval_time=reply.retrieval_s,
        warnings=list(reply.warnings),
    )


def metadata_of(talk: Talked) -> wire.ConversationMetadata:
    about = talk.conversation
    return wire.ConversationMetadata(
        conversation_id=about.id,
        session_name=about.title,
        message_count=talk.count,
        created_at=about.created_at,
        updated_at=about.updated_at,
        expires_at=about.expires_at,
        is_summarized=about.is_summarized,
    )


def page_out(page: Page[Talked]) -> wire.ConversationsOut:
    items = [metadata_of(talk) for talk in page]
    return wire.ConversationsOut(items=items, total=page.total, limit=page.limit, offset=page.offset)


def conversation_out(talk: Talked) -> wire.ConversationOut:
    return wire.ConversationOut(
        **metadata_of(talk).model_dump(),
        summary_text=talk.conversation.summary,
        messages=[_message(each) for each in talk.exchanges],
    )


def erased_out(receipt: ForgetReceipt) -> wire.ErasedOut:
    return wire.ErasedOut(
        conversations=receipt.conversations,
        messages=receipt.messages,
        vectors=receipt.vectors,
        scrubbed=receipt.scrubbed,
        scrub_owed=receipt.scrub_owed,
    )


def check_confirmed(confirmed: str, user: str) -> None:
    if confirmed != user:
        raise InvalidInput("to delete everything, repeat your user id in `confirm`")


def _message(each: Exchange) -> wire.MessageOut:
    return wire.MessageOut(
        message_id=each.message_id,
        created_at=each.asked_at,
        question=each.question,
        answer=each.answer,
        sql_query=each.sql,
        query_explanation=each.explanation,
        tables_used=list(each.tables),
        execution_result=each.result,
    )


def _names(given: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (each.strip() for each in (given or "").split(",")))))
