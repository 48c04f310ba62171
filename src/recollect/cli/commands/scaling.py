"""`recollect db plan`, `size` and `distribute`: is a Postgres ready for many, how much room do they take, and on how many nodes.

The driver is imported when one of them runs: a library on SQLite has none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.bootstrap import postgres_url, sqlite_path
from recollect.cli.options import Call
from recollect.cli.output import grid, plain, print_json, show
from recollect.errors import Unsupported
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.stores.postgres.plans import Examination, Plan
    from recollect.stores.postgres.sizes import Sizes

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
        print_json({"parts": plain(found.parts), "counts": plain(found.counts), "per_memory": plain(found.per_memory)})
    else:
        show(grid([(part, f"{each:,.0f} bytes") for part, each in found.per_memory.items()]), found.said)


async def distribute(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the statements instead of running them.")] = False,
    shards: Annotated[int, typer.Option(help="Into how many parts users are dealt out.", min=1, max=64_000)] = 32,
) -> None:
    """Spread the tables over the nodes of a Citus cluster by user; runs as the owner whose address is in RECOLLECT_MIGRATE_URL.

    Every statement the application issues then stays on the one shard of its user.
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
