"""Input from a file or, as `-`, from stdin: bytes that must be UTF-8, with the line named where they are not. And from hands."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from recollect.errors import InvalidInput

STDIN = "-"


@contextmanager
def source(name: str) -> Iterator[BinaryIO]:
    if name == STDIN:
        yield sys.stdin.buffer
        return
    try:
        file = open(name, "rb")  # noqa: SIM115  # closed below; only opening may fail in this way
    except OSError as problem:
        raise InvalidInput(f"can't read {name}: {problem.strerror}") from None
    with file:
        yield file


@contextmanager
def at_hand() -> Iterator[None]:
    """While somebody is asked something: Ctrl-C ends it at once. The event loop would note it, and go on waiting for a line."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def whole(name: str) -> str:
    with source(name) as file, at_hand():
        return _text(file.read(), "the input")


def lines(file: BinaryIO, read: Callable[[int], None] = lambda _: None) -> Iterator[str]:
    """The lines of `file`; `read` is told how many bytes each one had."""
    for number, line in enumerate(file, start=1):
        read(len(line))
        yield _text(line, f"line {number}")


def _text(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{what} is not UTF-8 at byte {problem.start + 1}; convert it first") from None
