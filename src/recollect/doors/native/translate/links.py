"""Open questions and tellings, from the engine to the wire."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.doors.native.translate.memories import memory_out
from recollect.doors.native.wire import links as wire
from recollect.model import Memory, Repeat


def conflicts_out(pairs: Sequence[tuple[Memory, Memory]]) -> wire.ConflictsOut:
    return wire.ConflictsOut(
        conflicts=[wire.ConflictOut(later=memory_out(later), earlier=memory_out(earlier)) for later, earlier in pairs]
    )


def repeats_out(told: Sequence[Repeat]) -> wire.RepeatsOut:
    return wire.RepeatsOut(repeats=[_repeat(each) for each in told])


def _repeat(told: Repeat) -> wire.RepeatOut:
    return wire.RepeatOut(
        id=told.id,
        text=told.content,
        first=told.place == 0,
        source_message_id=told.source_message_id,
        at=told.at,
    )
