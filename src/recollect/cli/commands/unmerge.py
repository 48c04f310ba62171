"""`recollect unmerge`: take apart what was taken for the same."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, show

app = typer.Typer(add_completion=False)


@command(app)
async def unmerge(
    call: Call,
    id: Annotated[str, typer.Argument(help="The memory that was strengthened.")],
    telling: Annotated[str, typer.Argument(help="The telling that is a memory of its own; `add` names it.")],
) -> None:
    """Take apart what was taken for the same.

    The telling becomes a memory of its own again, and the other is what it was before.
    """
    async with opened(call) as here:
        memory = await here.memory.unmerge(id, telling)
    if call.json:
        print_json(memory)
    else:
        show(f"{memory.id} is a memory of its own again")
