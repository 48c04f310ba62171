"""`recollect add`: a text, from the arguments or from stdin, and the receipt that says what became of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import typer

from recollect.cli.opening import NoWait, Opened, Wait, opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, say, show, visible, waiting, when
from recollect.cli.reading import STDIN, whole
from recollect.engine.browse import embedding_status
from recollect.errors import InvalidInput
from recollect.model import Receipt, Target

app = typer.Typer(add_completion=False)
REFUSED = 3

WORDS = {
    "stored": "stored as",
    "merged": "already known; strengthened",
    "superseded": "stored as",
    "refused": "refused",
}
REASONS = {
    "tombstone": "it was forgotten and may not come back yet",
    "memory_off": "memory is switched off for this space",
    "incognito": "nothing is kept in incognito",
    "read_only": "the write mode does not allow it (RECOLLECT_WRITE_MODE)",
    "secret": "it looks like a secret",
    "duplicate_id": "the id is in use",
}
WARNINGS = {"injection": "it reads like instructions to a model; it is kept, and always shown as data"}


@command(app)
async def add(
    call: Call,
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    type: Annotated[str, typer.Option("--type", "-t", help="fact, preference, decision, note, instruction …")] = "fact",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given again.")] = None,
    theme: Annotated[str | None, typer.Option("--theme", help="The theme it belongs to.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="A newer text under the same key supersedes it.")] = None,
    value: Annotated[str | None, typer.Option("--value", metavar="JSON", help="A value beside the text.")] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Never trim it or let it age away.")] = False,
    importance: Annotated[float | None, typer.Option("--importance", help="From 0 to 1.")] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="From 0 to 1.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="user_stated, inferred, manual …")] = None,
    created_at: Annotated[str | None, typer.Option("--created-at", metavar="TIME", help="When it was said.")] = None,
    expires_at: Annotated[str | None, typer.Option("--expires-at", metavar="TIME", help="When it ends.")] = None,
    wait: Wait = 10.0,
    no_wait: NoWait = False,
) -> None:
    """Remember something.

    Exit code 0 when it was stored, merged or superseded something, 3 when it was refused.
    """
    given = {
        "theme": theme,
        "key": key,
        "value": None if value is None else parsed_value(value),
        "importance": importance,
        "confidence": confidence,
        "source": source,
        "created_at": created_at,
        "expires_at": expires_at,
    }
    fields = {name: each for name, each in given.items() if each is not None}
    content = whole(STDIN).strip() if text == STDIN else text
    seconds = 0.0 if no_wait else wait
    async with opened(call, wait=seconds) as here:
        receipt = await here.memory.add(content, type=type, tags=tag or [], pinned=pin, **fields)
        left = await here.settle(seconds) if receipt.id else None
        receipt = await _as_it_is_now(here, receipt)
    if call.json:
        print_json(receipt)
    else:
        show(told(receipt), *details(receipt))
    if remark := waiting(left):
        say(remark)
    if receipt.outcome == "refused":
        raise typer.Exit(REFUSED)


def parsed_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(
            f"--value must be JSON ({problem}); text needs quotes of its own: '\"{text[:20]}\"'"
        ) from None


def told(receipt: Receipt) -> str:
    words = [WORDS[receipt.outcome], receipt.id or ""]
    if receipt.reason:
        words.append(f"({receipt.reason}): {REASONS[receipt.reason]}")
    if receipt.until:
        words.append(f"(until {when(receipt.until)})")
    if receipt.replaces:
        words.append(f"and superseded {receipt.replaces}")
    if receipt.id:
        words.append(f"· embedding {receipt.embedding}")
    return " ".join(word for word in words if word)


def details(receipt: Receipt) -> list[str]:
    """Everything else that happened, and what can be done about it."""
    lines = []
    if receipt.repeat:
        lines.append(f"if it is something else: recollect unmerge {receipt.id} {receipt.repeat}")
    if receipt.replaces:
        lines.append(f"if both hold: recollect resolve {receipt.id} --keep both")
    if receipt.conflicts:
        choice = "|".join((receipt.id or "", *receipt.conflicts, "both"))
        lines += [f"conflict: {receipt.confirm}", f"to answer: recollect resolve {receipt.id} --keep {choice}"]
    if receipt.masked:
        lines.append(f"masked before it was stored: {', '.join(receipt.masked)}")
    lines += [f"warning: {WARNINGS.get(each, each)}" for each in receipt.warnings]
    return [visible(f"  {line}") for line in lines]


async def _as_it_is_now(here: Opened, receipt: Receipt) -> Receipt:
    """The receipt with the embedding's state after the wait, instead of before it."""
    if receipt.id is None:
        return receipt
    target = Target("memory", receipt.id)
    statuses = await embedding_status(here.engine, here.scope, [target])
    return replace(receipt, embedding=statuses[target].state)
