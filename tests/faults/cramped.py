"""A process that writes until its disk is full, waits for room, and writes on. Says what was acknowledged, as `writer` does.

Where no small disk could be mounted, the size of the process's own files is limited instead: SQLite meets the same refusal.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from typing import Any

from recollect import Memory, Unavailable
from tests.faults.nursery import say

PAGE = "lamp boat harbour tea " * 200
FAR_TOO_MANY = 5000


def fill(memory: Memory) -> None:
    for number in range(FAR_TOO_MANY):
        text = f"full{number} {PAGE}"
        try:
            receipt = memory.add(text)
        except Unavailable as problem:
            say(event="full", message=problem.message, details=dict(problem.details))
            return
        say(event="done", id=receipt.id, text=text)


def read_back(memory: Memory, url: str) -> None:
    """A full disk is no reason not to answer, and none to hold on to anything."""
    with Memory(url, user="ana", embedder="off") as other:
        other.search("lamp", limit=100)
    say(event="closed")
    say(event="read", total=memory.list(limit=1).total, found=len(memory.search("full0", min_relevance=0.5)))


def write_on(memory: Memory) -> None:
    for number in range(5):
        text = f"more{number} room"
        say(event="done", id=memory.add(text).id, text=text)


def main(order: dict[str, Any]) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Memory(order["url"], user="ana", embedder="off") as memory:
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        if order["limit"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (order["limit"], most))
        fill(memory)
        read_back(memory, order["url"])
        sys.stdin.readline()
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        write_on(memory)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
