"""Connections that keep the server waiting for the head of a request are ended; those that don't are left alone."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from recollect.doors.http.patience import PatientProtocol
from tests.doors.http.framed import app

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Hasty(PatientProtocol):
    head_seconds = 1.0


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        http: Any = partial(Hasty, listening=listening)
        config = uvicorn.Config(app(), http=http, ws="none", log_config=None, timeout_keep_alive=60)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("said", [b"", b"G", b"GET /healthz HTTP/1.1\r\nHost: local", HEAD + b"GET /healthz HT"])
def test_a_head_that_does_not_come_is_not_waited_for(address: tuple[str, int], said: bytes) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(said)
        heard = b""
        while chunk := connection.recv(65536):  # ends only when the server hangs up
            heard += chunk
    assert heard.startswith(b"HTTP/1.1 200") == said.startswith(HEAD)


def say_slowly(connection: socket.socket) -> None:
    for _ in range(200):
        connection.sendall(b"a")
        time.sleep(0.05)


def test_letters_in_between_do_not_buy_time(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        with pytest.raises(ConnectionError):
            say_slowly(connection)


def test_a_connection_may_be_used_again_and_again(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        for _ in range(3):
            connection.sendall(HEAD)
            heard = b""
            while not heard.endswith(b"}"):
                heard += connection.recv(65536)
            assert heard.startswith(b"HTTP/1.1 200")
            time.sleep(0.6)


@pytest.mark.parametrize("ending", [False, True])
async def test_a_connection_that_comes_in_while_the_server_ends_is_hung_up_on(ending: bool) -> None:
    """Accepted before the end, made known after it: whoever was told to finish by then, it wasn't."""
    config = uvicorn.Config(app(), ws="none", log_config=None)
    config.load()
    near, far = socket.socketpair()
    state, loop = ServerState(), asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as listening, far:
        if ending:
            listening.close()
        protocol = PatientProtocol(config, state, {}, loop, listening=listening)
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, near)
        assert transport.is_closing() == ending
        transport.close()
        assert await asyncio.to_thread(far.recv, 1) == b""
    assert not state.connections
