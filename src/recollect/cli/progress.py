"""Progress on stderr, for people only: when stderr is not a terminal there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Advance = Callable[[float, float | None], None]
"""Called with what is done so far and, when it has changed, what there is in all."""


@contextmanager
def bar(what: str, total: float | None, *, counted: bool = True) -> Iterator[Advance]:
    """A bar for as long as the block lasts. `counted`: show numbers, not only the share."""
    console = Console(stderr=True)
    amount = MofNCompleteColumn() if counted else TaskProgressColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(what, total=total)

        def advance(done: float, of: float | None = None) -> None:
            progress.update(task, completed=done)
            if of is not None:
                progress.update(task, total=of)

        yield advance
