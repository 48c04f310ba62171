"""`recollect pin`: on, or off again."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, show

app = typer.Typer(add_completion=False)


@command(app)
async def pin(
    call: Call,
    ids: Annotated[list[str], typer.Argument(help="The memories' ids.")],
    off: Annotated[bool, typer.Option("--off", help="Unpin instead.")] = False,
) -> None:
    """Keep memories from being trimmed or aged away."""
    async with opened(call) as here:
        for id in ids:
            await here.memory.get(id)  # All of them or none: a wrong id is said before anything is changed.
        changed = [await here.memory.pin(id, not off) for id in ids]
    if call.json:
        print_json(changed[0] if len(changed) == 1 else changed)
    else:
        show(*(f"{'unpinned' if off else 'pinned'} {memory.id}" for memory in changed))
