"""judging: open questions about memories, put to a language model in the background.

A write never waits for a model: where rules aren't sure, both memories stay and are flagged, and the receipt asks. Later a
reviewer looks at what was flagged. What it calls replaced becomes history, what it calls compatible is no longer asked about, and
everything it says can be taken back by `resolve`. What it can't or won't say, says late or in another shape, decides nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.boundary import require_writable
from recollect.engine.remembering.disputes import may_replace, settle_between
from recollect.errors import NotAllowed, RecollectError
from recollect.model import Flag, Memory, Scope, Status, Target
from recollect.policy import judging
from recollect.ports import Chat, Judge, Judgement, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

PATIENCE_S = 30.0
"""How long a reviewer may take over one memory."""
FLAGS_AT_ONCE = 40
MOST_TOKENS = 100
MOST_ASKED = 10_000


class ChatJudge:
    """`ports.Judge` over a chat model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def __call__(self, new: str, old: Sequence[str]) -> Sequence[Judgement]:
        asked = [text for text in old if judging.is_askable(new, text)][: judging.MOST_OLD]
        if not asked:
            return ["unsure"] * len(old)
        answer = await self._chat.complete(judging.request(new, asked), schema=judging.SCHEMA, max_tokens=MOST_TOKENS)
        said = dict(zip(asked, judging.answered(answer.text, len(asked)), strict=True))
        return [said.get(text, "unsure") for text in old]


async def review(engine: Engine, patience_s: float = PATIENCE_S) -> int:
    """Put what was flagged since the last time to the reviewer; returns how many questions it closed."""
    judge = engine.reviewer if engine.config.write_mode == "automatic" else None
    closed = 0
    while judge is not None and engine.debts.disputed:
        scope = engine.debts.disputed.pop()
        try:
            closed += await _reviewed(engine, scope, judge, patience_s)
        except NotAllowed:
            continue  # memory was switched off meanwhile: what is open stays open
    return closed


async def _reviewed(engine: Engine, scope: Scope, judge: Judge, patience_s: float) -> int:
    closed = 0
    for new, others in (await engine.store.read(scope, lambda tx: _open(tx, engine))).values():
        said = await _said(judge, new.content, [old.content for old in others], patience_s)
        if said:
            _note_asked(engine, scope, new, others)
        rulings = {old.id: ruling for old, ruling in zip(others, said, strict=False) if ruling != "unsure"}
        if rulings:
            closed += await _apply(engine, scope, new, {old.id: old for old in others}, rulings)
    return closed


def _note_asked(engine: Engine, scope: Scope, new: Memory, others: Sequence[Memory]) -> None:
    """One answer is enough; asked again, a model would say something else now and then."""
    asked = engine.debts.asked
    asked.update(dict.fromkeys((scope, new.id, old.id) for old in others))
    while len(asked) > MOST_ASKED:
        del asked[next(iter(asked))]


async def _said(judge: Judge, new: str, old: Sequence[str], patience_s: float) -> Sequence[Judgement]:
    try:
        async with asyncio.timeout(patience_s):
            said = await judge(new, old)
    except (RecollectError, TimeoutError):
        return ()
    return said if len(said) == len(old) else ()


def _open(tx: Tx, engine: Engine) -> dict[str, tuple[Memory, list[Memory]]]:
    """Pairs that are flagged, both current and not asked about yet, by the one told later."""
    require_writable(tx, engine)
    flags = tx.links.all_flags(FLAGS_AT_ONCE)
    found = tx.memories.get({id for each in flags for id in (each.memory_id, each.other_id)})
    pairs: dict[str, tuple[Memory, list[Memory]]] = {}
    for each in flags:
        both = [found.get(each.other_id), found.get(each.memory_id)]
        current = [memory for memory in both if memory is not None and memory.status is Status.ACTIVE]
        if len(current) == 2:
            old, new = sorted(current, key=lambda memory: memory.created_at)  # of equals, the one told later is last
            if (tx.scope, new.id, old.id) not in engine.debts.asked:
                pairs.setdefault(new.id, (new, []))[1].append(old)
    return pairs


async def _apply(
    engine: Engine, scope: Scope, new: Memory, others: Mapping[str, Memory], rulings: Mapping[str, Judgement]
) -> int:
    """Write down what was said, of what is still as it was when it was asked about."""
    generations = await engine.generations.to_fill()
    at = engine.clock.now()

    def work(tx: Tx) -> int:
        require_writable(tx, engine)
        now = tx.memories.get([new.id, *rulings])
        closed = 0
        for flag in tx.links.flagged([new.id]):
            id = flag.other_id if flag.memory_id == new.id else flag.memory_id
            if id not in rulings or not _unchanged(now, new) or not _unchanged(now, others[id]):
                continue
            closed += _close(tx, engine, flag, now[new.id], now[id], rulings[id], generations)
            now = tx.memories.get([new.id, *rulings])
            audit.record(
                tx, engine.occasion, at, "conflict.judged", Target("memory", new.id), of=id, ruling=rulings[id]
            )
        return closed

    closed = await engine.store.write(scope, work)
    engine.wake()
    return closed


def _close(
    tx: Tx, engine: Engine, flag: Flag, new: Memory, old: Memory, ruling: Judgement, generations: Sequence[str]
) -> bool:
    if ruling == "replaces" and not may_replace(new, old):
        return False  # its owner pinned it, or said it in person: that is theirs to take back
    tx.links.unflag([flag])
    if ruling == "replaces":
        settle_between(tx, {new.id: new, old.id: old}, {new.id}, generations, engine.clock.now(), engine.config.pepper)
    return True


def _unchanged(now: Mapping[str, Memory], before: Memory) -> bool:
    after = now.get(before.id)
    return after is not None and after.status is Status.ACTIVE and after.content == before.content
