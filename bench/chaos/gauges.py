"""What processes take of the machine: memory, files and threads, looked at when all is quiet and every few seconds between.

Only a process that lived through everything tells whether something leaks; of the others each life is a short one. The first
look is after everybody moved in, the last when everything is done, with as much stored as at the first. Caches fill at first and
then stay as they are; a leak goes on. Memory is what a process has for itself alone: what it has mapped of files, a busy machine
takes from it and gives back. The looks between are taken together by thirds, and what grew from the second third to
the last is held against what grew before: that tells in one run whether it levels off.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.chaos.parts import Part
from bench.report import Row

FLAT_SHARE = 0.10
FLAT_MB = 16.0
FLAT_FILES = 12
FLAT_THREADS = 12
"""A few connections and threads more or less are the pools' own business."""
STEP_MB = 5.0
"""From one third to the next: what a process of a few hundred breathes without growing."""


@dataclass(frozen=True)
class Look:
    pid: int
    resident_mb: float
    files: int
    threads: int = 0


def look(part: Part) -> Look:
    """Of all processes of a part together."""
    pids = part.family()
    taken = [_status(pid) for pid in pids]
    return Look(part.pid, sum(mb for mb, _ in taken), sum(map(_files, pids)), sum(threads for _, threads in taken))


def growth(part: str, looks: Sequence[Look]) -> Row:
    """From the first look to the last, where it is the same process; flat, or not. The looks between tell how it came to it."""
    first, last = looks[0], looks[-1]
    steady = first.pid == last.pid
    thirds = _thirds([each.resident_mb for each in looks[1:-1] if each.pid == first.pid])
    flat = (
        last.resident_mb <= first.resident_mb * (1 + FLAT_SHARE) + FLAT_MB
        and last.files <= first.files + FLAT_FILES
        and last.threads <= first.threads + FLAT_THREADS
        and levels_off(thirds)
    )
    return {
        "what": part,
        "lived": steady,
        "first_mb": round(first.resident_mb, 1),
        "thirds_mb": "/".join(f"{each:.0f}" for each in thirds) if steady else "",
        "last_mb": round(last.resident_mb, 1),
        "most_mb": round(max(each.resident_mb for each in looks), 1),
        "first_files": first.files,
        "last_files": last.files,
        "most_files": max(each.files for each in looks),
        "first_threads": first.threads,
        "last_threads": last.threads,
        "flat": flat if steady else None,
    }


def levels_off(thirds: Sequence[float]) -> bool:
    """Whether it grew less at last than before, or next to nothing."""
    if len(thirds) < 3:
        return True
    first, second, last = thirds
    return last - second <= max(STEP_MB, (second - first) * 3 / 4)


def _thirds(taken: Sequence[float]) -> list[float]:
    """The middle of each third; none of too few looks."""
    size = len(taken) // 3
    return [median(taken[start : start + size]) for start in (0, size, len(taken) - size)] if size else []


def _status(pid: int) -> tuple[float, int]:
    """Megabytes, and threads."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        told = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
        # A process that is over has no memory left to tell of.
        return int(told.get("RssAnon", ["0"])[0]) / 1024, int(told["Threads"][0])
    return 0.0, 0


def _files(pid: int) -> int:
    with suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0
