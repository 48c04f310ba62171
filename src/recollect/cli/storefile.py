"""A whole store as one file of JSON lines: who it is, then scope after scope, each with its seal, then the end.

    {"kind":"header", …}                        what the file is, and under which secret its digests were made
    {"kind":"scope","tenant":…,"user":…,"space":…}
    …                                           the lines of that scope, in a defined order
    {"kind":"end","held":{"memory":{"count":…,"sha256":…}, …}}
    {"kind":"total","scopes":…,"sha256":…}      of all the ends

Equal stores give equal files, byte for byte: nothing in it says when or where it was written. A file that was cut off or changed
on the way is refused before anything of it is stored.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from recollect.engine.exporting.lines import Line
from recollect.engine.exporting.moving import Seal, canonical
from recollect.errors import InvalidInput
from recollect.model import Scope

FORMAT = "recollect-store"
VERSION = 2
READABLE = (1, 2)
GZIPPED = ".gz"
_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Opening:
    """A scope begins; its lines follow."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Closing:
    """A scope ends, and this is what it held."""

    scope: Scope
    held: dict[str, dict[str, Any]]


Event = Opening | Closing | tuple[int, Line]
"""What comes next in a file; a line comes with its number."""


class Writer:
    def __init__(self, out: BinaryIO, pepper: str, generation: str | None) -> None:
        self._out = out
        self._ends = hashlib.sha256()
        self._seal = Seal()
        self.scopes = 0
        self.lines = 0
        said = {"format": FORMAT, "version": VERSION, "pepper": pepper, "generation": generation}
        self._put({"kind": "header", **said})

    def open(self, scope: Scope) -> None:
        self._seal = Seal()
        self._put({"kind": "scope", "tenant": scope.tenant, "user": scope.user, "space": scope.space})

    def line(self, line: Line) -> None:
        self._seal.add(line["kind"], self._put(line))
        self.lines += 1

    def close(self) -> Seal:
        self._ends.update(self._put({"kind": "end", "held": self._seal.held}))
        self.scopes += 1
        return self._seal

    def finish(self) -> None:
        self._put({"kind": "total", "scopes": self.scopes, "sha256": self._ends.hexdigest()})
        self._out.flush()

    def _put(self, line: Line) -> bytes:
        data = canonical(line)
        self._out.write(data + b"\n")
        return data


@contextmanager
def packed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """`raw`, compressed where its name says so. Without a time in it, or equal stores would give unequal files."""
    if not name.endswith(GZIPPED):
        yield raw
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as out:
        yield out  # type: ignore[misc]  # writes bytes, which is all that is asked of it


def unpacked(raw: BinaryIO) -> BinaryIO:
    """`raw`, decompressed where it begins like a gzip file, whatever it is called."""
    peek = getattr(raw, "peek", None)
    begins = peek(2)[:2] if peek is not None else b""
    return gzip.GzipFile(fileobj=raw, mode="rb") if begins == _MAGIC else raw  # type: ignore[return-value]


@dataclass
class Reader:
    """The events of a file, each checked against the seals as it goes by."""

    file: BinaryIO
    read: Callable[[], None] = lambda: None
    header: Line = field(default_factory=dict)
    _ends: Any = field(default_factory=hashlib.sha256)
    _scopes: int = 0

    def __iter__(self) -> Iterator[Event]:
        scope: Scope | None = None
        seal, over = Seal(), False
        for number, data in self._data():
            line = _object(number, data)
            kind = line["kind"]
            if over:
                raise InvalidInput(f"line {number}: more follows after the end")
            if number == 1:
                self._begin(line)
            elif kind == "scope" and scope is None:
                scope, seal = _scope(number, line), Seal()
                yield Opening(scope)
            elif kind == "end" and scope is not None:
                yield self._close(number, data, line, scope, seal)
                scope = None
            elif kind == "total" and scope is None:
                self._total(number, line)
                over = True
            elif scope is not None and kind not in ("header", "scope", "total"):
                seal.add(kind, data)
                yield number, line
            else:
                raise InvalidInput(f"line {number}: a line of kind {kind[:40]!r} can't stand here")
        if not over:
            raise InvalidInput("the file ends before its end: it was cut off, or is still being written")

    def _data(self) -> Iterator[tuple[int, bytes]]:
        try:
            for number, data in enumerate(self.file, start=1):
                self.read()
                yield number, data.rstrip(b"\r\n")
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise InvalidInput(f"the compressed file is cut off or damaged ({problem})") from None

    def _begin(self, line: Line) -> None:
        if line["kind"] == "header" and line.get("format") == "recollect-export":
            raise InvalidInput("this file holds one space: import it without --all")
        if line["kind"] != "header" or line.get("format") != FORMAT or line.get("version") not in READABLE:
            raise InvalidInput(f"line 1: not a {FORMAT} file of version {VERSION} or before")
        self.header = line

    def _close(self, number: int, data: bytes, line: Line, scope: Scope, seal: Seal) -> Closing:
        self._ends.update(data)
        self._scopes += 1
        if line.get("held") != seal.held:
            raise InvalidInput(f"line {number}: what stands before it is not what was written: the file was changed")
        return Closing(scope, seal.held)

    def _total(self, number: int, line: Line) -> None:
        if (line.get("scopes"), line.get("sha256")) != (self._scopes, self._ends.hexdigest()):
            raise InvalidInput(f"line {number}: scopes are missing, or were changed, since the file was written")


def _object(number: int, data: bytes) -> Line:
    try:
        line = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"line {number}: not JSON ({problem})") from None
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        raise InvalidInput(f"line {number}: expected a JSON object with a kind")
    return line


def _scope(number: int, line: Line) -> Scope:
    try:
        return Scope(*(line.get(name, "") for name in ("tenant", "user", "space")))
    except InvalidInput as problem:
        raise InvalidInput(f"line {number}: {problem.message}") from None
