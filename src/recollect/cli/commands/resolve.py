"""`recollect resolve`: say which of two statements holds."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, show

app = typer.Typer(add_completion=False)


@command(app)
async def resolve(
    call: Call,
    id: Annotated[str, typer.Argument(help="A memory that may contradict another, or has superseded it.")],
    keep: Annotated[str, typer.Option("--keep", metavar="ID|both", help="Which one holds.")],
) -> None:
    """Say which of two statements holds, or that both do.

    What isn't kept stays as history.
    """
    async with opened(call) as here:
        memory = await here.memory.resolve(id, keep)
    if call.json:
        print_json(memory)
    else:
        show("both hold" if keep == "both" else f"{memory.id} holds")
