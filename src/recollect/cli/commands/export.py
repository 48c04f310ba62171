"""`recollect export`: one space, or with `--all` the whole store, as JSON lines; a file is there only when it is complete."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from recollect.cli.moving import write_all
from recollect.cli.opening import Opened, opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, say
from recollect.cli.progress import bar
from recollect.cli.reading import STDIN
from recollect.cli.writing import complete
from recollect.errors import InvalidInput
from recollect.model import Status

app = typer.Typer(add_completion=False)


@command(app)
async def export(
    call: Call,
    file: Annotated[
        str, typer.Argument(help="Where to; - is stdout. With --all, a name that ends in .gz compresses.")
    ] = STDIN,
    everything: Annotated[
        bool, typer.Option("--all", help="Every space of every user and tenant, to move a store or to keep it safe.")
    ] = False,
    vectors: Annotated[bool, typer.Option("--vectors", help="With --all: take the embeddings along.")] = False,
) -> None:
    """Write everything in this space as JSON lines.

    Themes, conversations with their messages, and memories of every status; `recollect import` takes them back unchanged. With
    --all the whole store, or what --tenant, --user and --space leave of it, with all that belongs to it; `import --all` takes
    that into another store, SQLite or Postgres.
    """
    if vectors and not everything:
        raise InvalidInput("--vectors goes with --all: what is for its owner has no vectors")
    if everything:
        done = await write_all(call, file, vectors)
        _say(call, file, done, done["held"], f" of {done['scopes']:,} space{'' if done['scopes'] == 1 else 's'}")
        return
    async with opened(call, embeds=False) as here:
        if file == STDIN:
            counts = await _write(here, sys.stdout.write)
            sys.stdout.flush()
        else:
            with complete(Path(file)) as out:
                counts = await _write(here, lambda line: out.write(line.encode()))
    _say(call, file, {"file": file, **counts}, counts)


def _say(call: Call, file: str, done: Mapping[str, object], counts: Mapping[str, int], where: str = "") -> None:
    if file != STDIN and call.json:
        print_json(done)
    else:
        said = ", ".join(f"{count:,} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items())
        said = said.replace("memorys", "memories").replace("settingss", "settings")
        say(f"exported {said or 'nothing'}{where}")


async def _write(here: Opened, put: Callable[[str], object]) -> Counter[str]:
    """All lines; the total grows with the messages that each conversation announces."""
    total = (await here.memory.list(limit=1, statuses=tuple(Status))).total
    counts: Counter[str] = Counter()
    with bar("exporting", total) as advance:
        async for line in here.memory.export():
            put(json.dumps(line, ensure_ascii=False) + "\n")
            if line["kind"] == "header":
                continue
            counts[line["kind"]] += 1
            total += line.get("message_count", 0) if line["kind"] == "conversation" else 0
            advance(counts["memory"] + counts["message"], total)
    return counts
