"""A server process of the tests: started under a guardian, found by port, stopped or killed by its own id."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.services.guardian import KEEP

GUARDIAN = Path(__file__).with_name("guardian.py")
LOOPBACK = "127.0.0.1"


class ServiceFailed(Exception):
    """A server the tests need did not start or stop. The run fails; it never goes on without."""


class Process:
    """A running command that cannot outlive this test process; neither can its folder, where it logs."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        folder: Path,
        account: tuple[int, int] | None = None,
    ) -> None:
        self._folder = folder
        self.log = folder / "log"
        options = ["--log", str(self.log), "--remove", str(folder)]
        if account is not None:
            options += ["--uid", str(account[0]), "--gid", str(account[1])]
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARDIAN), *options, "--", *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._guardian.stdout is not None
        first_line = self._guardian.stdout.readline()
        if not first_line:
            raise ServiceFailed(f"{command[0]} could not be started")
        self.pid = int(first_line)

    def alive(self) -> bool:
        return is_running(self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Send the server a signal, if it still runs."""
        if self.alive():
            os.kill(self.pid, number)

    def wait_until(self, ready: Callable[[], bool], *, seconds: float = 90.0) -> None:
        """Return when `ready` says so; raise, showing the log, when the server dies or takes too long."""
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.alive() or time.monotonic() > deadline:
                raise ServiceFailed(f"the server did not come up; its log ends:\n{self.tail()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End the server the hard way (SIGKILL) and wait until it is gone, as a power cut would leave it."""
        self.signal(signal.SIGKILL)
        self._wait_until_gone()
        self.stop()

    def stop(self) -> None:
        """End the server in good order and keep its folder. Doing it twice does no harm."""
        assert self._guardian.stdin is not None
        if not self._guardian.stdin.closed:
            self._guardian.stdin.write(KEEP)
            self._guardian.stdin.close()
            self._guardian.wait(60)
            self._release()

    def discard(self) -> None:
        """End the server and let the guardian delete its folder behind us, which a slow disk can drag out."""
        assert self._guardian.stdin is not None
        if self._guardian.stdin.closed:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        self._guardian.stdin.close()
        self._wait_until_gone()
        self._release()

    def _wait_until_gone(self, seconds: float = 90.0) -> None:
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                raise ServiceFailed(f"process {self.pid} does not end")
            time.sleep(0.005)

    def _release(self) -> None:
        assert self._guardian.stdout is not None
        self._guardian.stdout.close()
        # The guardian ends by itself, maybe after us; saying so here keeps Popen from warning about it.
        self._guardian.returncode = self._guardian.poll() or 0

    def tail(self, characters: int = 2000) -> str:
        return self.log.read_text(errors="replace")[-characters:] if self.log.exists() else "(no log)"


def is_running(pid: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def free_port() -> int:
    """A loopback port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
