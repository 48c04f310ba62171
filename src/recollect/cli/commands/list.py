"""`recollect list`: a page of memories with the total."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import described, entry, grid, print_json, say, show, visible

app = typer.Typer(add_completion=False)


@command(app, "list")
async def list_memories(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many at most.")] = 20,
    offset: Annotated[int, typer.Option("--offset", help="How many to leave out first.")] = 0,
    type: Annotated[list[str] | None, typer.Option("--type", "-t", help="Only this type; may be given again.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; may be given again.")] = None,
    theme: Annotated[list[str] | None, typer.Option("--theme", help="Only of this theme.")] = None,
    status: Annotated[list[str] | None, typer.Option("--status", help="active, superseded or archived.")] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pinned/--not-pinned", help="Only the pinned, or the others.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before, e.g. 2025-03-01.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before this time.")] = None,
) -> None:
    """Show memories, newest first."""
    async with opened(call, embeds=False) as here:
        page = await here.memory.list(
            limit=limit,
            offset=offset,
            types=type or (),
            tags=tag or (),
            themes=theme or (),
            statuses=status or ("active",),
            pinned=pinned,
            since=since,
            until=until,
        )
    if call.json:
        print_json(page)
        return
    if not page.items:
        show("no memories" if not page.total else f"none beyond {page.total:,}")
        if not page.total:
            say(
                f"(of the user {visible(here.scope.user)!r} in the space {visible(here.scope.space)!r}, with these options)"
            )
        return
    rows = [(str(number), entry(each.content, described(each))) for number, each in enumerate(page, offset + 1)]
    show(grid(rows, numbered=True))
    if page.total > offset + len(page):
        say(f"{offset + 1:,} to {offset + len(page):,} of {page.total:,}; --offset {offset + len(page)} shows more")
