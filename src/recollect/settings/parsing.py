"""How a value becomes a setting: one parser a kind, each of which says what it expected.

What a program gives by name goes through the same checks as the environment; there, a number may also be a number and a path a
path.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from recollect.errors import InvalidInput


class SettingsError(InvalidInput, ValueError):
    """A setting has a value that can't be used; the message names it and says what would do."""


def text(value: object) -> str:
    if not isinstance(value, str) or any(c == "\x00" or 0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise SettingsError("expected text, without NUL characters or broken Unicode")
    return value


def whole(least: int, most: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        try:
            number = int(value) if isinstance(value, str) else value
        except ValueError:
            number = None
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise SettingsError(f"expected a whole number from {least:,} to {most:,}")
        return number

    return parse


def number(least: float, most: float) -> Callable[[object], float]:
    def parse(value: object) -> float:
        try:
            found = float(value) if isinstance(value, str) else value
        except ValueError:
            found = None
        if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found <= most:
            raise SettingsError(f"expected a number from {least:g} to {most:g}")
        return float(found)

    return parse


fraction = number(0, 1)


def switch(value: object) -> bool:
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise SettingsError("expected 1 or 0 (on or off)")


def one_of(choices: Any) -> Callable[[object], str]:
    def parse(value: object) -> str:
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in get_args(choices):
            near = get_close_matches(word, get_args(choices), n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise SettingsError(f"expected one of {', '.join(get_args(choices))}{hint}")
        return word

    return parse


def folder(value: object) -> Path:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    try:
        if isinstance(path, str) and "\x00" not in path:
            return Path(path).expanduser()
    except RuntimeError:
        raise SettingsError("expected the path of a folder; there is no such user") from None
    raise SettingsError("expected the path of a folder")


def store_address(value: object) -> str:
    """A path object is always a file, even one that is called `postgres`; text may be an address."""
    if isinstance(value, os.PathLike):
        return str(folder(value).absolute())
    if isinstance(value, str) and _is_store(text(value)):
        return value
    raise SettingsError("expected a path or an address: give a file path, sqlite:///path, memory:// or postgresql://…")


def _is_store(value: str) -> bool:
    scheme, found, _ = value.partition("://")
    known = scheme in {"memory", "sqlite", "postgres", "postgresql"} or scheme.startswith("postgresql+")
    return known if found else not value.startswith(("sqlite:", "postgresql:", "postgres:"))


def setting(default: Any, parse: Callable[[object], Any], help: str, *aliases: str, secret: bool = False) -> Any:
    return field(default=default, metadata={"parse": parse, "help": help, "aliases": aliases, "secret": secret})
