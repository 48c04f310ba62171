"""`recollect db backup`: a copy of a SQLite file under way; for Postgres, how its own tool makes one.

A dump of a server is the business of the server's tools: they know about its roles, extensions and versions. The command is said
in full, without the password, which must not stand where every process of the machine can read it.
"""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from recollect.bootstrap import postgres_url, sqlite_path
from recollect.cli.options import Call
from recollect.cli.output import print_json, say, show
from recollect.cli.progress import bar
from recollect.errors import InvalidInput
from recollect.settings import Settings
from recollect.stores.sqlite.backup import back_up
from recollect.stores.sqlite.connection import MEMORY

NOT_MADE = 1
File = Annotated[Path, typer.Argument(help="Where to.")]


async def backup(call: Call, file: File) -> None:
    """Copy a SQLite database while it is in use; for Postgres, say which command does it.

    The copy is of one moment, and is there only when it is whole. For Postgres nothing is copied, and the exit code is 1.
    """
    settings = call.settings()
    path = sqlite_path(settings)
    if path is None:
        await _say_how(call, settings, file)
        raise typer.Exit(NOT_MADE)
    if path == MEMORY:
        raise InvalidInput("a store in memory has no file to copy: use `export --all` from the process that holds it")
    with bar("copying", None, counted=False) as advance:
        size = await asyncio.to_thread(back_up, Path(path), file.expanduser(), lambda done, total: advance(done, total))
    if call.json:
        print_json({"file": str(file), "bytes": size, "made": True})
    else:
        show(f"copied to {file}: {size:,} bytes, checked")


async def _say_how(call: Call, settings: Settings, file: Path) -> None:
    url = settings.migrate_url or await postgres_url(settings)
    command, secret = dump_command(url, file)
    if call.json:
        print_json({"made": False, "command": command})
    else:
        show(command)
    if secret:
        say("the password is left out: put it into ~/.pgpass, or give it as PGPASSWORD in the environment")
    say(
        "run it as a role that sees every row (a superuser, or one with BYPASSRLS): rows are guarded from their owner too"
    )


def dump_command(url: str, file: Path) -> tuple[str, bool]:
    """The command for this database, and whether a password had to be taken out of its address."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    options = "&".join(each for each in parts.query.split("&") if each and not each.startswith("password="))
    address = f"{name}@{host}" if name else host
    where = f"{parts.scheme}://{address}{parts.path}" + (f"?{options}" if options else "")
    words = ["pg_dump", "--format=custom", f"--file={file}", f"--dbname={where}"]
    return shlex.join(words), bool(password) or options != parts.query
