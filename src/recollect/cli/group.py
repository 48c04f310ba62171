"""The list of commands, each loaded when it is called and not before, so that `recollect --help` answers at once.

Errors that are expected end here as one line on stderr and an exit code; a traceback always means a bug.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from recollect.cli.wording import WordedGroup
from recollect.errors import InvalidInput, NotAllowed, NotFound, RecollectError, Unavailable
from recollect.settings import SettingsError

COMMANDS = {
    "add": ("add", "Remember something."),
    "search": ("search", "Find what belongs to a question, best first."),
    "chat": ("chat", "Talk to an assistant that remembers."),
    "list": ("list", "Show memories, newest first."),
    "get": ("get", "Show one memory with everything known about it."),
    "pin": ("pin", "Keep memories from being trimmed or aged away."),
    "unmerge": ("unmerge", "Take apart what was taken for the same."),
    "resolve": ("resolve", "Say which of two statements holds, or that both do."),
    "restore": ("restore", "Bring archived memories back into recall."),
    "forget": ("forget", "Remove memories, a conversation or a whole user, for good."),
    "export": ("export", "Write everything in this space as JSON lines."),
    "import": ("import_", "Take back what `export` wrote, or take in what other programs have kept."),
    "seed": ("seed", "Put a file of memories in, as the administrator."),
    "serve": ("serve", "Serve the memory over HTTP, with a page to look at it."),
    "worker": ("worker", "Do the background work in a process of its own."),
    "mcp": ("mcp", "Serve the memory to an MCP client that starts this command."),
    "reembed": ("reembed", "Change the embedding model, or embed what is missing, while the old one serves."),
    "maintain": ("maintain", "Keep memories in order: expire, trim, end what is over."),
    "health": ("health", "Find duplicates, contradictions, and what is stale, expired, unembedded or too large."),
    "demo": ("demo", "See what Recollect can do, on data of its own."),
    "doctor": ("doctor", "Check that everything works, and say how to fix what doesn't."),
    "db": (
        "db",
        "The database itself: upgrade, current, check, reindex, backup, plan, size, index, partition, distribute, keys, users.",
    ),
}
"""In the order they are shown: the module under `recollect.cli.commands`, and what to expect of it."""

EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (InvalidInput, 2),
    (SettingsError, 2),
    (NotAllowed, 3),
    (NotFound, 4),
    (Unavailable, 5),
)
INTERRUPTED = 130
UNAVAILABLE = 5
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class CommandGroup(WordedGroup):
    """Shows outlines of its commands and loads the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (_, summary) in COMMANDS.items():
            self.commands[name] = TyperCommand(name=name, help=summary)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, outline, rest = super().resolve_command(ctx, args)
        return name, outline if name is None else loaded(name), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (RecollectError, SettingsError) as problem:
            typer.echo(f"error: {_one_line(str(problem))}", err=True)
            raise typer.Exit(exit_code(problem)) from None
        except OSError as problem:
            if problem.errno not in NO_ROOM:
                raise
            _discard_what_could_not_be_written()
            typer.echo(
                f"error: the output could not be written: {problem.strerror}; make room, or write elsewhere", err=True
            )
            raise typer.Exit(UNAVAILABLE) from None
        except (KeyboardInterrupt, typer.Abort):
            raise typer.Exit(INTERRUPTED) from None


def _discard_what_could_not_be_written() -> None:
    """Else the interpreter would try it once more on its way out, and complain once more."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def loaded(name: str) -> Any:
    module = import_module(f"recollect.cli.commands.{COMMANDS[name][0]}")
    return get_command(module.app)


def exit_code(problem: Exception) -> int:
    return next((code for kind, code in EXIT_CODES if isinstance(problem, kind)), 1)


def _one_line(message: str) -> str:
    return " ".join(message.split())
