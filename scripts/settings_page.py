"""Writes docs/settings.md from the settings themselves: `python scripts/settings_page.py`. A test compares the two."""

from __future__ import annotations

from dataclasses import Field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from recollect.settings import Settings, names_of

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings

Every setting, by the environment variable that sets it. The library takes the same by name: `Memory(rate_limit=20)`. A value that
doesn't parse is refused with the variable's name and what was expected.

This page is written by `python scripts/settings_page.py`.
"""


def page() -> str:
    groups = [each for each in Settings.__mro__ if each.__module__.startswith("recollect.settings.")]
    return "\n".join([HEAD, *(_section(group) for group in reversed(groups))])


def _section(group: type) -> str:
    about = (import_module(group.__module__).__doc__ or "").strip().splitlines()[0]
    own = [each for each in fields(Settings) if each.name in group.__annotations__]
    rows = "\n".join(_row(each) for each in own)
    return f"## {about.rstrip('.')}\n\n| variable | default | what it says |\n|---|---|---|\n{rows}\n"


def _row(setting: Field[Any]) -> str:
    name, *aliases = names_of(setting.name)
    also = f" Also: {', '.join(f'`{alias}`' for alias in aliases)}." if aliases else ""
    secret = " A secret." if setting.metadata["secret"] else ""
    return f"| `{name}` | {_default(setting.default)} | {_cell(setting.metadata['help'] + also + secret)} |"


def _default(value: Any) -> str:
    if isinstance(value, Path):
        return f"`{value}`".replace(str(Path.home()), "~")
    if isinstance(value, bool):
        return "`1`" if value else "`0`"
    return "" if value in (None, "") else f"`{_cell(str(value))}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page())
