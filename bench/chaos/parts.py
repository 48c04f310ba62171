"""The parts of a deployment as processes of their own, each with its ways to be hit and to come back.

Postgres and Valkey are the real servers that the tests use, from their packages; ours are started as operators start them. All
of them run under a guardian and end with this process, however it ends.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from bench.chaos.blows import Kind
from tests.services.postgres import PostgresServer
from tests.services.process import LOOPBACK, Process, free_port
from tests.services.valkey import ValkeyServer

EVERY = (Kind.KILLED, Kind.FROZEN, Kind.RESTARTED)
PATIENCE_S = 90.0
ROOT = Path(__file__).parents[2]


class Part(ABC):
    """Something that runs. What it is told blocks until it is done."""

    def __init__(self, name: str, kinds: Sequence[Kind] = EVERY) -> None:
        self.name, self.kinds = name, kinds
        self.orphans = 0
        """Processes that outlived the one that started them by too long."""

    @property
    @abstractmethod
    def pid(self) -> int: ...
    @abstractmethod
    def start(self) -> None: ...
    @abstractmethod
    def kill(self) -> None: ...
    @abstractmethod
    def end(self) -> None:
        """In good order."""

    @abstractmethod
    def close(self) -> None:
        """For good."""

    def family(self) -> list[int]:
        return [self.pid, *descendants(self.pid)]

    def signal(self, number: signal.Signals) -> None:
        for pid in self.family():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill_child(self) -> None:
        """The last that was started: those before may only keep the books of the others."""
        os.kill(descendants(self.pid)[-1], signal.SIGKILL)

    def empty(self) -> None:
        raise ValueError(f"{self.name} holds nothing that could be emptied")


class Bought(Part):
    """A server that is not ours. It is there as soon as it is made."""

    def __init__(self, name: str, server: PostgresServer | ValkeyServer) -> None:
        holds = isinstance(server, ValkeyServer)
        super().__init__(name, (*EVERY, Kind.EMPTIED) if holds else EVERY)
        self._server = server

    @property
    def pid(self) -> int:
        return self._server.pid

    def start(self) -> None:
        self._server.start()

    def kill(self) -> None:
        self._server.kill()

    def end(self) -> None:
        self._server.stop()

    def close(self) -> None:
        self._server.close()

    def empty(self) -> None:
        if not isinstance(self._server, ValkeyServer):
            return super().empty()
        return self._server.clear()


class Ours(Part):
    """A command of ours, with settings; it is there when `ready` says so, which is shown what it has said so far."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        settings: Mapping[str, object],
        ready: Callable[[str], bool],
        kinds: Sequence[Kind] = EVERY,
    ) -> None:
        super().__init__(name, kinds)
        self.folder = Path(tempfile.mkdtemp(prefix=f"recollect-chaos-{name}-"))
        # A guarded command runs in its folder: our own code is found from here.
        places = {"RECOLLECT_DATA_DIR": self.folder / "data", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        given = {**places, "PYTHONUNBUFFERED": 1, **settings}
        self._command = ["env", *(f"{key}={value}" for key, value in given.items()), sys.executable, *arguments]
        self._ready = ready
        self._process: Process | None = None
        self.said = ""
        """By those that are gone."""
        self.patience_s = PATIENCE_S / 3
        """How long children have to notice that the one that started them was killed."""

    @property
    def process(self) -> Process:
        assert self._process is not None
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    def start(self) -> None:
        self._process = Process(self._command, folder=self.folder)
        before = len(self._log())
        self._process.wait_until(lambda: self._ready(self._log()[before:]), seconds=PATIENCE_S)

    def kill(self) -> None:
        left = descendants(self.pid)
        self.process.kill()
        self._see_off(left)

    def end(self) -> None:
        self.process.signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S
        while self.process.alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        self.process.stop()

    def close(self) -> None:
        self.said = self._log()
        self.process.discard()

    def log(self) -> str:
        return self.said or self._log()

    def _log(self) -> str:
        file = self.folder / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    def _see_off(self, left: Sequence[int]) -> None:
        """Children of one that was killed notice and end by themselves; those that don't are counted, and ended."""
        deadline = time.monotonic() + self.patience_s
        while any(map(_runs, left)) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in filter(_runs, left):
            self.orphans += 1
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def api(name: str, settings: Mapping[str, object], kinds: Sequence[Kind] = EVERY) -> tuple[Ours, int]:
    """A server, and the port at which it is every time."""
    port = free_port()

    def ready(_: str) -> bool:
        try:
            with urlopen(f"http://{LOOPBACK}:{port}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    return Ours(name, ["-m", "recollect", "serve", "--port", str(port)], settings, ready, kinds), port


def worker(name: str, settings: Mapping[str, object], *options: str, kinds: Sequence[Kind] = EVERY) -> Ours:
    return Ours(name, ["-m", "recollect", "worker", *options], settings, lambda said: "Ctrl-C" in said, kinds)


def provider() -> tuple[Ours, int]:
    """The embedding provider, and its port."""
    port = free_port()

    def ready(_: str) -> bool:
        try:
            with urlopen(f"http://{LOOPBACK}:{port}/", timeout=5):
                return True
        except (URLError, OSError):
            return False

    return Ours("provider", ["-m", "bench.chaos.provider", str(port)], {}, ready), port


def descendants(pid: int) -> list[int]:
    """Children, their children and so on; none of a process that is gone."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, task.read_text().split())
    return [*found, *(each for child in found for each in descendants(child))]


def _runs(pid: int) -> bool:
    """A process that is over and was not yet fetched by its parent does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
