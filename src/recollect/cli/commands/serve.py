"""`recollect serve`: the server and the page, on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Annotated

import typer

from recollect.bootstrap import open_engine
from recollect.cli.options import Call, command
from recollect.cli.output import say
from recollect.engine import Engine
from recollect.errors import NotAllowed, Unsupported
from recollect.model import Scope

try:
    import uvicorn

    from recollect.doors.http.app import create_app
    from recollect.doors.native.door import router as native
    from recollect.doors.ui.door import router as page
except ImportError as missing:
    raise Unsupported(f"the server needs the package {missing.name!r}: install recollect[server]") from None

app = typer.Typer(add_completion=False)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@command(app)
async def serve(
    call: Call,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen on.")] = 8377,
) -> None:
    """Serve the memory over HTTP, with a page to look at it. Ends on Ctrl-C."""
    if not is_loopback(host):
        raise NotAllowed(
            f"{host} can be reached from other machines, and this server asks nobody who they are: use --host 127.0.0.1"
        )
    settings = call.settings()
    scope = Scope(settings.tenant, settings.user, settings.space)

    @asynccontextmanager
    async def opening() -> AsyncIterator[Engine]:
        running = await open_engine(settings)
        try:
            yield running.engine
        finally:
            await running.close()

    server = create_app(opening, lambda _: scope, [native, page], hosts=LOOPBACK | {host.strip("[]").lower()})
    say(f"Recollect is at http://{host}:{port}/ (API: http://{host}:{port}/docs). Ctrl-C ends it.")
    await uvicorn.Server(uvicorn.Config(server, host=host, port=port, log_level="warning")).serve()


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
