"""The library: what a program may import, with what is said about it where it is declared."""

from __future__ import annotations

import ast
import enum
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from textwrap import dedent
from typing import Any

from scripts.reference.writing import WRITTEN, code, joined, table

from recollect import AsyncMemory, Memory, errors, model
from recollect.engine.chatting.talks import Talk as AsyncTalk
from recollect.policy.render import Block
from recollect.sync import Talk

HEAD = f"""# Library

What a program may rely on. [How to use it](../library.md) comes first; this is for looking things up. `Memory` and `AsyncMemory`
have the same methods, those of `AsyncMemory` awaited.

```python
from recollect import AsyncMemory, Memory
```

{WRITTEN}
"""
KITS = {
    "recollect.doors.agents_sdk": ("RecollectSession", "guided", "memory_tools", "query_memory_tool"),
    "recollect.doors.langgraph": ("RecollectStore",),
    "recollect.doors.langchain": ("RecollectChatHistory",),
    "recollect.doors.datachat.memory": ("MemoryManager",),
}
"""For other people's frameworks: by the module from which they are imported."""
MODEL = {name: kind for name in model.__all__ if inspect.isclass(kind := getattr(model, name))}
NAMED = MODEL | {"MemoryRecord": model.Memory, "Block": Block, "Talk": Talk}
"""Types by the names under which signatures tell of them."""


def page() -> str:
    results = joined("## What they give", *(_class(name, kind, "###") for name, kind in results_of(Memory).items()))
    trouble = table(("error", "status", "what it says"), map(_error, _errors()))
    kits = [joined(f"## {module}", *(_any(module, name) for name in names)) for module, names in KITS.items()]
    return joined(HEAD, _class("Memory", Memory, "##"), results, "## Errors", trouble, *kits)


def undocumented() -> Iterator[str]:
    kinds: list[Any] = [Memory, AsyncMemory, Talk, AsyncTalk, Block, *MODEL.values(), *_errors()]
    kinds += [getattr(import_module(module), name) for module, names in KITS.items() for name in names]
    for kind in kinds:
        if not said(kind):
            yield f"{kind.__module__}.{kind.__name__}"
        if inspect.isclass(kind) and not issubclass(kind, enum.Enum):
            yield from (f"{kind.__name__}.{name}" for name, each in _members(kind) if not said(each))


def results_of(kind: type) -> dict[str, type]:
    """The types of what its methods give, and of what is in these: nobody meets others."""
    found: dict[str, type] = {}
    waiting = [word for _, each in _members(kind) for word in _words(_result(each))]
    while waiting:
        name = waiting.pop(0)
        if name in NAMED and NAMED[name] not in found.values():
            found[name] = NAMED[name]
            waiting += [
                word for annotation in inspect.get_annotations(NAMED[name]).values() for word in _words(annotation)
            ]
    return found


def _words(annotation: str) -> list[str]:
    return re.findall(r"\w+", annotation)


def _result(method: Any) -> str:
    return str(inspect.signature(method).return_annotation) if inspect.isroutine(method) else ""


def _members(kind: type) -> list[tuple[str, Any]]:
    """Public methods and properties of its own and its parents of ours, in the order in which they are declared."""
    ours = [each for each in reversed(kind.__mro__) if each.__module__.startswith("recollect")]
    every = {name: each for one in ours for name, each in vars(one).items() if not name.startswith("_")}
    return [(name, each) for name, each in every.items() if inspect.isroutine(each) or isinstance(each, property)]


def _errors() -> list[type[errors.RecollectError]]:
    return [getattr(errors, name) for name in errors.__all__]


def _error(kind: type[errors.RecollectError]) -> tuple[str, str, str]:
    return code(kind.__name__), str(kind.status), said(kind)


def _any(module: str, name: str) -> str:
    what = getattr(import_module(module), name)
    return _class(name, what, "###") if inspect.isclass(what) else _routine(f"### {name}", name, what)


def _class(name: str, kind: type, mark: str) -> str:
    if issubclass(kind, enum.Enum):
        return joined(f"{mark} {name}", said(kind), ", ".join(code(each.value) for each in kind))
    made = "" if is_dataclass(kind) else code(f"{name}{_signature(kind)}")
    methods = (_routine(f"{mark}# {name}.{own}", own, each) for own, each in _members(kind))
    return joined(f"{mark} {name}", made, said(kind), _attributes(kind), *methods)


def _routine(heading: str, name: str, what: Any) -> str:
    made = code(f"{name}{_signature(what)}") if inspect.isroutine(what) else "A property."
    return joined(heading, made, said(what))


def _signature(what: Any) -> str:
    plain = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(what)))
    return re.sub(r"\(self(, )?", "(", plain)


def _attributes(kind: type) -> str:
    if not is_dataclass(kind):
        return ""
    about = _said_below(kind)
    rows = [(code(each.name), code(each.type), about.get(each.name, "")) for each in fields(kind)]
    return table(("field", "type", "what it says"), rows)


def _said_below(kind: type) -> dict[str, str]:
    """What stands below a field in its class, which Python itself forgets."""
    (declared,) = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(declared, ast.ClassDef)
    pairs = zip(declared.body, declared.body[1:], strict=False)
    return {
        field.target.id: " ".join(str(text.value.value).split())
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def said(what: Any) -> str:
    """What is said of it there, its examples as a block; not what a parent in another package says."""
    own = inspect.cleandoc(getattr(what, "__doc__", None) or "")
    if is_dataclass(what) and own.startswith(f"{getattr(what, '__name__', '')}("):
        return ""  # made by Python
    return re.sub(r"((?:^>>> .*\n?(?:^(?!\n).+\n?)*)+)", _example, own, flags=re.MULTILINE)


def _example(found: re.Match[str]) -> str:
    return f"```pycon\n{found[0].rstrip()}\n```\n"
