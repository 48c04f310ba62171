"""The thread of a chat: what "that" means, what was asked and waits for an answer, what can be undone.

Ids only, kept among the engine's own variables of the session's working memory: it survives a restart, goes with the session, and
of an incognito session it lives in this process alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recollect.engine.conversations import working
from recollect.model import KINDS, Scope, Target, WorkingMemory

if TYPE_CHECKING:
    from recollect.engine import Engine

NAME = "_talk"
MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """What was done last, to be done the other way round."""

    done: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    used: tuple[Target, ...] = ()
    """What the last reply used or listed, in its order."""
    doomed: tuple[Target, ...] = ()
    """What is forgotten if the next answer is yes."""
    all_doomed: bool = False
    undo: Undo | None = None

    @property
    def waits(self) -> bool:
        return bool(self.doomed) or self.all_doomed

    def packed(self) -> dict[str, Any]:
        packed: dict[str, Any] = {}
        for name, targets in (("used", self.used), ("doomed", self.doomed)):
            if targets:
                packed[name] = [[each.kind, each.id] for each in targets[:MOST]]
        if self.all_doomed:
            packed["all_doomed"] = True
        if self.undo is not None:
            packed["undo"] = [self.undo.done, *self.undo.ids[:MOST]]
        return packed


async def thread_of(engine: Engine, scope: Scope, session_id: str) -> Thread:
    """A yes that comes after the session has gone quiet answers nothing any more."""
    known = await working.stored_or_private(engine, scope, session_id)
    if known is None or working.is_idle(known, engine.clock.now()):
        return Thread()
    return _unpacked(known.context_variables.get(NAME))


async def keep_thread(engine: Engine, scope: Scope, session_id: str, thread: Thread, *, blank: bool = False) -> None:
    """`blank`: also let go of what the session is about, because something of it was forgotten."""

    def step(known: WorkingMemory) -> WorkingMemory:
        known = working.blanked(known) if blank else known
        variables = {name: value for name, value in known.context_variables.items() if name != NAME}
        if packed := thread.packed():
            variables[NAME] = packed
        return replace(known, context_variables=variables)

    await working.change(engine, scope, session_id, step)


def _unpacked(packed: object) -> Thread:
    """Read leniently: what can't be read is not there."""
    if not isinstance(packed, Mapping):
        return Thread()
    undo = packed.get("undo")
    return Thread(
        used=_targets(packed.get("used")),
        doomed=_targets(packed.get("doomed")),
        all_doomed=packed.get("all_doomed") is True,
        undo=Undo(done=undo[0], ids=tuple(undo[1:])) if isinstance(undo, list) and undo else None,
    )


def _targets(pairs: object) -> tuple[Target, ...]:
    if not isinstance(pairs, list):
        return ()
    named = {kind: kind for kind in KINDS}
    return tuple(Target(named[kind], id) for kind, id in pairs if kind in named and isinstance(id, str))
