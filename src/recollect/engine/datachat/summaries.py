"""A short account of a long conversation, which knows what it speaks of.

It is made of what its reader was allowed to see at that moment and rests on all of it. Who has lost a table since isn't shown it;
they get sentences of what they may still see in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.remembering.screening import screened_aside
from recollect.errors import RecollectError
from recollect.model import Exchange, Message, Scope, Talked
from recollect.policy import summary
from recollect.ports import Chat, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

EVERY = 5
"""Questions after which it is made anew."""
MODEL_TOKENS = 400


def summary_for(talk: Talked, window: int) -> str | None:
    """What to say of the turns before the last `window`; nothing of a conversation that was never summed up."""
    if not talk.conversation.is_summarized:
        return None
    older = talk.exchanges[: max(0, len(talk.exchanges) - window)]
    if talk.conversation.summary is not None:
        return talk.conversation.summary
    return summary.extracted(_said(older)) or None if older else None


def is_due(count: int, after: int) -> bool:
    return count > after and (count == after + 1 or count % EVERY == 0)


async def summarise(engine: Engine, scope: Scope, talk: Talked) -> str | None:
    """Sum up what has left the window of `talk`, which holds what may be seen; None where there is nothing to sum up."""
    session = talk.conversation.id
    older = talk.exchanges[: max(0, len(talk.exchanges) - engine.config.data.history)]
    if not older:
        return None
    text = await _by_model(engine.desk.summariser, older) or summary.extracted(_said(older))
    found = await screened_aside({"summary": text}, engine.config.screening.lenient, engine.config.max_content_bytes)
    text = str(found.fields["summary"]).strip()
    grounds = tuple(dict.fromkeys(name for each in older for name in each.grounds))
    ids = [each.message_id for each in older if each.message_id]

    def keep(tx: Tx) -> bool:
        current = tx.conversations.get(session)
        # What was forgotten while the model was writing must not live on in its words.
        if current is None or not text or len(tx.conversations.messages(ids)) != len(ids):
            return False
        tx.conversations.replace(replace(current, summary=text, is_summarized=True, summary_grounds=grounds))
        audit.record(tx, engine.occasion, engine.clock.now(), "datachat.summarised", questions=len(older))
        return True

    return text if await engine.store.write(scope.data, keep) else None


async def _by_model(model: Chat | None, older: Sequence[Exchange]) -> str | None:
    if model is None:
        return None
    try:
        answer = await model.complete(summary.request(_said(older), None), max_tokens=MODEL_TOKENS)
    except RecollectError:
        return None
    return answer.text.replace("\x00", "").strip() or None


def _said(exchanges: Sequence[Exchange]) -> list[Message]:
    """Exchanges as turns of a conversation, which is what a summary is made of."""
    turns = []
    for number, each in enumerate(exchanges):
        assert each.asked_at is not None
        for place, (role, text) in enumerate((("user", each.question), ("assistant", each.answer))):
            order = 2 * number + place
            said = Message(
                id=str(order),
                session_id=each.session_id or "",
                order=order,
                role=role,
                content=text,
                created_at=each.asked_at,
            )
            turns += [said] if text else []
    return turns
