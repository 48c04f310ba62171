"""The options that every command has, declared once.

A command is an `async def` whose first parameter is the `Call`: where to look and how to answer. `command` adds the shared
options to its signature, which is where Typer looks for them.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, fields
from typing import Annotated, Any, Concatenate, ParamSpec

import typer

from recollect.cli.wording import WordedCommand, flowing
from recollect.settings import Settings

P = ParamSpec("P")
PANEL = "Where, and how to answer"


def _shared(flag: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, help=help, metavar=metavar, rich_help_panel=PANEL, show_default=False)


@dataclass(frozen=True, slots=True)
class Call:
    """What the shared options say. None means: as the environment says."""

    store: Annotated[str | None, _shared("--store", "A SQLite file, sqlite:// or postgresql:// address.", "URL")] = None
    user: Annotated[str | None, _shared("--user", "Whose memory.", "NAME")] = None
    space: Annotated[str | None, _shared("--space", "Which space of that user.", "NAME")] = None
    tenant: Annotated[str | None, _shared("--tenant", "Which tenant.", "NAME")] = None
    json: Annotated[bool, _shared("--json", "One JSON document on stdout instead of a table.")] = False

    def settings(self, **overrides: Any) -> Settings:
        return Settings.load(store=self.store, user=self.user, space=self.space, tenant=self.tenant, **overrides)


NAMES = tuple(each.name for each in fields(Call))
PARAMETERS = tuple(
    parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    for parameter in inspect.signature(Call, eval_str=True).parameters.values()
)


def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """As `asyncio.run`, except that an interruption does not wait for threads: one may be asking a slow server."""
    runner = asyncio.Runner()
    interrupted = False
    try:
        runner.run(_interruptible(work))
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        if not interrupted:
            runner.close()


async def _interruptible(work: Coroutine[Any, Any, None]) -> None:
    """What goes wrong on the way out of an interruption is not what ended the command."""
    try:
        await work
    finally:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError


def command(
    app: typer.Typer, name: str | None = None
) -> Callable[
    [Callable[Concatenate[Call, P], Coroutine[Any, Any, None]]],
    Callable[Concatenate[Call, P], Coroutine[Any, Any, None]],
]:
    """Register a command with its own options and the shared ones."""

    def register(
        function: Callable[Concatenate[Call, P], Coroutine[Any, Any, None]],
    ) -> Callable[Concatenate[Call, P], Coroutine[Any, Any, None]]:
        _, *own = inspect.signature(function, eval_str=True).parameters.values()

        def run(**given: Any) -> None:
            call = Call(**{name: given.pop(name) for name in NAMES})
            run_to_end(function(call, **given))  # type: ignore[call-arg]

        parameters = [*(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own), *PARAMETERS]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__doc__ = flowing(function.__doc__)
        run.__name__ = function.__name__
        app.command(name, cls=WordedCommand)(run)
        return function

    return register
