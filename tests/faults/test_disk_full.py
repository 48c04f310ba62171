"""A full disk: the writer is told `Unavailable`, nothing acknowledged is lost, and writing goes on once there is room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.api.homes import Home
from tests.faults.nursery import ROOT
from tests.faults.soundness import assert_sound, assert_well

SIZE = 2 * 1024 * 1024
BALLAST = SIZE // 4


@dataclass(frozen=True)
class SmallDisk:
    """`limit` is how large one file may become where the folder itself has no end; 0 where it has."""

    folder: Path
    limit: int

    @property
    def ballast(self) -> Path:
        return self.folder / "ballast"


@contextmanager
def small_disk(folder: Path, *, mounted: bool) -> Iterator[SmallDisk]:
    """A disk of two megabytes, if this account may mount one."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(folder)]
    may = mounted and os.geteuid() == 0 and not subprocess.run(["mount", *options], capture_output=True).returncode
    try:
        disk = SmallDisk(folder, 0 if may else SIZE // 2)
        disk.ballast.write_bytes(bytes(BALLAST))
        yield disk
    finally:
        if may:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("mounted", [True, False], ids=["small disk", "small files"])
def test_a_full_disk_loses_nothing(tmp_path: Path, mounted: bool) -> None:
    with small_disk(tmp_path / "disk", mounted=mounted) as disk:
        home = Home("sqlite", str(disk.folder / "memory.db"), tmp_path)
        before, after = written_by_a_cramped_process(home, disk)
        (full,) = (line for line in before if line["event"] == "full")
        assert "nothing was stored" in full["message"]
        assert full["details"]["sqlite"].startswith(("SQLITE_FULL", "SQLITE_IOERR"))
        assert "closed" in {line["event"] for line in before}, "a full disk holds nobody back from leaving"
        promised = {line["id"]: line["text"] for line in before + after if line["event"] == "done"}
        assert len(promised) > 10
        (read,) = (line for line in before if line["event"] == "read")
        assert read == {"event": "read", "total": len(promised) - 5, "found": 1}
        assert dict(home.rows("SELECT id, content FROM memories")) == promised
        assert_sound(home)
        assert_well(home)
        with home.memory() as memory:
            for text in [*promised.values()][::9]:
                assert [hit.content for hit in memory.search(text.split()[0], limit=1)] == [text]


def written_by_a_cramped_process(home: Home, disk: SmallDisk) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What it said until its disk was full, and after room was made."""
    order = json.dumps({"url": home.url, "limit": disk.limit})
    command = [sys.executable, "-m", "tests.faults.cramped", order]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        before: list[dict[str, Any]] = []
        while not before or before[-1]["event"] != "read":
            before.append(json.loads(process.stdout.readline()))
        disk.ballast.unlink()
        process.stdin.write("go on\n")
        process.stdin.close()
        after = [json.loads(line) for line in process.stdout]
        assert process.wait(60) == 0
        return before, after
