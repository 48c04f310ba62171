"""A process that has everything imported and forks a writer whenever it is asked to, so that thirty deaths take seconds.

One JSON order per line comes in on standard input; `born`, whatever the writer says, and `gone` go out on standard output.
The nursery opens no memory itself and has no threads, so each fork starts clean and opens everything anew. It ends when its
input closes; a writer ends by itself after a few seconds, should nobody kill it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]
Line = dict[str, Any]


class Nursery:
    """The parent's side."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def bear(self, **order: Any) -> int:
        """Start a writer; its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        line = self.hear()
        assert line["event"] == "born", line
        return int(line["pid"])

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)

    def hear(self) -> Line:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery died"
        heard: Line = json.loads(line)
        return heard

    def hear_of(self, done: int) -> list[Line]:
        """What the writer says until so many of its steps were acknowledged: a slow machine gets the time it needs."""
        heard: list[Line] = []
        while done:
            heard.append(self.hear())
            assert heard[-1]["event"] != "gone", heard
            done -= heard[-1]["event"] == "done"
        return heard

    def last_words(self) -> Iterator[Line]:
        """What the writer said until it was gone."""
        while (line := self.hear())["event"] != "gone":
            yield line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


@contextmanager
def nurseries(count: int) -> Iterator[list[Nursery]]:
    """Several, side by side."""
    several = [Nursery() for _ in range(count)]
    try:
        yield several
    finally:
        for each in several:
            each.__exit__(None, None, None)


def say(**line: Any) -> None:
    """One line in one write: threads and a sudden death leave lines whole or absent."""
    os.write(1, (json.dumps(line) + "\n").encode())


def main() -> None:
    from tests.faults.writer import write_as_told

    for order in sys.stdin:
        pid = os.fork()
        if pid == 0:
            sys.stdin.close()
            say(event="born", pid=os.getpid())  # by itself: it may well be faster than its parent
            write_as_told(json.loads(order))
            os._exit(0)
        os.waitpid(pid, 0)
        say(event="gone")


if __name__ == "__main__":
    main()
