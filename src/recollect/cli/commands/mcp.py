"""`recollect mcp`: the memory as an MCP server on standard streams, for programs on this machine that start it themselves.

Whoever can start the process is the user it was started for. Over the network there is `recollect serve`, which asks for a login.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated, Any

import typer

from recollect.cli.options import Call, command
from recollect.cli.output import say
from recollect.cli.reading import at_hand
from recollect.client import AsyncMemory
from recollect.engine.embedding import embed
from recollect.errors import Unsupported
from recollect.tools.holding import Held, held

try:
    from mcp.server.stdio import stdio_server

    from recollect.doors.mcp.server import server
except ImportError as missing:
    raise Unsupported(f"the MCP server needs the package {missing.name!r}: install recollect[mcp]") from None

app = typer.Typer(add_completion=False)


@command(app)
async def mcp(
    call: Call,
    plain_names: Annotated[
        bool, typer.Option("--plain-names", help="Call tools memory_search, not memory.search.")
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only tools that change nothing.")] = False,
) -> None:
    """Serve the memory to an MCP client that starts this command. Its standard streams are the connection; it ends with it."""
    if sys.stdin.isatty():
        say("This is for programs: name `recollect mcp` in the configuration of an MCP client. Ctrl-C ends it.")
    async with AsyncMemory(call.store, call.user, call.space, tenant=call.tenant) as memory:

        async def who(_: Any) -> Held:
            return await held(memory, actor="mcp")

        serving = server(who, plain=plain_names, reads_only=read_only)
        warming = asyncio.create_task(embed.warm((await who(None)).engine))
        with at_hand():
            async with stdio_server() as (incoming, outgoing):
                await serving.run(incoming, outgoing, serving.create_initialization_options())
        await warming
