"""The one place where a scope's switches are asked: may this be written, may anything be recalled?

Every verb that writes or recalls durable memory passes here inside its own transaction, whichever door or job it came
from, so "memory off" holds at the storage boundary and not in each door.
"""

from __future__ import annotations

from recollect.engine.config import EngineConfig
from recollect.model import Refusal, Source
from recollect.ports import Tx


def write_refusal(tx: Tx, config: EngineConfig, source: Source, explicit: bool) -> Refusal | None:
    """Why a memory may not be written now, or None. The administrator's import works in every mode."""
    if not tx.space.settings().memory_enabled:
        return "memory_off"
    if source is Source.IMPORT or config.write_mode == "automatic":
        return None
    if config.write_mode == "explicit" and explicit:
        return None
    return "read_only"


def may_recall(tx: Tx) -> bool:
    return tx.space.settings().memory_enabled
