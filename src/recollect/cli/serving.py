"""The server as a process builds it: from settings to an app. Several processes are handed the same settings."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI

from recollect.bootstrap import open_engine, open_spans
from recollect.doors.chat.door import router as chat
from recollect.doors.companion.door import router as companion
from recollect.doors.datachat.door import router as datachat
from recollect.doors.http import logs
from recollect.doors.http.app import Manners, create_app
from recollect.doors.http.auth.choosing import identity_of
from recollect.doors.http.auth.local import is_loopback
from recollect.doors.http.framing import template_of
from recollect.doors.longterm.door import router as longterm
from recollect.doors.mcp.http import SPEAKS_MCP, Mount
from recollect.doors.native.door import router as native
from recollect.doors.nova.door import router as nova
from recollect.doors.recall.door import router as recall
from recollect.doors.ui.door import router as page
from recollect.doors.ui.reference import router as reference
from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.errors import RecollectError
from recollect.settings import Settings
from recollect.worker.heaps import few_heaps
from recollect.worker.parents import end_with_parent

DOORS: tuple[APIRouter, ...] = (native, longterm, companion, recall, nova, chat, datachat)
"""Every door the server has. A new one is added here, and nowhere else."""
PAGES: tuple[APIRouter, ...] = (page, reference)
"""Open to everyone: they hold no memory, and fetch what they show through the doors."""

SWITCH_SECONDS = 0.0005
"""How long a thread may keep the others waiting. Questions are embedded on one thread and answered on another, many small steps
each; at Python's own five milliseconds they would wait for each other most of the time."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def build(settings: Settings, host: str, metrics_folder: Path | None = None) -> FastAPI:
    """The app of one process. What keeps it from starting is left in `app.state.trouble`."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Engine]:
        try:
            running = await open_engine(settings, resident=True, spans=spans)
        except RecollectError as problem:
            app.state.trouble = problem
            raise
        warming = asyncio.create_task(embed.warm(running.engine))
        try:
            async with AsyncExitStack() as alongside:
                if mount is not None:
                    await alongside.enter_async_context(mount.running())
                yield running.engine
        finally:
            await warming
            await running.close()
            if spans is not None:
                await asyncio.to_thread(spans.close)

    spans = open_spans(settings)
    mount = Mount() if SPEAKS_MCP else None
    app = create_app(opening, identity_of(settings), DOORS, PAGES, manners_of(settings, host, metrics_folder))
    if mount is not None:
        mount.on(app)
    if spans is not None:
        app.add_middleware(spans.requests, route=template_of)
    return app


def build_worker(settings: Settings, host: str, metrics_folder: Path | None = None) -> FastAPI:
    """The same, in a process that serves and does nothing else: its log is ours."""
    few_heaps()
    logs.configure(settings.log_format)
    end_with_parent()
    sys.setswitchinterval(SWITCH_SECONDS)
    return build(settings, host, metrics_folder)


def manners_of(settings: Settings, host: str, metrics_folder: Path | None = None) -> Manners:
    named = frozenset(each.strip().strip("[]").lower() for each in settings.hosts.split(",") if each.strip())
    # A header is believed from this very machine, and so from a page that points its own name at it: names are asked there too.
    local = settings.user_id_source == "local" or (settings.user_id_source == "header" and is_loopback(host))
    return Manners(
        hosts=named | LOOPBACK | {host.strip("[]").lower()} if local else named or None,
        origins=named,
        max_body_bytes=settings.max_body_bytes,
        body_timeout_s=settings.body_timeout_s,
        request_limit=settings.request_limit,
        metrics_folder=metrics_folder,
    )
