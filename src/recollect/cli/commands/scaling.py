"""`recollect db plan`, `size`, `index`, `partition` and `distribute`: is a Postgres ready for many, how much room do they take,
are they found quickly, in how many parts and on how many nodes.

The driver is imported when one of them runs: a library on SQLite has none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.bootstrap import postgres_url, sqlite_path
from recollect.cli.options import Call
from recollect.cli.output import grid, plain, print_json, show
from recollect.cli.progress import bar
from recollect.errors import Unsupported
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.stores.postgres.plans import Examination, Plan
    from recollect.stores.postgres.sizes import Room, Sizes

NOT_INDEXED = 1


async def plan(call: Call) -> None:
    """Ask Postgres how it would carry out every statement the application issues; exit code 1 when one has no index behind it.

    Nothing is changed: the statements run on a scope of their own, in a transaction that is taken back. Run it on a filled
    database after ANALYZE: the planner decides by how much there is.
    """
    url = await _server(call.settings())
    found: Examination = await _room("plans").examined(url)
    if call.json:
        print_json({"ok": found.ok, "scope": plain(found.scope), "plans": plain(found.plans)})
    else:
        show(grid([("ok" if not each.faults else "NOT INDEXED", _line(each)) for each in found.plans]), _verdict(found))
    if not found.ok:
        raise typer.Exit(NOT_INDEXED)


def _line(plan: Plan) -> str:
    how = "; ".join(plan.summary) + (" (with enable_seqscan off)" if plan.forced else "")
    return f"{plan.verb}: {how}" + "".join(f"\n→ {fault}" for fault in plan.faults)


def _verdict(found: Examination) -> str:
    lacking = sum(1 for each in found.plans if each.faults)
    asked = f"{len(found.plans)} statements; " + (
        f"planned for the largest scope, {found.scope.user} of {found.scope.tenant}"
        if found.scope is not None
        else "no scope is large enough for the planner to care which index it takes: fill the database for a full answer"
    )
    return f"{asked}; " + (f"{lacking} not backed by the right index" if lacking else "an index stands behind each")


async def size(call: Call) -> None:
    """Say how many bytes a memory takes: table, indexes, vector and graph, and what that comes to for many."""
    url = await _server(call.settings())
    found: Sizes = await _room("sizes").measured(url)
    if call.json:
        print_json({name: plain(getattr(found, name)) for name in ("parts", "counts", "per_memory", "planned")})
    elif not any(found.per_memory.values()):
        show(found.said)
    else:
        show(grid([(part, f"{each:,.0f} bytes") for part, each in found.per_memory.items()]), found.said)
        show(*(_room_for(each) for each in found.planned))


def _room_for(room: Room) -> str:
    graph = f", {room.inside:,.0f} GiB with everybody in the graph" if room.inside > room.outside else ""
    return f"{room.memories:,} memories: {room.outside:,.0f} GiB{graph}, {room.changing:,.0f} GiB more while a model is changed"


async def index(
    call: Call,
    memory_mb: Annotated[
        int | None, typer.Option("--memory-mb", min=1, help="The server's memory for the work (maintenance_work_mem).")
    ] = None,
) -> None:
    """Build the vector indexes that are missing or were left unfinished, while everybody works.

    As the owner whose address is in RECOLLECT_MIGRATE_URL. Needed on a large database after a new embedding model was begun, best
    when its vectors are there: until then those with many memories are searched exactly, which is slower. Killed, it leaves
    nothing that the next run doesn't clear away.
    """
    url = await owner(call.settings())
    built = await graphs_built(url, memory_mb)
    if call.json:
        print_json({"built": built})
    else:
        show(*(f"built for {generation}" for generation in built) if built else ["nothing to build"])


async def owner(settings: Settings) -> str:
    """The address of whoever may change the schema; one's own server on a laptop has an owner of its own."""
    url = await _server(settings)
    if settings.migrate_url:
        return settings.migrate_url
    return str(_room("embedded").owner_of(url)) if settings.store == "postgres" else url


async def graphs_built(owner_url: str, memory_mb: int | None = None) -> list[str]:
    """Build the vector indexes that are missing, with a bar; for which generations."""
    with bar("indexing", None) as advance:
        built: list[str] = await _room("indexing").build(
            owner_url, lambda _generation, _phase, done, total: advance(done, total or None), memory_mb=memory_mb
        )
    return built


async def partition(
    call: Call,
    parts: Annotated[int, typer.Option("--parts", help="Into how many parts users are dealt out.", min=2, max=256)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the statements instead of running them.")] = False,
) -> None:
    """Divide the large tables of one server into hash partitions by user; nobody can read or write meanwhile.

    A maintenance step, as the owner whose address is in RECOLLECT_MIGRATE_URL: it copies every row and builds every index in one
    transaction that holds the tables (ACCESS EXCLUSIVE), needs as much free room as they take, and compares rows, keys, indexes,
    policies and rights before it ends. Broken off, it has changed nothing. Run it again after an upgrade that adds a table.
    """
    url = await owner(call.settings())
    with bar("partitioning", None) as advance:
        done: list[str] = await _room("partitions").divide(url, parts, advance, dry_run=dry_run)
    if call.json:
        print_json({"dry_run": dry_run, "parts": parts, "statements": done})
    elif dry_run:
        show(*(f"{each};" for each in done))
    else:
        show(f"in {parts} parts, by user")


async def distribute(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the statements instead of running them.")] = False,
    shards: Annotated[int, typer.Option(help="Into how many parts users are dealt out.", min=1, max=64_000)] = 32,
) -> None:
    """Spread the tables over the nodes of a Citus cluster by user; runs as the owner whose address is in RECOLLECT_MIGRATE_URL.

    Every statement the application issues then stays on the one shard of its user. Run it again after an upgrade: tables that
    a revision has added are dealt out like the others.
    """
    settings = call.settings()
    url = settings.migrate_url or await _server(settings)
    citus = _room("citus")
    done: list[str] = list(citus.statements(shards)) if dry_run else await citus.spread(url, shards)
    if call.json:
        print_json({"dry_run": dry_run, "statements": done})
    else:
        show(*(f"{each};" for each in done))


async def _server(settings: Settings) -> str:
    if sqlite_path(settings) is not None:
        raise Unsupported("this is about Postgres: name a server with --store postgresql://…")
    return await postgres_url(settings)


def _room(module: str) -> Any:
    try:
        return import_module(f"recollect.stores.postgres.{module}")
    except ImportError as problem:
        raise Unsupported(f"Postgres needs the package {problem.name!r}: install recollect[postgres]") from problem
