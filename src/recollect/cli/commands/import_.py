"""`recollect import`: the lines of an export, back into this space or, with `--all`, a whole store. Repeating it is harmless."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from recollect.cli.bringing import Bringing, Kind
from recollect.cli.moving import differing, read_all
from recollect.cli.opening import NoWait, Wait, opened
from recollect.cli.options import Call, command
from recollect.cli.output import pairs, plain, print_json, say, show, waiting
from recollect.cli.progress import Advance, bar
from recollect.cli.reading import STDIN, lines, source
from recollect.errors import InvalidInput
from recollect.model import ImportReceipt

app = typer.Typer(add_completion=False)
DIFFERENT = 1
MOST_SAID = 20
EXPECTED = "; expected a file that `recollect export` wrote, or --from and the program that wrote it"


@command(app, "import")
async def import_file(
    call: Call,
    file: Annotated[
        str, typer.Argument(help="What `recollect export` or, with --from, another program wrote; - is stdin.")
    ],
    everything: Annotated[
        bool, typer.Option("--all", help="A whole store, written by `export --all`; read back and compared at the end.")
    ] = False,
    kind: Annotated[
        Kind | None, typer.Option("--from", help="What another memory or assistant has kept; see docs/moving.md.")
    ] = None,
    all_users: Annotated[
        bool,
        typer.Option("--all-users", help="With --from: keep what belongs to several users apart, under their names."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --from: say what would come in, store nothing.")
    ] = False,
    wait: Wait = 60.0,
    no_wait: NoWait = False,
) -> None:
    """Take back what `export` wrote, or take in what other programs have kept.

    What is already there under the same id is left alone, so that an import can be repeated, or gone on with after an
    interruption. With --all, exit code 1 says that the store does not hold what the file does.
    """
    if (all_users or dry_run) and kind is None:
        raise InvalidInput("--all-users and --dry-run go with --from")
    if kind is not None and everything:
        raise InvalidInput("--all takes what `export --all` wrote; --from takes what others have")
    if kind is not None:
        await _from_elsewhere(call, Bringing(kind.value, Path(file), all_users), dry_run, 0.0 if no_wait else wait)
        return
    if everything:
        await _whole_store(call, file)
        return
    with source(file) as data:
        async with opened(call) as here:
            with bar("importing", None if file == STDIN else os.fstat(data.fileno()).st_size, counted=False) as advance:
                receipt = await _load(here.memory.load(_objects(data, advance)))
            left = await here.settle(0.0 if no_wait else wait)
    if call.json:
        print_json(receipt)
    else:
        show(pairs({name: count for name, count in plain(receipt).items() if count} or {"imported": "nothing"}))
    if remark := waiting(left):
        say(remark)


async def _from_elsewhere(call: Call, bringing: Bringing, dry_run: bool, wait: float) -> None:
    found = bringing.survey(call)
    if dry_run:
        if call.json:
            print_json(found.report)
        else:
            show(*found.table)
        return
    async with opened(call, wait=wait) as here:
        receipt = await bringing.store(here, found)
        left = await here.settle(wait)
    if call.json:
        print_json(receipt)
    else:
        show(pairs({name: count for name, count in plain(receipt).items() if count} or {"imported": "nothing"}))
    if remark := waiting(left):
        say(remark)


async def _whole_store(call: Call, file: str) -> None:
    arrived = await read_all(call, file)
    count = len(arrived.sealed)
    if call.json:
        print_json(arrived.report)
    else:
        show(pairs(arrived.new or {"imported": "nothing new"}))
        if not arrived.differences:
            show(f"read back: {count:,} space{'' if count == 1 else 's'} as in the file, by counts and hashes")
    if arrived.vectors and not arrived.new["vectors"]:
        say(
            "the embeddings in the file are not of the model that serves here, or not needed; what is missing is made anew"
        )
    for difference in differing(arrived)[:MOST_SAID]:
        say(f"differs: {difference}")
    if arrived.differences:
        say(f"{len(arrived.differences):,} of {count:,} spaces differ from the file")
        raise typer.Exit(DIFFERENT)


async def _load(loading: Any) -> ImportReceipt:
    try:
        receipt: ImportReceipt = await loading
    except InvalidInput as problem:
        raise InvalidInput(f"{problem.message} (importing again after mending it is harmless)") from None
    return receipt


def _objects(data: BinaryIO, advance: Advance) -> Iterator[Any]:
    """Each line as JSON, with its number where it is not. Empty lines may stand at the end only."""
    done = empty = 0

    def read(size: int) -> None:
        nonlocal done
        done += size
        advance(done, None)

    for number, line in enumerate(lines(data, read), start=1):
        if not line.strip():
            empty = empty or number
            continue
        if empty:
            raise InvalidInput(f"line {empty}: is empty, and more follows")
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise InvalidInput(f"line {number}: not JSON ({problem}){EXPECTED if number == 1 else ''}") from None
