"""Help in words of people: an option says what to give it, a switch that it takes nothing, and paragraphs flow.

Typer names the Python type of every option (`--pin <bool>`, `--tag <list[str]>`), which reads as if a switch wanted a value.
"""

from __future__ import annotations

import inspect
from typing import Any

from typer.core import TyperCommand, TyperGroup


class Worded:
    """A command, or a group of them, with such help."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # Typer's own class comes after this one
        for each in found:
            if each.param_type_name == "option" and each.metavar is None:
                each.metavar = _word(each)
        return found


class WordedCommand(Worded, TyperCommand):
    pass


class WordedGroup(Worded, TyperGroup):
    pass


def flowing(text: str | None) -> str:
    """A docstring whose paragraphs are lines of their own, to be broken where the terminal ends and not where the source did."""
    return "\n\n".join(" ".join(each.split()) for each in inspect.cleandoc(text or "").split("\n\n"))


def _word(option: Any) -> str | None:
    if option.is_flag:
        return ""
    return "TEXT" if option.multiple else None
