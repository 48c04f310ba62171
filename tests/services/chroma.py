"""A real Chroma server for the tests, from the package itself, on a loopback port."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.services.process import LOOPBACK, Process, free_port


@contextmanager
def running_chroma() -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-chroma-"))
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    program = Path(sys.executable).with_name("chroma")
    options = ("--path", str(folder / "data"), "--host", LOOPBACK, "--port", str(port))
    process = Process([program, "run", *options], folder=folder)

    def answers() -> bool:
        try:
            return httpx.get(f"{url}/api/v2/heartbeat", timeout=5, trust_env=False).is_success
        except httpx.HTTPError:
            return False

    try:
        process.wait_until(answers)
        yield url
    finally:
        process.discard()
