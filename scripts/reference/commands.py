"""The command line: every command with its arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scripts.reference.writing import WRITTEN, code, joined, table

from recollect.cli import EPILOG
from recollect.cli.group import COMMANDS, loaded
from recollect.cli.options import NAMES

HEAD = f"""# Command line

`recollect COMMAND --help` says the same. What the shared options leave open comes from the [settings](settings.md).

{EPILOG}.

{WRITTEN}
"""
HEADS = ("", "what it says")


def page() -> str:
    every = [*_every()]
    shared = [each for each in every[0][1].params if each.name in NAMES]
    common = joined("## Options of every command", table(HEADS, map(_row, shared)))
    return joined(HEAD, common, *(_section(name, command) for name, command in every))


def undocumented() -> Iterator[str]:
    for name, command in _every():
        yield from missing(name, command)


def missing(name: str, command: Any) -> Iterator[str]:
    if not command.help:
        yield name
    yield from (f"{name} {_name(each)}" for each in command.params if not each.help)


def _every() -> Iterator[tuple[str, Any]]:
    for name in COMMANDS:
        yield from _below(f"recollect {name}", loaded(name))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for own, each in getattr(command, "commands", {}).items():
        yield from _below(f"{name} {own}", each)


def _section(name: str, command: Any) -> str:
    own = [each for each in command.params if each.name not in {*NAMES, "help"}]
    arguments = " ".join(_argument(each) for each in own if each.param_type_name == "argument")
    usage = f"{name} {arguments}".strip() if not hasattr(command, "commands") else f"{name} COMMAND"
    return joined(f"## {name}", code(usage), str(command.help), table(HEADS, map(_row, own)))


def _row(parameter: Any) -> tuple[str, str]:
    default = parameter.default
    said = default not in (None, False, "") and not callable(default) and parameter.show_default
    return _name(parameter), parameter.help + (f" Default: {code(default)}." if said else "")


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return code(_argument(parameter))
    words = ", ".join(parameter.opts + parameter.secondary_opts)
    return code(words if parameter.is_flag else f"{words} {parameter.metavar or parameter.name.upper()}")


def _argument(parameter: Any) -> str:
    name = str(parameter.metavar or parameter.name.upper()) + ("…" if parameter.nargs != 1 else "")
    return name if parameter.required else f"[{name}]"
