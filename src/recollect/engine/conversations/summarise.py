"""summarise: keep a short account of a conversation that has outgrown the window, made in the background.

A model writes it where one is configured, and what it writes is screened like any text; else, or when it fails, sentences are
quoted. The account is kept with the conversation and goes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.boundary import silence
from recollect.engine.remembering.screening import screened_aside
from recollect.errors import RecollectError
from recollect.model import Conversation, Message, Scope
from recollect.policy import summary
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

MOST_MESSAGES = 400
MODEL_TOKENS = 400


async def summarise(engine: Engine, scope: Scope, session_id: str) -> str | None:
    """Sum up what has left the window; None where there is nothing to sum up, or nothing may be kept."""

    def look(tx: Tx) -> tuple[Conversation | None, Sequence[Message]]:
        if silence(tx, engine, about=session_id) is not None:
            return None, ()
        conversation = tx.conversations.get(session_id)
        if conversation is None or conversation.message_count <= engine.config.chat.history:
            return None, ()
        first_shown = conversation.message_count - engine.config.chat.history
        return conversation, tx.conversations.history(session_id, MOST_MESSAGES, before=first_shown)

    conversation, said = await engine.store.read(scope, look)
    if conversation is None or not said:
        return None
    text = await _by_model(engine, said, conversation.summary) or summary.extracted(said)
    found = await screened_aside({"summary": text}, engine.config.screening.lenient, engine.config.max_content_bytes)
    text = str(found.fields["summary"]).strip()
    ids = {message.id for message in said}

    def keep(tx: Tx) -> bool:
        current = None if silence(tx, engine, about=session_id) else tx.conversations.get(session_id)
        # What was forgotten while the model was writing must not live on in its words.
        if current is None or not text or len(tx.conversations.messages(ids)) != len(ids):
            return False
        tx.conversations.replace(replace(current, summary=text, is_summarized=True))
        audit.record(tx, engine.occasion, engine.clock.now(), "conversation.summarised", messages=len(said))
        return True

    return text if await engine.store.write(scope, keep) else None


async def _by_model(engine: Engine, said: Sequence[Message], before: str | None) -> str | None:
    model = engine.desk.summariser or engine.chat
    if model is None:
        return None
    recent = said[-2 * summary.EVERY :] if before else said
    try:
        answer = await model.complete(summary.request(recent, before), max_tokens=MODEL_TOKENS)
    except RecollectError:
        return None
    return answer.text.replace("\x00", "").strip() or None
