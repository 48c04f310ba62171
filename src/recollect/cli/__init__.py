"""The command line: what the library can do, for hands and scripts.

People get readable tables, `--json` gives one JSON document on stdout (JSON lines for `export`), and everything else, progress
included, goes to stderr. Every command takes `--store --user --space --tenant --json`; the rest of the settings comes from the
environment. What went wrong is said in one line, and the exit code says of which kind it was:

    0    done; for `add`: stored, merged or superseded
    1    something else failed, `doctor` or `db check` found something broken, or `import --all` a difference
    2    the command, its input or a setting is wrong
    3    refused: by a rule, by a tombstone, or by you at a confirmation
    4    nothing has that id here
    5    a part we depend on is down, full or too slow
    130  interrupted
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from recollect._version import __version__
from recollect.cli.group import INTERRUPTED, CommandGroup

__all__ = ["app", "main"]

EPILOG = (
    "Exit codes: 0 done · 1 failed, or something is broken · 2 wrong input or setting · 3 refused · "
    "4 not found · 5 unavailable · 130 interrupted"
)

app = typer.Typer(cls=CommandGroup, epilog=EPILOG, no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recollect {__version__}")
        raise typer.Exit


@app.callback()
def recollect(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Memory for AI assistants: remember, recall and forget.

    New here? `recollect demo` walks you through, `recollect serve --demo` shows the page.
    """


def main() -> None:
    """The console script. Text goes in and out as UTF-8 whatever the locale says: JSON is, and so are memories."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8")
    try:
        app(prog_name="recollect")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _leave()
        raise


def _leave() -> None:
    """End now. The interpreter would wait for every thread first, and one may be waiting for a slow server."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(INTERRUPTED)
