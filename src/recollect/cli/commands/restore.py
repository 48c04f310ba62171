"""`recollect restore`: back from the archive."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, show

app = typer.Typer(add_completion=False)


@command(app)
async def restore(call: Call, ids: Annotated[list[str], typer.Argument(help="The memories' ids.")]) -> None:
    """Bring archived memories back into recall. From then on they count as saved on purpose and are not trimmed again."""
    async with opened(call) as here:
        for id in ids:
            await here.memory.get(id)  # All of them or none: a wrong id is said before anything is changed.
        restored = [await here.memory.restore(id) for id in ids]
    if call.json:
        print_json(restored[0] if len(restored) == 1 else restored)
    else:
        show(*(f"restored {memory.id}" for memory in restored))
