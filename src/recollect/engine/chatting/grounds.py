"""What a turn of a chat stands on: what is recalled for it, within the budget, and which of the last messages are shown.

Nothing here fails a turn. What can't be recalled in time is left out, and it is said that it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.embedding.embed import embedded
from recollect.engine.remembering.screening import is_long
from recollect.errors import InvalidInput, RecollectError
from recollect.model import Hit, Memory, Message, Query, Recall, Refusal, Scope
from recollect.model.talk import Earlier, Remembered
from recollect.policy.grounding import BUDGET, IN_WAKE, MOST_HITS, cited, grounded, usable, window
from recollect.policy.latest.stated import Standing, standing
from recollect.policy.recipes import NATIVE
from recollect.policy.repeats import Likeness, is_question, without_repeats
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """`context` stands before the message; `shown` is what of memory it holds; `window` are the messages shown as they were."""

    remembered: Remembered = field(default_factory=Remembered)
    context: str = ""
    shown: Sequence[Memory | Message] = ()
    window: Sequence[Message] = ()


async def recalled(
    engine: Engine,
    scope: Scope,
    session_id: str,
    text: str,
    history: Sequence[Message],
    silent: Refusal | None,
    *,
    id: str | None = None,
) -> Ground:
    """The ground for this message, after this history, of a conversation of which nothing may be read where `silent`.

    A message that is sent again, under the `id` it has, is no answer to itself, and neither is what was learnt from it.
    """
    kept, _ = without_repeats(history, text, await _likeness(engine, text, history) if silent is None else None)
    shown = window(kept, engine.config.chat.history_tokens(_budget(engine)))
    if silent is not None:
        return Ground(remembered=Remembered(degraded=(silent,)), window=shown)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            found = await _found(engine, scope, text, history)
            least = engine.config.applied(NATIVE).min_relevance
            since = history[0].order if history else 0
            in_wake = None if engine.chat is None else IN_WAKE * least
            others = [hit for hit in found if id is None or id not in _origins(hit)]
            most = engine.config.max_results or MOST_HITS
            stands = standing(usable(others, text, session_id, since, least, in_wake=in_wake, most=most))
            earlier = await engine.store.read(scope, lambda tx: _earlier(tx, stands)) if stands.hits else {}
    except InvalidInput:
        raise
    except (RecollectError, TimeoutError):
        return Ground(remembered=Remembered(degraded=("recall",), error=True), window=shown)
    told = [hit.content for hit in stands.hits] + [old.content for each in earlier.values() for old in each]
    work = partial(_ground, engine, text, stands.hits, earlier, found, shown)
    ground = await asyncio.to_thread(work) if is_long(told) else work()
    engine.passed_over(scope, found.hits, [each.target for each in ground.remembered.used])
    return ground


async def _found(engine: Engine, scope: Scope, text: str, history: Sequence[Message]) -> Recall:
    most = (engine.config.max_results or MOST_HITS) + len(history)
    query = Query(text=text, limit=most, history=tuple(each.content for each in history))
    return await engine.recall_softly(scope, query)


def _origins(hit: Hit) -> tuple[str | None, ...]:
    return (hit.message.id,) if hit.message is not None else (hit.memory.source_message_id if hit.memory else None,)


def _ground(
    engine: Engine,
    text: str,
    hits: Sequence[Hit],
    earlier: dict[str, tuple[Earlier, ...]],
    found: Recall,
    shown: Sequence[Message],
) -> Ground:
    things = cited(hits, earlier)
    block, context, tokens = grounded(hits, things, _budget(engine), text) if hits else (None, "", 0)
    used = {each.reference for each in block.shown if not each.withheld} if block else set()
    remembered = Remembered(
        used=tuple(each for each in things if each.reference in used),
        token_count=tokens,
        truncated=bool(block and block.truncated),
        degraded=found.trace.degraded,
        rate_limited=found.trace.rate_limited,
    )
    kept = {each.target for each in remembered.used}
    records = (hit.memory or hit.message for hit in hits if hit.target in kept)
    return Ground(
        remembered=remembered, context=context, shown=[each for each in records if each is not None], window=shown
    )


def _budget(engine: Engine) -> int:
    """Tokens of memories: never more than there may be before a message at all."""
    return min(engine.config.token_budget or BUDGET, engine.config.chat.context_tokens)


def _earlier(tx: Tx, stands: Standing) -> dict[str, tuple[Earlier, ...]]:
    """What the hits replaced, and what memories among them may contradict, by their ids."""
    memories = {hit.memory.id: hit.memory for hit in stands.hits if hit.memory is not None}
    previous = tx.memories.get([each.supersedes for each in memories.values() if each.supersedes])
    found: dict[str, list[Earlier]] = {id: list(each) for id, each in stands.earlier.items()}
    for memory in memories.values():
        old = previous.get(memory.supersedes or "")
        if old is not None and old.deleted_at is None and not _is_told(old, found.get(memory.id, ())):
            found.setdefault(memory.id, []).append(Earlier(content=old.content, at=old.created_at))
    flags = tx.links.flagged(memories)
    rivals = tx.memories.get({id for flag in flags for id in (flag.memory_id, flag.other_id)})
    for flag in flags:
        for id, other in ((flag.memory_id, flag.other_id), (flag.other_id, flag.memory_id)):
            if id in memories and other in rivals:
                rival = rivals[other]
                found.setdefault(id, []).append(Earlier(content=rival.content, at=rival.created_at, disputed=True))
    return {id: tuple(each) for id, each in found.items()}


def _is_told(memory: Memory, earlier: Sequence[Earlier]) -> bool:
    """Whether the message it was taken from is among them."""
    return any(each.at == memory.created_at for each in earlier)


async def _likeness(engine: Engine, text: str, history: Sequence[Message]) -> Likeness | None:
    """How much alike questions of this conversation are in meaning, where there is a model to tell. Its answers are cached."""
    asked = [each.content for each in history if each.role == "user" and is_question(each.content)]
    if not asked or not is_question(text):
        return None
    texts = list(dict.fromkeys((*asked, text)))
    try:
        serving = await engine.generations.serving()
        embedder = await engine.generations.embedder(serving) if serving else None
        if embedder is None:
            return None
        async with asyncio.timeout(PATIENCE_SECONDS):
            vectors = dict(zip(texts, await embedded(embedder, texts, query=True), strict=True))
    except (RecollectError, TimeoutError):
        return None
    return lambda a, b: float(np.dot(vectors[a], vectors[b])) if a in vectors and b in vectors else 0.0
