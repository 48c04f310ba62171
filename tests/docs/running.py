"""Runs one page as its reader would: `python -m tests.docs.running PAGE FOLDER`, in the environment that it is to have.

Blocks run in the order in which they stand, in one folder, `python` blocks in one namespace. The first that doesn't do what the
page says ends it, with the line where it stands.
"""

from __future__ import annotations

import ast
import asyncio
import configparser
import contextlib
import doctest
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.docs.matching import holds, mentions, says
from tests.docs.modelling import modelling
from tests.docs.pages import Block, Written
from tests.docs.serving import ADDRESS, Server, serving

PATIENCE_SECONDS = 120


class WrongError(Exception):
    """A block isn't what the page says it is."""


class Reader:
    """What the reader of one page has: a folder, a Python session, and the server if the page talks of one."""

    def __init__(self, folder: Path, server: Server | None) -> None:
        self._folder = folder
        self._server = server
        self._known: dict[str, str] = {}
        self._loop = asyncio.new_event_loop()
        session = types.ModuleType("__main__")
        sys.modules["__main__"] = session  # where classes of the page say they are from
        self._names = vars(session)

    def follow(self, block: Block) -> None:
        check = CHECKS.get(block.language)
        if check is None:
            raise WrongError(f"nobody knows how to check {block.language or 'a block without a language'}")
        check(block.code)
        if block.file:
            (self._folder / block.file).write_text(block.code)
        elif not block.not_run and block.language in RUNS:
            RUNS[block.language](self, block)

    def python(self, block: Block) -> None:
        said = io.StringIO()
        place = "\n" * (block.line - 1)
        code = compile(place + self._led(block.code), "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                done = eval(code, self._names)  # our own page, as it stands
                if inspect.isawaitable(done):
                    self._loop.run_until_complete(done)
            except BaseException:
                raise WrongError(f"{said.getvalue()}{traceback.format_exc()}") from None
        self._compare(block, said.getvalue())

    def session(self, block: Block) -> None:
        said = io.StringIO()
        test = doctest.DocTestParser().get_doctest(block.code, self._names, "page", None, block.line - 1)
        failed = doctest.DocTestRunner().run(test, out=said.write, clear_globs=False).failed
        if failed:
            raise WrongError(said.getvalue())

    def shell(self, block: Block) -> None:
        self._compare(block, self._said(block.code))

    def console(self, block: Block) -> None:
        for command, code, shown in dialogue(block.code):
            said = self._said(command, code)
            for line in shown:
                if not mentions(said, line):
                    raise WrongError(f"says at `{command}`\n{said}\nand the page shows\n{line}")

    def _said(self, code: str, ends: int = 0) -> str:
        try:
            done = subprocess.run(
                ["bash", "-eu", "-c", self._led(code)],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=PATIENCE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise WrongError(f"goes on after {PATIENCE_SECONDS} seconds") from None
        if done.returncode != ends:
            raise WrongError(f"ends with {done.returncode}:\n{done.stdout.decode()}")
        return done.stdout.decode()

    def http(self, block: Block) -> None:
        first, _, body = block.code.partition("\n")
        for name, value in self._known.items():
            body = body.replace(name, value)
        method, path = first.split()
        assert self._server is not None
        sent = {"json": json.loads(body)} if body.strip() else {}
        answer = httpx.request(method, self._server.url + path, timeout=PATIENCE_SECONDS, **sent)
        if not answer.is_success:
            raise WrongError(f"is answered with {answer.status_code}: {answer.text}")
        if block.shown and not holds(answer.json(), json.loads(block.shown), self._known):
            raise WrongError(f"is answered with\n{answer.text}")

    def _led(self, code: str) -> str:
        return code.replace(ADDRESS, self._server.address) if self._server else code

    def _compare(self, block: Block, said: str) -> None:
        if self._server:
            said = said.replace(self._server.address, ADDRESS)
        if block.shown is not None and not says(said, block.shown):
            raise WrongError(f"says\n{said}\nand the page shows\n{block.shown}")


def dialogue(code: str) -> Iterator[tuple[str, int, list[str]]]:
    """Each command, its exit code, and the lines it says."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, *shown = part.replace("\\\n", " ").splitlines()
        ends = re.search(r"# exit code (\d+)$", command)
        yield command, int(ends[1]) if ends else 0, shown


def _parse_console(code: str) -> None:
    if not code.startswith("$ "):
        raise WrongError("doesn't begin with a command")
    for command, _, _ in dialogue(code):
        _parse_shell(command)


def _parse_shell(code: str) -> None:
    done = subprocess.run(["bash", "-n", "-c", code], capture_output=True, text=True)
    if done.returncode:
        raise WrongError(done.stderr)


def _parse_python(code: str) -> None:
    compile(code, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


CHECKS: dict[str, Callable[[str], Any]] = {
    "python": _parse_python,
    "sh": _parse_shell,
    "console": _parse_console,
    "pycon": doctest.DocTestParser().get_examples,
    "http": str.splitlines,
    "text": str.splitlines,
    "json": json.loads,
    "yaml": lambda code: [*yaml.safe_load_all(code)],
    "toml": tomllib.loads,
    "ini": lambda code: configparser.ConfigParser(interpolation=None).read_string(code),
}
RUNS: dict[str, Callable[[Reader, Block], None]] = {
    "python": Reader.python,
    "sh": Reader.shell,
    "console": Reader.console,
    "pycon": Reader.session,
    "http": Reader.http,
}


def talks_to_a_server(page: Written) -> bool:
    run = [block for block in page.blocks if block.language in RUNS and not block.not_run]
    return any(block.language == "http" or ADDRESS in block.code for block in run)


def main(page: Written, folder: Path) -> str | None:
    """What is wrong with the page, if anything is."""
    with contextlib.ExitStack() as stack:
        os.environ |= stack.enter_context(modelling())
        server = stack.enter_context(serving(folder.parent, page.server)) if talks_to_a_server(page) else None
        reader = Reader(folder, server)
        for block in page.blocks:
            try:
                reader.follow(block)
            except (WrongError, ValueError, SyntaxError, yaml.YAMLError, configparser.Error) as wrong:
                return f"{page.path}:{block.line}: the {block.language} block {wrong}"
    return None


if __name__ == "__main__":
    path = Path(sys.argv[1])
    sys.exit(main(Written(path, path.read_text()), Path.cwd()))
