"""enrich: give memories with few tags those their nearest neighbours share, once there are vectors to tell who these are.

It is off every path somebody waits on: whoever looks after a space runs it now and then. Tags that somebody gave stay; what has
enough of them is left alone; a tag is proposed only where several close neighbours agree on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.engine.embedding.embed import embedded
from recollect.engine.remembering.indexing import index_memory
from recollect.engine.upkeep.archive import may_tidy
from recollect.errors import RecollectError
from recollect.model import Filter, Generation, Memory, Scope, Status, Step, Target
from recollect.policy.digest import twin_digest
from recollect.policy.metadata import SPARSE, from_neighbours
from recollect.policy.relevance import is_cjk, relevance, scale_of
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

AT_ONCE = 64
NEIGHBOURS = 6
CLOSE = 0.5
"""Relevance from which on a memory counts as a neighbour: well above the customary cut, for a tag is a claim."""


async def propose_tags(engine: Engine, scope: Scope, most: int = 1000) -> int:
    """Look at up to `most` memories that have few tags, and return how many got some."""
    serving = await engine.generations.serving()
    embedder = await engine.generations.embedder(serving) if serving is not None else None
    if serving is None or embedder is None:
        return 0
    changed = looked = 0
    after: str | None = None
    while looked < most:
        page = await engine.store.read(scope, partial(_page, engine, after))
        if not page:
            break
        after = page[-1].id
        sparse = [each for each in page if each.status is Status.ACTIVE and len(each.tags) < SPARSE][: most - looked]
        looked += len(sparse)
        if sparse:
            try:
                vectors = await embedded(embedder, [each.content for each in sparse])
            except RecollectError:
                break  # another time
            proposed = await engine.store.read(scope, partial(_proposed, engine, serving, sparse, vectors))
            changed += await engine.store.write(scope, partial(_tag, engine, proposed)) if proposed else 0
    return changed


async def planned(engine: Engine, scope: Scope, most: int = 1000) -> tuple[Step, ...]:
    """What `propose_tags` would look at, as a step of upkeep; how many get tags only their neighbours tell."""
    if await engine.generations.serving() is None:
        return ()
    sparse = 0
    after: str | None = None
    while sparse < most and (page := await engine.store.read(scope, partial(_page, engine, after))):
        after = page[-1].id
        sparse += sum(1 for each in page if each.status is Status.ACTIVE and len(each.tags) < SPARSE)
    why = f"fewer than {SPARSE} tags; those that several near neighbours share are proposed"
    return (Step(action="tag", count=min(sparse, most), why=why),) if sparse else ()


def _page(engine: Engine, after: str | None, tx: Tx) -> Sequence[Memory]:
    return tx.memories.scan(after, AT_ONCE) if may_tidy(engine, tx.space.settings()) else ()


def _proposed(
    engine: Engine, serving: Generation, sparse: Sequence[Memory], vectors: NDArray[np.float32], tx: Tx
) -> dict[str, tuple[str, ...]]:
    """Tags for each memory, from the tags of those near it."""
    scale, now = scale_of(serving.model), engine.clock.now()
    found: dict[str, tuple[str, ...]] = {}
    for memory, vector in zip(sparse, vectors, strict=True):
        near = tx.index.dense(vector, serving.id, Filter(kinds=("memory",)), now, NEIGHBOURS + 1)
        others = tx.memories.get([each.target.id for each in near if each.target.id != memory.id])
        chinese = is_cjk(memory.content)
        close = [
            others[each.target.id].tags
            for each in near
            if each.target.id in others
            and relevance(each.score, 0.0, scale.between(chinese, is_cjk(others[each.target.id].content))) >= CLOSE
        ]
        proposed = from_neighbours(memory.tags, close)
        if proposed:
            found[memory.id] = proposed
    return found


def _tag(engine: Engine, proposed: Mapping[str, tuple[str, ...]], tx: Tx) -> int:
    """Those that are still there and still have few. A tag that lets other spaces see a memory is only given by a person."""
    at = engine.clock.now()
    offered = tx.space.settings().shared_tags
    changed = 0
    for memory in tx.memories.get(proposed).values():
        if memory.status is not Status.ACTIVE or len(memory.tags) >= SPARSE:
            continue
        fresh = [tag for tag in proposed[memory.id] if tag not in offered]
        if not fresh:
            continue
        tagged = replace(memory, tags=tuple(dict.fromkeys((*memory.tags, *fresh))))
        tx.memories.replace(tagged, twin_digest(tx.scope, memory.content, engine.config.pepper))
        if tx.index.entries([Target("memory", memory.id)]):
            index_memory(tx, tagged, (), at)
        changed += 1
    return changed
