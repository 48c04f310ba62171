"""Which pages there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from scripts.reference import commands, library, metrics, rest, settings, tools

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


class About(Protocol):
    """What a module has to say."""

    def page(self) -> str: ...

    def undocumented(self) -> Iterator[str]: ...


PAGES: dict[str, About] = {
    "library": library,
    "settings": settings,
    "cli": commands,
    "rest": rest,
    "tools": tools,
    "metrics": metrics,
}
