"""What travels about memories that are tied to each other: open questions between two, and tellings of one."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from recollect.doors.native.wire.examples import CONFLICT, REPEATS, showing
from recollect.doors.native.wire.memories import MemoryOut, Strict


class ConflictOut(BaseModel):
    """Two active memories of which perhaps only one is true."""

    model_config = showing(CONFLICT)

    later: MemoryOut
    earlier: MemoryOut


class ConflictsOut(BaseModel):
    model_config = showing({"conflicts": [CONFLICT]})

    conflicts: list[ConflictOut]


class ResolveIn(Strict):
    """What isn't kept stays as history (`status=superseded`), and can be brought back by resolving again."""

    model_config = showing({"keep": "both"})

    keep: str = Field(min_length=1, description="`both`, or the id of the one that is true.")


class RepeatOut(BaseModel):
    """One telling, as it came."""

    model_config = showing(REPEATS[1])

    id: str
    text: str
    first: bool = Field(description="The first telling bears the memory's own id and can't be undone.")
    source_message_id: str | None
    at: datetime


class RepeatsOut(BaseModel):
    model_config = showing({"repeats": REPEATS})

    repeats: list[RepeatOut]
