"""The one place where a scope's switches are asked: may this be written, recalled, looked at?

Every verb that touches durable memory passes here inside its own transaction, whichever door or job it came from, so
"memory off" and "incognito" hold at the storage boundary and not in each door.

Where memory is off, nothing is remembered or recalled; its owner may still look, export and forget. In an incognito session
nothing durable is read or written at all; only its owner's controls stay open, export and forgetting among them. A space may
make that the default: then every session is incognito that was not expressly declared otherwise, and so is what names no session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import NotAllowed
from recollect.model import Refusal
from recollect.policy.digest import session_digest
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

_WHY: dict[Refusal, str] = {
    "memory_off": "memory is switched off in this space; nothing was stored",
    "incognito": "this session is incognito; nothing was stored",
    "read_only": "this memory is read-only (RECOLLECT_WRITE_MODE); nothing was stored",
}


def silence(tx: Tx, engine: Engine, about: str | None = None) -> Refusal | None:
    """Why nothing may be remembered or recalled here and now, or None. `about` is a session that is written to by name."""
    settings = tx.space.settings()
    if not settings.memory_enabled:
        return "memory_off"
    sessions = (engine.occasion.session_id, about)
    told = [said for session in sessions if (said := _declared(tx, engine, session)) is not None]
    return "incognito" if (any(told) if told else settings.incognito_default) else None


def unseen(tx: Tx, engine: Engine) -> bool:
    """Whether not even looking is possible: the session that asks is incognito.

    A look that belongs to no session is its owner's, who must be able to see what is kept, whatever the default is.
    """
    if engine.occasion.session_id is None:
        return False
    declared = _declared(tx, engine, engine.occasion.session_id)
    return tx.space.settings().incognito_default if declared is None else declared


def _declared(tx: Tx, engine: Engine, session: str | None) -> bool | None:
    return None if session is None else tx.space.incognito(session_digest(tx.scope, session, engine.config.pepper))


def write_refusal(
    tx: Tx, engine: Engine, *, explicit: bool, as_admin: bool = False, about: str | None = None
) -> Refusal | None:
    """Why a memory may not be written now, or None.

    `explicit`: somebody asked for it to be saved. `as_admin`: it comes in by the administrator's way, which is open in every
    mode and is no session of anyone's; who may say so is decided by the caller's door, never by what is written. `about` is
    the session it was said in.
    """
    silent = silence(tx, engine, about)
    if silent is not None and not (as_admin and silent == "incognito"):
        return silent
    mode = engine.config.write_mode
    if as_admin or mode == "automatic" or (mode == "explicit" and explicit):
        return None
    return "read_only"


def require_writable(tx: Tx, engine: Engine, *, as_admin: bool = False) -> None:
    """For verbs that give no receipt: raise what `write_refusal` would have said."""
    refusal = write_refusal(tx, engine, explicit=True, as_admin=as_admin)
    if refusal is not None:
        raise NotAllowed(_WHY[refusal], reason=refusal)


def require_memory_on(tx: Tx, engine: Engine, session_id: str) -> None:
    """Conversations are kept in every write mode, but not where memory is switched off or the session is incognito."""
    silent = silence(tx, engine, about=session_id)
    if silent is not None:
        raise NotAllowed(_WHY[silent], reason=silent)
