"""`recollect forget`: for good, counted, and never by accident."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recollect.cli.opening import Opened, opened
from recollect.cli.options import Call, command
from recollect.cli.output import pairs, plain, print_json, say, show
from recollect.cli.progress import bar
from recollect.cli.reading import at_hand
from recollect.errors import InvalidInput, NotAllowed
from recollect.model import ForgetReceipt

app = typer.Typer(add_completion=False)


@command(app)
async def forget(
    call: Call,
    ids: Annotated[list[str] | None, typer.Argument(help="The memories' ids.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="A conversation, and what came from it alone.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything of this user, in every space.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask; only --all asks.")] = False,
) -> None:
    """Remove memories, a conversation or a whole user, for good.

    The receipt counts what was removed. There is no way back.
    """
    if [bool(ids), session is not None, everything].count(True) != 1:
        raise InvalidInput("say what to forget: ids, or --session ID, or --all")
    if everything and not yes:
        confirm(call.settings().user)
    async with opened(call, embeds=False) as here:
        if everything:
            receipt = await _erase(here)
        else:
            receipt = await here.memory.forget(*(ids or ()), session_id=session)
    if call.json:
        print_json(receipt)
        return
    counts = {name: count for name, count in plain(receipt).items() if count}
    show(pairs(counts if counts.keys() - {"scrubbed", "scrub_owed"} else {"forgotten": "nothing was there"}))


def confirm(user: str) -> None:
    """Typing the name is slower than a reflex, which is the point."""
    say(f"This removes everything of {user!r} in every space, for good.")
    with at_hand():
        # Not `input` or a prompt of Typer's: both write to stdout, which belongs to the receipt.
        typer.echo("Type the user's name to go on: ", err=True, nl=False)
        answer = sys.stdin.readline().strip()
    if answer != user:
        raise NotAllowed("nothing was forgotten: that is not the user's name (--yes goes on without asking)")


async def _erase(here: Opened) -> ForgetReceipt:
    with bar("forgetting", None) as advance:
        return await here.engine.erase_user(
            here.scope.tenant,
            here.scope.user,
            lambda so_far: advance(so_far.memories + so_far.messages, None),
        )
