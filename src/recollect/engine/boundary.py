"""The one place where a scope's switches are asked: may this be written, may anything be recalled?

Every verb that writes or recalls durable memory passes here inside its own transaction, whichever door or job it came
from, so "memory off" holds at the storage boundary and not in each door.
"""

from __future__ import annotations

from recollect.engine.config import EngineConfig
from recollect.errors import NotAllowed
from recollect.model import Refusal
from recollect.ports import Tx

_WHY: dict[Refusal, str] = {
    "memory_off": "memory is switched off in this space; nothing was stored",
    "read_only": "this memory is read-only (RECOLLECT_WRITE_MODE); nothing was stored",
}


def write_refusal(tx: Tx, config: EngineConfig, *, explicit: bool, as_admin: bool = False) -> Refusal | None:
    """Why a memory may not be written now, or None.

    `explicit`: somebody asked for it to be saved. `as_admin`: it comes in by the administrator's way, which is open in every
    mode; who may say so is decided by the caller's door, never by what is written.
    """
    if not tx.space.settings().memory_enabled:
        return "memory_off"
    if as_admin or config.write_mode == "automatic" or (config.write_mode == "explicit" and explicit):
        return None
    return "read_only"


def require_writable(tx: Tx, config: EngineConfig, *, as_admin: bool = False) -> None:
    """For verbs that give no receipt: raise what `write_refusal` would have said."""
    refusal = write_refusal(tx, config, explicit=True, as_admin=as_admin)
    if refusal is not None:
        raise NotAllowed(_WHY[refusal])


def require_memory_on(tx: Tx) -> None:
    """Conversations are kept in every write mode, but not where memory is switched off."""
    if not tx.space.settings().memory_enabled:
        raise NotAllowed(_WHY["memory_off"])


def may_recall(tx: Tx) -> bool:
    return tx.space.settings().memory_enabled
