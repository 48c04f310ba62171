"""One warm Python for all pages of a test process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.docs.warm import programs

LENT = ("examples", "deploy", "eval", "bench")
"""What a reader in a clone has beside them."""


@dataclass(frozen=True)
class Stage:
    """Runs pages, each in an empty home."""

    bin: Path

    def run(self, page: Path, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        folder = home / "here"
        folder.mkdir(parents=True)
        for name in LENT:
            (folder / name).symlink_to(ROOT / name)
        return subprocess.run(
            [str(self.bin / "python"), "-m", "tests.docs.running", str(page)],
            cwd=folder,
            env={**self._surroundings(home), **environment},
            capture_output=True,
            text=True,
            timeout=280,
        )

    def _surroundings(self, home: Path) -> dict[str, str]:
        nowhere = "http://127.0.0.1:9"
        return {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "RECOLLECT_DATA_DIR": str(home / ".recollect"),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "http_proxy": nowhere,  # offline: who asks beyond this machine gets no answer
            "https_proxy": nowhere,
            "no_proxy": "127.0.0.1,localhost",
        }


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("warm")
    address = folder / "socket"
    programs(folder / "bin", address)
    warm = subprocess.Popen(
        [sys.executable, "-m", "tests.docs.warm", str(address)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert warm.stdin is not None
    assert warm.stdout is not None
    with warm:
        assert warm.stdout.readline() == b"warm\n"
        yield Stage(folder / "bin")
        warm.stdin.close()
