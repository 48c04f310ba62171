"""`recollect search`: hits with their relevance, and with `--explain` why each is there and how the search went."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import described, entry, grid, pairs, plain, print_json, say, show
from recollect.cli.reading import STDIN, whole
from recollect.model import KINDS, Hit, Recall, Trace

app = typer.Typer(add_completion=False)


@command(app)
async def search(
    call: Call,
    query: Annotated[str, typer.Argument(help="The question, in words; - reads it from stdin.")],
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="How many hits at most.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="memory or message; both by default.")] = None,
    type: Annotated[list[str] | None, typer.Option("--type", "-t", help="Only this type; may be given again.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; may be given again.")] = None,
    theme: Annotated[list[str] | None, typer.Option("--theme", help="Only of this theme.")] = None,
    session: Annotated[list[str] | None, typer.Option("--session", help="Only from this conversation.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before, e.g. 2025-03-01.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before this time.")] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="How to rank.")] = "native",
    min_relevance: Annotated[float | None, typer.Option("--min-relevance", help="From 0 to 1.")] = None,
    token_budget: Annotated[int | None, typer.Option("--token-budget", help="The most tokens in all.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the signals of each hit and the trace.")] = False,
) -> None:
    """Find what belongs to a question, best first."""
    asked = whole(STDIN).strip() if query == STDIN else query
    async with opened(call) as here:
        recall = await here.memory.search(
            asked,
            limit=limit,
            kinds=kind or KINDS,  # type: ignore[arg-type]  # checked where it is used
            types=type or (),
            tags=tag or (),
            themes=theme or (),
            sessions=session or (),
            since=since,
            until=until,
            recipe=recipe,
            min_relevance=min_relevance,
            token_budget=token_budget,
        )
    if call.json:
        print_json({"query": asked, "hits": [_json(hit) for hit in recall.hits], "trace": recall.trace})
        return
    _show(recall, explain)


def _json(hit: Hit) -> dict[str, Any]:
    return {"kind": hit.target.kind, "id": hit.target.id, "content": hit.content, **plain(hit)}


def _show(recall: Recall, explain: bool) -> None:
    if not recall.hits:
        show("nothing matches")
    else:
        show(grid([_row(hit, explain) for hit in recall.hits], numbered=True))
    if explain:
        show("", pairs(_explained(recall.trace)))
    elif recall.trace.degraded:
        say(f"without {', '.join(recall.trace.degraded)}: `recollect doctor` says why")


def _row(hit: Hit, explain: bool) -> tuple[str, Text]:
    thing = hit.memory or hit.message
    assert thing is not None
    signals = {"score": hit.score, **hit.signals} if explain else {}
    why = "  ".join(f"{name} {value:.3g}" for name, value in signals.items())
    return f"{hit.relevance:.2f}", entry(hit.content, described(thing), why)


def _explained(trace: Trace) -> dict[str, Any]:
    return {
        "recipe": trace.recipe,
        "generation": trace.generation or "none: by words only",
        "candidates": "  ".join(f"{leg} {count}" for leg, count in trace.candidates.items()),
        "timings": "  ".join(f"{stage} {ms:.1f} ms" for stage, ms in trace.timings_ms.items()),
        "degraded": ", ".join(trace.degraded),
        "tokens": trace.token_count or None,
        "truncated": trace.truncated,
    }
