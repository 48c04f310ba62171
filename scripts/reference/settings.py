"""The settings, by the environment variables that set them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from scripts.reference.writing import WRITTEN, code, joined, table

from recollect.settings import Settings, names_of

HEAD = f"""# Settings

Every setting, by the environment variable that sets it. The library takes the same by name: `Memory(rate_limit=20)`. A value that
doesn't parse is refused with the variable's name and what was expected.

{WRITTEN}
"""


def page() -> str:
    groups = [each for each in Settings.__mro__ if each.__module__.startswith("recollect.settings.")]
    return joined(HEAD, *(_section(group) for group in reversed(groups)))


def undocumented() -> Iterator[str]:
    yield from (names_of(each.name)[0] for each in fields(Settings) if not each.metadata["help"])


def _section(group: type) -> str:
    about = (import_module(group.__module__).__doc__ or "").strip().splitlines()[0]
    own = [each for each in fields(Settings) if each.name in group.__annotations__]
    rows = table(("variable", "default", "what it says"), (_row(each) for each in own))
    return f"## {about.rstrip('.')}\n\n{rows}"


def _row(setting: Field[Any]) -> tuple[str, str, str]:
    name, *aliases = names_of(setting.name)
    also = f" Also: {', '.join(map(code, aliases))}." if aliases else ""
    secret = " A secret." if setting.metadata["secret"] else ""
    return code(name), _default(setting.default), setting.metadata["help"] + also + secret


def _default(value: Any) -> str:
    if isinstance(value, Path):
        return code(value).replace(str(Path.home()), "~")
    if isinstance(value, bool):
        return "`1`" if value else "`0`"
    return "" if value in (None, "") else code(value)
