"""`recollect maintain`: what keeps a memory in order, announced or done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import grid, plain, print_json, show, visible
from recollect.cli.progress import bar
from recollect.cli.scopes import Everyone, named, scopes_meant
from recollect.model import Step, Upkeep

app = typer.Typer(add_completion=False)
SHOWN_STEPS = 30
WORDS = {
    "expire": "expired",
    "remove": "removed from the archive",
    "archive": "archived",
    "summarise": "summed up",
    "embed": "queued for embedding",
    "drop_conversation": "conversations ended",
    "drop_tombstones": "tombstones dropped",
    "drop_sessions": "session marks dropped",
    "end_sessions": "quiet sessions ended",
    "tag": "given tags",
}


@command(app)
async def maintain(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would be done, and why.")] = False,
    roll_up: Annotated[
        bool, typer.Option("--roll-up", help="Also sum up old memories of one matter; `restore` undoes it.")
    ] = False,
    tags: Annotated[bool, typer.Option("--tags", help="Also give few-tagged memories their neighbours' tags.")] = False,
    everyone: Everyone = False,
) -> None:
    """Keep memories in order: expire, trim, end what is over.

    Sessions that have gone quiet end as well, and what mattered of them is kept. Goes through all spaces of the user, or the
    one that --space names. What is trimmed is archived and can be restored; pinned and saved memories are never trimmed.
    """
    receipts: list[Upkeep] = []
    async with opened(call, embeds=roll_up or tags) as here:
        async for scope in scopes_meant(call, here, everyone):
            with bar(f"tidying {named(scope)}", None) as advance:
                done = await here.engine.maintain(scope, dry_run=dry_run, roll_up=roll_up, tags=tags, progress=advance)
            receipts.append(done)
    tell(call, receipts, "everything is in order")


def tell(call: Call, receipts: Sequence[Upkeep], nothing: str) -> None:
    """What was done or would be, scope by scope; `nothing` where that is nothing."""
    if call.json:
        print_json([_as_json(receipt) for receipt in receipts])
        return
    busy = [receipt for receipt in receipts if receipt.plan.steps]
    for receipt in busy:
        _show_upkeep(receipt)
    if not busy:
        show(nothing)


def _as_json(receipt: Upkeep) -> dict[str, Any]:
    return {
        **plain(receipt.scope),
        "dry_run": receipt.dry_run,
        "steps": [plain(step) for step in receipt.plan.steps],
        "done": dict(receipt.done),
        "passed_over": receipt.passed_over,
    }


def _show_upkeep(receipt: Upkeep) -> None:
    show(f"{named(receipt.scope)}: {_summed_up(receipt)}")
    if receipt.dry_run:
        show(grid((step.action.replace("_", " "), _worded(step)) for step in receipt.plan.steps[:SHOWN_STEPS]))
        if len(receipt.plan.steps) > SHOWN_STEPS:
            show(f"… and {len(receipt.plan.steps) - SHOWN_STEPS:,} more; --json shows all of them")


def _summed_up(receipt: Upkeep) -> str:
    counts = receipt.plan.counts if receipt.dry_run else receipt.done
    words = {**WORDS, "tag": "looked at for tags"} if receipt.dry_run else WORDS
    parts = [f"{count:,} {words[action]}" for action, count in counts.items() if count]
    if receipt.passed_over:
        parts.append(f"{receipt.passed_over:,} passed over, because they had changed")
    told = ", ".join(parts) or "nothing to do any more"
    return f"would be {told}" if receipt.dry_run else told


def _worded(step: Step) -> str:
    who = ", ".join(step.ids) or step.id or f"{step.count:,}"
    return visible(f"{who} · {step.why}")
