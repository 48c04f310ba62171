"""Conversations and their messages, from the wire to the engine and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.doors.native.wire import conversations as wire
from recollect.model import Conversation, Memory, Message, Page, TurnsReceipt, Use


def turns_of(sent: wire.TurnsIn, correlation_id: str | None) -> list[dict[str, Any]]:
    """Every message remembers the request it came with."""
    return [{**turn.model_dump(exclude_unset=True), "correlation_id": correlation_id} for turn in sent.messages]


def turns_out(receipt: TurnsReceipt) -> wire.TurnsOut:
    return wire.TurnsOut(
        session_id=receipt.session_id,
        ids=list(receipt.ids),
        stored=receipt.stored,
        embedding=receipt.embedding.value,
        masked=list(receipt.masked),
    )


def message_out(message: Message) -> wire.MessageOut:
    fields = {name: getattr(message, name) for name in wire.MessageOut.model_fields}
    return wire.MessageOut(**fields | {"tables_used": list(message.tables_used), "tokens": dict(message.tokens)})


def conversation_out(conversation: Conversation) -> wire.ConversationOut:
    return wire.ConversationOut(**_conversation(conversation))


def with_messages(conversation: Conversation, messages: Sequence[Message]) -> wire.ConversationWithMessages:
    return wire.ConversationWithMessages(
        **_conversation(conversation), messages=[message_out(message) for message in messages]
    )


def page_out(page: Page[Conversation]) -> wire.ConversationPage:
    items = [conversation_out(each) for each in page]
    return wire.ConversationPage(items=items, total=page.total, limit=page.limit, offset=page.offset)


def uses_out(session_id: str, uses: Sequence[tuple[Use, Memory]]) -> wire.UsesOut:
    used = [
        wire.UsedOut(
            message_id=use.message_id,
            id=memory.id,
            text=memory.content,
            reference=use.reference,
            cited=use.cited,
            at=use.at,
        )
        for use, memory in uses
    ]
    return wire.UsesOut(session_id=session_id, uses=used)


def _conversation(conversation: Conversation) -> dict[str, Any]:
    fields = {name: getattr(conversation, name) for name in wire.ConversationOut.model_fields}
    return fields | {
        "databases": list(conversation.databases),
        "database_tags": list(conversation.database_tags),
    }
