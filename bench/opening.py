"""opening: how long one waits who starts the server, until the page is there, and until a question is answered by its meaning.

The real command, in a folder that is empty at first; then again over what is there, and with the demo. The processor time of the
server says how much of the wait was ours: on a busy machine the rest was spent waiting for others.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import httpx

from bench.report import Row

COLUMNS = {
    "what": "",
    "said_s": "address said",
    "page_s": "page",
    "meaning_s": "found by meaning",
    "cpu_s": "processor",
}
REMEMBERED = "I prefer uv over pip for Python projects"
ASKED = "Which package manager should I use?"
PATIENCE_SECONDS = 300.0
STARTS = {"the first time": (), "again": (), "with the demo": ("--demo",)}


def run() -> list[Row]:
    with TemporaryDirectory(prefix="recollect-opening-") as folder:
        return [_opened(what, Path(folder), options) for what, options in STARTS.items()]


def _opened(what: str, folder: Path, options: tuple[str, ...]) -> Row:
    started = perf_counter()
    with _server(folder, options) as (address, process):
        row: Row = {"what": what, "said_s": _since(started)}
        with httpx.Client(base_url=address, timeout=PATIENCE_SECONDS) as client:
            client.get("/").raise_for_status()
            row["page_s"] = _since(started)
            client.post("/v1/memories", json={"text": REMEMBERED}).raise_for_status()
            found = client.post("/v1/memories/search", json={"query": ASKED}).raise_for_status().json()
            row["meaning_s"] = _since(started)
        if not any(REMEMBERED in str(hit) for hit in found["hits"]):
            raise SystemExit(f"not found by its meaning: {found}")
        row["cpu_s"] = _processor_seconds(process.pid)
    return row


@contextmanager
def _server(folder: Path, options: tuple[str, ...]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", *options]
    environment = {**os.environ, "RECOLLECT_DATA_DIR": str(folder / "data")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = next((line for line in process.stderr if "Recollect is at" in line), "")
        yield re.findall(r"http://\S+", said)[0], process
    finally:
        process.terminate()
        process.communicate()


def _since(started: float) -> float:
    return round(perf_counter() - started, 1)


def _processor_seconds(pid: int) -> float | None:
    """Where the system tells: user and system time, the 14th and 15th of what Linux says of a process."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return round((int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK"), 1)
