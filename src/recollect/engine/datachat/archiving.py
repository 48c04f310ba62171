"""What has reached its end is put away before it goes, where an archive is configured.

One compressed file a conversation, named after whose it was and when it ended. What can't be put away stays where it is, and is
tried again the next time: nothing is removed that should have been kept.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import quote

from recollect.engine.datachat.pairs import paired
from recollect.engine.datachat.showing import written
from recollect.errors import RecollectError
from recollect.model import Conversation, Message, Scope, Step, Talked
from recollect.model.scope import DATA
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

LONGEST_PART, BEGINNING = 200, 100


async def archived(engine: Engine, scope: Scope, steps: Sequence[Step]) -> list[Step]:
    """The steps that may be taken: those that end a data conversation only once it is put away."""
    archive = engine.desk.archive
    if archive is None or not scope.space.startswith(DATA):
        return list(steps)
    return [
        step for step in steps if step.action != "drop_conversation" or await _put_away(engine, scope, step.id or "")
    ]


async def _put_away(engine: Engine, scope: Scope, session_id: str) -> bool:
    def work(tx: Tx) -> tuple[Conversation | None, Sequence[Message]]:
        found = tx.conversations.get(session_id)
        return found, tx.conversations.history(session_id, found.message_count) if found else ()

    conversation, messages = await engine.store.read(scope, work)
    if conversation is None:
        return True
    talk = Talked(conversation=conversation, exchanges=tuple(exchanges := paired(messages)), count=len(exchanges))
    packed = await asyncio.to_thread(_packed, talk)
    assert engine.desk.archive is not None
    try:
        await engine.desk.archive.put(_path(scope, conversation), packed)
    except RecollectError:
        engine.heard("data_cleanup", {"outcome": "not_archived", "count": 1})
        return False
    return True


def _packed(talk: Talked) -> bytes:
    return gzip.compress(json.dumps(written(talk), ensure_ascii=False).encode())


def _path(scope: Scope, conversation: Conversation) -> str:
    day = (conversation.expires_at or conversation.updated_at).strftime("%Y-%m-%d")
    owner = (scope.tenant, scope.user, scope.space.removeprefix(DATA))
    return "/".join([*map(_part, owner), day, _part(conversation.id) + ".json.gz"])


def _part(name: str) -> str:
    """A name that anybody may have chosen as one part of a path: never `..`, and not too long for a file's name."""
    written = quote(name, safe="")
    if len(written) <= LONGEST_PART and written.strip("."):
        return written
    return f"{written[:BEGINNING]}~{blake2b(name.encode(), digest_size=16).hexdigest()}"
