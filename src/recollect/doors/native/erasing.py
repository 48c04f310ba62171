"""Erasing everything, told as it goes: what went so far, space by space, and at last the receipt.

    event: progress   the counts up to now
    event: done       the receipt
    event: error      what went wrong; what was counted before is gone all the same

Somebody who stops listening doesn't stop it: whoever said "everything" meant it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse

from recollect.doors.native.translate.memories import forget_out
from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.model import ForgetReceipt, Scope

MEDIA_TYPE = "text/event-stream"
_under_way: set[asyncio.Task[ForgetReceipt]] = set()


def told_as_it_goes(engine: Engine, scope: Scope) -> StreamingResponse:
    gone: asyncio.Queue[ForgetReceipt | None] = asyncio.Queue()
    work = asyncio.create_task(engine.erase_user(scope.tenant, scope.user, gone.put_nowait))
    _under_way.add(work)
    work.add_done_callback(_under_way.discard)
    work.add_done_callback(lambda _: gone.put_nowait(None))
    return StreamingResponse(_events(gone, work), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


async def _events(gone: asyncio.Queue[ForgetReceipt | None], work: asyncio.Task[ForgetReceipt]) -> AsyncIterator[bytes]:
    while (so_far := await gone.get()) is not None:
        yield _event("progress", forget_out(so_far).model_dump())
    try:
        yield _event("done", forget_out(work.result()).model_dump())
    except RecollectError as problem:
        yield _event("error", {"code": problem.code, "message": problem.message})


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
