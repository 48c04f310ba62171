"""`recollect get`: one memory, every field of it."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import pairs, plain, print_json, show
from recollect.engine.browse import embedding_status
from recollect.model import Target

app = typer.Typer(add_completion=False)
INTERNAL = ("simhash",)


@command(app)
async def get(call: Call, id: Annotated[str, typer.Argument(help="The memory's id.")]) -> None:
    """Show one memory with everything known about it."""
    target = Target("memory", id)
    async with opened(call, embeds=False) as here:
        memory = await here.memory.get(id)
        status = (await embedding_status(here.engine, here.scope, [target]))[target]
    shown = {**plain(memory), "embedding": plain(status.state), "embedding_error": status.error}
    if call.json:
        print_json(shown)
    else:
        show(pairs({name: value for name, value in shown.items() if name not in INTERNAL}))
