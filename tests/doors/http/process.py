"""`recollect serve` as its users start it: a process of its own, on a free port, with its log in a file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

PATIENCE_SECONDS = 150.0
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "RECOLLECT_EMBEDDER": "off"}


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    url: str
    log: Path

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.url.removeprefix("http://").rstrip("/").rsplit(":", 1)
        return host, int(port)

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def ends(self) -> int:
        """Ask it to end, and wait until it has."""
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    chosen = {f"RECOLLECT_{name.upper()}": value for name, value in settings.items()}
    return {**inherited, **QUIET, "RECOLLECT_DATA_DIR": str(folder / "data"), **chosen}


@contextmanager
def serving(folder: Path, *options: str, **settings: str) -> Iterator[Server]:
    """Started, and answering; ended with the block if it is still there then."""
    log = folder / "serve.log"
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", *options]
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment(folder, **settings), stderr=file, stdin=subprocess.DEVNULL)
    try:
        server = Server(process, _announced(process, log), log)
        _answers(server)
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE_SECONDS)


def _announced(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"Recollect is at (http://\S+)", log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"the server did not start: {log.read_text(errors='replace')}")


def _answers(server: Server) -> None:
    """The socket is there before the server: the first answer may take a while."""
    assert httpx.get(server.url + "healthz", timeout=PATIENCE_SECONDS).status_code == 200
