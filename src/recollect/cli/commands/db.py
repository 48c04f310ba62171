"""`recollect db`: the configured store: its schema (files are upgraded when opened, a server by its owner), who may come in."""

from __future__ import annotations

import typer

from recollect.bootstrap import open_store
from recollect.cli import schema
from recollect.cli.backup import backup
from recollect.cli.commands import keys, scaling, users
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, show
from recollect.cli.wording import WordedGroup
from recollect.errors import Unsupported
from recollect.stores.sqlite import SqliteStore

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    cls=WordedGroup,
    help="The database itself: upgrade, current, check, reindex, backup, plan, size, index, partition, distribute, keys, users.",
)
app.add_typer(keys.app, name="keys")
app.add_typer(users.app, name="users")
OUT_OF_STEP = 1
for each in (scaling.plan, scaling.size, scaling.index, scaling.partition, scaling.distribute):
    command(app)(each)
command(app)(backup)


@command(app)
async def upgrade(call: Call) -> None:
    """Bring the database to the newest schema; every row is kept.

    On Postgres this runs as the owner whose address is in RECOLLECT_MIGRATE_URL.
    """
    settings = call.settings()
    before, _ = await schema.revisions(settings)
    await schema.upgrade(settings)
    after, _ = await schema.revisions(settings)
    if call.json:
        print_json({"before": before, "after": after})
    elif before == after:
        show(f"already at {after}")
    else:
        show(f"upgraded from {before or 'nothing'} to {after}")


@command(app)
async def current(call: Call) -> None:
    """Say which revision the database is at, and which one is the newest."""
    at, head = await schema.revisions(call.settings())
    if call.json:
        print_json({"current": at, "head": head, "up_to_date": at == head})
    else:
        show(
            f"at {at or 'nothing'}; " + ("up to date" if at == head else f"the newest is {head}: recollect db upgrade")
        )


@command(app)
async def check(call: Call) -> None:
    """Compare the live schema with what this version expects; exit code 1 when they differ."""
    differences = await schema.differences(call.settings())
    if call.json:
        print_json({"ok": not differences, "differences": differences})
    else:
        show(*(differences or ["the schema is as it should be"]))
    if differences:
        raise typer.Exit(OUT_OF_STEP)


@command(app)
async def reindex(call: Call) -> None:
    """Build the full-text index of a SQLite file anew, from the entries; for when the doctor says that they disagree."""
    store = await open_store(call.settings())
    try:
        if not isinstance(store, SqliteStore):
            raise Unsupported("only SQLite's index is kept apart from its rows; Postgres keeps its own in step")
        built = await store.reindex()
    finally:
        await store.close()
    if not built:
        raise Unsupported("this Python's SQLite has no FTS5; words are looked up without an index")
    if call.json:
        print_json({"reindexed": True})
    else:
        show("built anew")
