"""revise: change fields of a memory. New content is searched and embedded anew; the old text is gone from the index at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import require_writable
from recollect.engine.browse import missing
from recollect.engine.remembering.disputes import state
from recollect.engine.remembering.drafts import EDITABLE, checked_fields
from recollect.engine.remembering.indexing import index_memory
from recollect.engine.remembering.merging import settle
from recollect.engine.remembering.screening import WHY, screened_aside
from recollect.engine.remembering.themes import retheme
from recollect.engine.upkeep.rollup import correct_in
from recollect.errors import Conflict, InvalidInput, NotAllowed
from recollect.model import Memory, Scope, Source, Status, Target
from recollect.policy.digest import grave_digest, twin_digest
from recollect.policy.duplicates import fingerprint
from recollect.policy.importance import base_importance, with_repeats
from recollect.policy.metadata import described
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine


async def revise(engine: Engine, scope: Scope, id: str, changes: Mapping[str, Any]) -> Memory:
    if not changes:
        raise InvalidInput("nothing to change: name at least one field")
    found = await screened_aside(changes, engine.config.screening, engine.config.max_content_bytes)
    if found.refusal is not None:
        raise NotAllowed(WHY, reason=found.refusal)
    values = checked_fields(found.fields, EDITABLE, engine.config.max_content_bytes)
    if values.get("importance") is not None:
        values["base_importance"] = values["importance"]
    if "content" in values:
        values |= {
            "simhash": fingerprint(values["content"]),
            "metadata_confidence": described(values["content"]).confidence,
        }
    at = engine.clock.now()
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> Memory:
        require_writable(tx, engine)
        before = tx.memories.get([id]).get(id)
        if before is None:
            raise missing("memory", id)
        after = replace(before, **values, updated_at=at)
        if values.get("importance", 0.0) is None:  # its owner has no opinion any more: weigh it as if it were new
            after = replace(after, importance=_weight(after), base_importance=_weight(after))
        elif "importance" not in values and _is_wanted(before) != _is_wanted(after):
            after = _reweighed(before, after)
        if after.content != before.content:
            _refuse_the_forgotten(tx, after.content, engine.config.pepper, at)
        tx.memories.replace(after, twin_digest(scope, after.content, engine.config.pepper))
        settle(tx, before, after, values if after.importance == before.importance else {*values, "importance"})
        if after.content != before.content:
            state(tx, after, engine.config.pepper)
            tx.owe_scrub(at)
            correct_in(engine, tx, before, after, generations)
        if after.theme != before.theme:
            retheme(tx, before.theme, after.theme, at)
        if after.status is Status.ACTIVE:
            index_memory(tx, after, generations if after.content != before.content else (), at)
        audit.record(tx, engine.occasion, at, "memory.revised", Target("memory", id), fields=sorted(changes))
        return after

    after = await engine.store.write(scope, work)
    if "content" in changes:
        engine.debts.scrub = True
        engine.wake()
    return after


def _is_wanted(memory: Memory) -> bool:
    """Whether somebody asked for it to be kept, by saving or by pinning it."""
    return memory.manually_saved or memory.pinned or memory.source is Source.MANUAL


def _weight(memory: Memory) -> float:
    return base_importance(
        memory.content,
        type=memory.type,
        explicit=_is_wanted(memory),
        metadata_confidence=memory.metadata_confidence,
    )


def _reweighed(before: Memory, after: Memory) -> Memory:
    """Pinning a thing says that it matters, and letting go of it that it no longer does; not against its owner's own figure."""
    if before.base_importance != _weight(before):
        return after
    base = _weight(after)
    return replace(after, base_importance=base, importance=with_repeats(base, after.repeat_count))


def _refuse_the_forgotten(tx: Tx, content: str, pepper: bytes, at: datetime) -> None:
    """An edit is no way around a tombstone."""
    buried = tx.space.buried(grave_digest(tx.scope, content, pepper), at)
    if buried is not None:
        until = buried.expires_at.isoformat()
        raise Conflict(f"this was forgotten and is not taken back before {until}", until=until)
