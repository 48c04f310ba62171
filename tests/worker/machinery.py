"""A database, an embedding server that counts and can hold its breath, and `recollect worker` as an operator starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from recollect.engine.embedding.batches import PROBE
from recollect.settings import Settings
from tests.api.homes import Home
from tests.doors.http.process import environment
from tests.providers.wire import SIZE, EmbeddingServer

PATIENCE_SECONDS = 90.0
"""How long anything may take on a machine that has other things to do."""
BATCH = 16


class CountingServer(EmbeddingServer):
    """Answers when the gate is open. `inside` are the requests that wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.inside = 0
        self._counting = threading.Lock()
        self.texts: Counter[str] = Counter()

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        with self._counting:
            self.inside += 1
            self.texts.update(text for text in body["input"] if text != PROBE)
        self.gate.wait(PATIENCE_SECONDS)
        with self._counting:
            self.inside -= 1
        return super().answer(path, body)


def until(what: str, condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


def settings_for(home: Home, server: EmbeddingServer, **more: Any) -> dict[str, Any]:
    """What a server and its workers are both told."""
    return {
        "store": home.url,
        "embedder": "openai",
        "embedder_url": f"{server.url}/v1",
        "embedder_model": "m",
        "embedder_dimensions": SIZE,
        "embed_batch": BATCH,
        "pool_size": 2,
        "worker": 0,
        **more,
    }


def loaded(home: Home, server: EmbeddingServer, **more: Any) -> Settings:
    return Settings.load({}, **settings_for(home, server, data_dir=home.folder / "data", **more))


@dataclass
class Working:
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def children(self) -> list[int]:
        """Of its first thread first."""
        tasks = sorted(
            Path(f"/proc/{self.process.pid}/task").glob("*/children"), key=lambda each: int(each.parent.name)
        )
        return [int(pid) for task in tasks for pid in _read(task).split()]

    def schedules(self) -> list[int]:
        """Those of its processes that send what is due: started afresh, where the others are forked."""
        return [pid for pid in self.children if b"spawn_main" in _read(Path(f"/proc/{pid}/cmdline"))]

    def kill_child(self) -> int:
        """End one of the processes without warning; which one."""
        pid = self.children[0]
        os.kill(pid, signal.SIGKILL)
        return pid

    def ends(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def working(home: Home, *options: str, **settings: Any) -> Iterator[Working]:
    """`recollect worker`, ended with the block if it is still there then."""
    log = home.folder / "worker.log"
    env = environment(home.folder, **{name: str(value) for name, value in settings.items()})
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "worker", *options],
            env=env,
            stderr=file,
            stdout=file,
            stdin=subprocess.DEVNULL,
        )
    found = Working(process, log)
    try:
        until("the worker starts", lambda: "Ctrl-C" in found.said() or process.poll() is not None)
        assert process.poll() is None, found.said()
        yield found
    except BaseException:
        print(found.said())  # pytest shows it beside what failed
        for pid in found.children:
            os.kill(pid, signal.SIGKILL)
        process.kill()
        raise
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE_SECONDS)


def _read(file: Path) -> bytes:
    """Nothing of a thread or process that has ended since it was listed."""
    with suppress(OSError):
        return file.read_bytes()
    return b""


def runs(pid: int) -> bool:
    """Not of one that is over and waits to be fetched."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def value(port: int, name: str) -> float:
    """What a worker's metrics say."""
    lines = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_SECONDS).text.splitlines()
    return next((float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " ")), 0.0)


def unsettled(home: Home) -> int:
    return home.count("SELECT count(*) FROM embeddings WHERE state <> 'ready'")


def let_leases_end(home: Home) -> None:
    """What the passing of time would do."""
    home.rows(
        "UPDATE embeddings SET due_at = now() - interval '1 second' WHERE state <> 'ready' AND due_at IS NOT NULL"
    )
    home.rows("UPDATE spaces SET work_due = now() - interval '1 second' WHERE work_due IS NOT NULL")
