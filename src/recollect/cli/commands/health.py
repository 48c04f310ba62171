"""`recollect health`: what is wrong in a memory, and the cures there are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from recollect.cli.commands.maintain import tell
from recollect.cli.opening import Opened, opened
from recollect.cli.options import Call, command
from recollect.cli.output import grid, plain, print_json, say, show, visible
from recollect.cli.progress import bar
from recollect.cli.scopes import Everyone, named, scopes_meant
from recollect.engine.upkeep.health import CURES
from recollect.errors import InvalidInput
from recollect.model import CONCERNS, Finding, Health, Scope

app = typer.Typer(add_completion=False)
SHOWN_OF_A_KIND = 5


@command(app)
async def health(
    call: Call,
    fix: Annotated[
        str | None, typer.Option("--fix", metavar="KINDS", help=f"Mend these, with commas between: {', '.join(CURES)}.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it; without, --fix only says what it would do.")] = False,
    everyone: Everyone = False,
) -> None:
    """Find duplicates, contradictions, and what is stale, expired, unembedded or too large.

    Goes through all spaces of the user, or the one that --space names. Whatever --fix archives can be restored.
    """
    wanted = [kind.strip().replace("-", "_") for kind in fix.split(",")] if fix else []
    if fix is not None and not all(kind in CONCERNS for kind in wanted):
        raise InvalidInput(f"--fix takes kinds with commas between: {', '.join(CURES)}")
    if yes and not wanted:
        raise InvalidInput("--yes goes with --fix")
    async with opened(call, embeds=yes and not {"unembedded", "failed"}.isdisjoint(wanted)) as here:
        scopes = [scope async for scope in scopes_meant(call, here, everyone)]
        if wanted:
            await _mend(call, here, scopes, wanted, dry_run=not yes)
        else:
            await _report(call, here, scopes)


async def _report(call: Call, here: Opened, scopes: list[Scope]) -> None:
    reports = [await here.engine.health(scope) for scope in scopes]
    if call.json:
        print_json([_as_json(report) for report in reports])
        return
    for report in reports:
        _show(report)
    if not reports:
        show("there are no memories")
    curable = dict.fromkeys(each.concern for report in reports for each in report.findings if each.concern in CURES)
    if curable:
        say(f"`recollect health --fix {','.join(curable)}` says what can be done; with --yes it is done")


async def _mend(call: Call, here: Opened, scopes: list[Scope], wanted: list[str], *, dry_run: bool) -> None:
    receipts = []
    for scope in scopes:
        with bar(f"mending {named(scope)}", None) as advance:
            receipts.append(await here.engine.mend(scope, wanted, dry_run=dry_run, progress=advance))
    tell(call, receipts, "nothing to mend")


def _as_json(report: Health) -> dict[str, Any]:
    return {
        **plain(report.scope),
        "memories": report.memories,
        "counts": report.counts,
        "findings": [{**plain(each), "cure": CURES.get(each.concern)} for each in report.findings],
    }


def _show(report: Health) -> None:
    if not report.findings:
        show(f"{named(report.scope)}: {report.memories:,} memories, all in order")
        return
    show(f"{named(report.scope)}: {report.memories:,} memories")
    for concern in CONCERNS:
        found = [each for each in report.findings if each.concern == concern]
        if found:
            rows = [(str(number), _worded(each)) for number, each in enumerate(found[:SHOWN_OF_A_KIND], 1)]
            cure = CURES.get(concern, "yours to decide")
            show(f"  {len(found):,} {concern.replace('_', ' ')} ({cure})", grid(rows, numbered=True))


def _worded(finding: Finding) -> str:
    return visible(f"{', '.join(finding.ids)} · {finding.why}")
