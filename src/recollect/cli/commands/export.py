"""`recollect export`: a stream of JSON lines, or a file that is there only when it is complete."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from recollect.cli.opening import Opened, opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, say
from recollect.cli.progress import bar
from recollect.cli.reading import STDIN
from recollect.errors import InvalidInput
from recollect.model import Status

app = typer.Typer(add_completion=False)


@command(app)
async def export(
    call: Call,
    file: Annotated[str, typer.Argument(help="Where to; - is stdout.")] = STDIN,
) -> None:
    """Write everything in this space as JSON lines.

    Themes, conversations with their messages, and memories of every status; `recollect import` takes them back unchanged.
    """
    async with opened(call, embeds=False) as here:
        if file == STDIN:
            counts = await _write(here, sys.stdout)
        else:
            with complete(Path(file)) as out:
                counts = await _write(here, out)
    if file != STDIN and call.json:
        print_json({"file": file, **counts})
    else:
        said = ", ".join(f"{count:,} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items())
        say(f"exported {said.replace('memorys', 'memories') or 'nothing'}")


async def _write(here: Opened, out: TextIO) -> Counter[str]:
    """All lines; the total grows with the messages that each conversation announces."""
    total = (await here.memory.list(limit=1, statuses=tuple(Status))).total
    counts: Counter[str] = Counter()
    with bar("exporting", total) as advance:
        async for line in here.memory.export():
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            if line["kind"] == "header":
                continue
            counts[line["kind"]] += 1
            total += line.get("message_count", 0) if line["kind"] == "conversation" else 0
            advance(counts["memory"] + counts["message"], total)
    out.flush()
    return counts


@contextmanager
def complete(path: Path) -> Iterator[TextIO]:
    """A file for the owner's eyes only, which takes its name when the block ends well."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as problem:
        raise InvalidInput(f"can't write {path}: {problem.strerror}") from None
