"""Peers are installed when they are asked for, into environments that nothing else uses and that may be thrown away."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

PEERS = {
    "mem0": ("mem0ai", "qdrant-client", "numpy"),
    "chroma": ("chromadb", "numpy"),
    # Many builds of Python can't load extensions into SQLite, which LangGraph's store needs: pysqlite3 can.
    "langgraph": ("langgraph", "langgraph-checkpoint-sqlite", "sqlite-vec", "pysqlite3-binary", "numpy"),
}
FOLDER = Path(tempfile.gettempdir()) / "recollect-bench-peers"
PATIENCE_SECONDS = 600


class PeerMissing(Exception):
    """A peer can't be had here; the message says why."""


def environment(name: str, folder: Path = FOLDER) -> Path:
    """The interpreter of the peer's environment, built if it isn't there yet."""
    home = folder / name
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    complete = home / "complete"
    if not complete.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS[name]])
        complete.touch()
    return python


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        raise PeerMissing(f"not installed after {PATIENCE_SECONDS} s") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise PeerMissing(errors[-1].removeprefix("ERROR: ")[:200] if errors else "not installed")
