"""The house rules as functions: each takes one parsed file and yields what breaks it, as `file:line: why`.

They live apart from the tests that apply them, so that each can be shown a bad example and seen to object.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
LONGEST_HANDLER = 10
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "base"}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
BROAD = {"Exception", "BaseException"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
HTTP_VERBS = {"get", "post", "put", "patch", "delete", "head", "options", "websocket", "api_route"}
AVOIDING = {"skip", "skipif", "xfail", "importorskip"}

# Put together from pieces so that this file does not itself name what it forbids.
REGISTRIES = ["py" + "pi.org", "python" + "hosted", "npm" + "js.", "hugging" + "face.co/simple"]
MACHINE_FOLDERS = ["wo" + "rk", "t" + "mp", "ro" + "ot", "o" + "pt", "ho" + "me", "Us" + "ers"]
FOREIGN_ADDRESS = re.compile("|".join(map(re.escape, REGISTRIES)))
MACHINE_PATH = re.compile(rf"(?<![\w.~}}/-])/(?:{'|'.join(MACHINE_FOLDERS)})/")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file: where it is, relative to its root, and what it says."""

    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]

    def at(self, place: ast.AST | int, why: str) -> str:
        line = place if isinstance(place, int) else getattr(place, "lineno", 1)
        return f"{self.path.as_posix()}:{line}: {why}"


Rule = Callable[[Source], Iterator[str]]


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def file_is_short(source: Source) -> Iterator[str]:
    lines = source.text.count("\n")
    if lines > LONGEST_FILE:
        yield source.at(lines, f"{lines} lines; a file stops at {LONGEST_FILE}")


def functions_are_short(source: Source) -> Iterator[str]:
    for function in source.functions:
        if length(function) > LONGEST_FUNCTION:
            yield source.at(
                function,
                f"{function.name} has {length(function)} lines; {LONGEST_FUNCTION} are allowed",
            )


def handlers_are_thin(source: Source) -> Iterator[str]:
    for function in source.functions:
        first = function.body[1] if ast.get_docstring(function) and len(function.body) > 1 else function.body[0]
        lines = (function.end_lineno or first.lineno) - first.lineno + 1
        if any(map(_is_route, function.decorator_list)) and lines > LONGEST_HANDLER:
            yield source.at(function, f"handler {function.name} has {lines} lines; {LONGEST_HANDLER} will do")


def _is_route(decorator: ast.expr) -> bool:
    return (
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr in HTTP_VERBS
    )


def errors_are_caught_by_name(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            yield source.at(node, "catches everything; name the errors that are expected here")


def _is_broad(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    named = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(each, ast.Name) and each.id in BROAD for each in named)


def name_says_what_it_is(source: Source) -> Iterator[str]:
    for part in source.path.with_suffix("").parts:
        if VAGUE_NAMES & set(part.split("_")):
            yield source.at(1, f"'{part}' says nothing about what is inside")


def module_says_what_it_promises(source: Source) -> Iterator[str]:
    if not ast.get_docstring(source.tree):
        yield source.at(1, "has no module docstring")


def environment_is_left_alone(source: Source) -> Iterator[str]:
    for node in source.nodes:
        by_attribute = (
            isinstance(node, ast.Attribute)
            and node.attr in ENVIRONMENT
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
        )
        by_import = (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and any(alias.name in ENVIRONMENT for alias in node.names)
        )
        if by_attribute or by_import:
            yield source.at(node, "reads the environment; only settings/ does")


def imports_are_in_the_open(source: Source) -> Iterator[str]:
    # A nested function is walked with its outer one as well: the set keeps each import from being told twice.
    hidden = {node for function in source.functions for node in ast.walk(function) if _is_internal_import(node)}
    for node in sorted(hidden, key=lambda each: getattr(each, "lineno", 1)):
        yield source.at(node, "imports our own code inside a function")


def _is_internal_import(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] == "recollect"
    return isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "recollect" for alias in node.names)


def work_is_finished(source: Source) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING) and UNFINISHED.search(token.string):
            yield source.at(token.start[0], "announces work that is not done")
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id == "NotImplementedError":
            yield source.at(node, "is not implemented")


def nothing_of_ours_is_mocked(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            if any(part in {"mock", "pytest_mock"} for name in modules for part in name.split(".")):
                yield source.at(node, "imports mocks; a fake is a real implementation in recollect.testing")
        elif isinstance(node, ast.arg) and node.arg == "mocker":
            yield source.at(node, "asks for a mocker")
        elif (
            isinstance(node, ast.Attribute)
            and node.attr in {"setattr", "delattr"}
            and isinstance(node.value, ast.Name)
            and node.value.id == "monkeypatch"
        ):
            yield source.at(node, "patches an attribute; pass a real implementation instead")


def no_test_is_avoided(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in AVOIDING and _comes_from_pytest(node.value):
            yield source.at(node, f"uses {node.attr}; a test runs and passes, or is not written")


def _comes_from_pytest(value: ast.expr) -> bool:
    return ast.unparse(value) in {"pytest", "pytest.mark", "mark"}


def text_names_no_machine(path: Path, text: str) -> Iterator[str]:
    """Unlike the others, over any text file: requirement files, documents and scripts included."""
    for number, line in enumerate(text.splitlines(), start=1):
        if FOREIGN_ADDRESS.search(line):
            yield f"{path.as_posix()}:{number}: names a package registry"
        if MACHINE_PATH.search(line):
            yield f"{path.as_posix()}:{number}: names a folder of some machine"
