"""The server that a page talks to: a real one, with the page's own home, wherever there is a port."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ADDRESS = "127.0.0.1:8377"
"""Where the pages say it is."""
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Server:
    """Where it is in truth."""

    url: str

    @property
    def address(self) -> str:
        return self.url.removeprefix("http://")


@contextmanager
def serving(folder: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    log = folder / "serve.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            ["recollect", "serve", "--port", "0"],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        server = Server(_announced(process, log))
        assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE_SECONDS).is_success
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def _announced(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"Recollect is at (http://[\w.:]+)/", log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"the server did not start: {log.read_text(errors='replace')}")
