"""`recollect demo`: what Recollect can do, shown on data it makes for itself. Nothing of yours is read or written."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.demo import home
from recollect.cli.demo.datachat import ask_the_data
from recollect.cli.demo.tour import walk
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, show
from recollect.cli.wording import WordedGroup

app = typer.Typer(add_completion=False, cls=WordedGroup)


@app.callback(invoke_without_command=True)
def demo(
    context: typer.Context,
    pause: Annotated[bool, typer.Option("--pause", help="Wait for Enter before each step.")] = False,
) -> None:
    """See what Recollect can do, on data of its own.

    Alone it is a walk through the commands, over a store that ends with it.

    For the page there is `recollect serve --demo`.
    """
    if context.invoked_subcommand is None:
        walk(pause=pause)


@command(app)
async def datachat(call: Call) -> None:
    """Ask a small database questions that lean on each other.

    Answers come from the configured chat model, or from rules where there is none.
    """
    await ask_the_data(call)


@command(app)
async def remove(call: Call) -> None:
    """Take away what `recollect serve --demo` has put in, and nothing else."""
    receipt = await home.remove(home.at_home(call.settings()))
    if call.json:
        print_json(receipt)
    else:
        show(f"removed the demo: {receipt.memories:,} memories and {receipt.messages:,} messages")
