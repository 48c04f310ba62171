"""Writes tests/packaging/public_api.txt, the listing of what programs may rely on: `python scripts/public_api.py`.

A test compares the two. A line that goes or changes is a change that programs notice (docs/versioning.md says what it takes); the
listing is then written again, on purpose, in the same commit.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from recollect.tools import TOOLS, schema

PAGE = Path(__file__).parents[1] / "tests" / "packaging" / "public_api.txt"
MODULES: dict[str, tuple[str, ...]] = {
    "recollect": (),
    "recollect.errors": (),
    "recollect.model": (),
    "recollect.tools": (),
    "recollect.doors.agents_sdk": (),
    "recollect.doors.langgraph": ("RecollectStore",),
    "recollect.doors.langchain": ("RecollectChatHistory",),
    "recollect.doors.datachat.memory": ("MemoryManager",),
}
"""Each with its public names; none: those of its `__all__`."""


def listing() -> str:
    lines = [line for module, names in MODULES.items() for line in _module(module, names)]
    return "\n".join([*lines, *_tools(), ""])


def _module(module: str, names: tuple[str, ...]) -> Iterator[str]:
    found = import_module(module)
    for name in sorted(names or found.__all__):
        yield from _described(f"{module}.{name}", getattr(found, name))


def _described(name: str, what: Any) -> Iterator[str]:
    if inspect.isclass(what) and issubclass(what, enum.Enum):
        yield f"{name}: {', '.join(each.name for each in what)}"
    elif inspect.isclass(what):
        yield f"{name}{_signature(what)}"
        for member in sorted(_members(what)):
            yield from _member(f"{name}.{member}", inspect.getattr_static(what, member))
    elif inspect.isroutine(what):
        yield f"{name}{_signature(what)}"
    else:
        yield f"{name}: {type(what).__name__}"


def _members(kind: type) -> set[str]:
    """Public, and ours: what a framework's class brings along is the framework's to change."""
    ours = [each for each in kind.__mro__ if each.__module__.startswith("recollect")]
    fields = set(getattr(kind, "__dataclass_fields__", ()))
    return {name for each in ours for name in vars(each) if not name.startswith("_")} - fields


def _member(name: str, what: Any) -> Iterator[str]:
    plain = what.__func__ if isinstance(what, classmethod | staticmethod) else what
    if isinstance(what, property):
        yield f"{name}: property"
    elif inspect.isroutine(plain):
        yield f"{name}{_signature(plain)}"
    elif not inspect.isclass(what) and not inspect.isdatadescriptor(what):
        yield f"{name}: {type(what).__name__}"


def _signature(what: Any) -> str:
    try:
        said = str(inspect.signature(what))
    except ValueError:
        return "(…)"
    # Annotations are kept as they are written; a default that shows where it lies in memory says nothing.
    return re.sub(r" at 0x[0-9a-f]+", "", re.sub(r"(: |-> )'([^']*)'", r"\1\2", said))


def _tools() -> Iterator[str]:
    for tool in sorted(TOOLS, key=lambda each: each.name):
        # Which arguments it takes and needs, and what it gives. How they are explained may get better at any time.
        taken, given = schema(tool.input), schema(tool.output)
        needs = set(taken.get("required", []))
        takes = ", ".join(name if name in needs else f"{name}?" for name in sorted(taken["properties"]))
        yield f"tool {tool.name}({takes}) -> {', '.join(sorted(given['properties']))}"


if __name__ == "__main__":
    PAGE.write_text(listing())
