"""A loopback TCP proxy that stands between us and a server, and takes it away, slows it down or spoils what it says.

It changes nothing of the server, so that one server serves many tests, and the fault is over the moment the proxy says so.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.services.process import LOOPBACK

AT_ONCE = 65_536
Spoil = Callable[[bytes], bytes]


class Proxy:
    """Passes everything on until told otherwise; `heal` ends whatever it was told."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()
        self._hung = threading.Event()
        """Cleared while answers are held back."""
        self._hung.set()
        self._delay_s = 0.0
        self._garbage: bytes | None = None
        self._spoilt: Iterator[Spoil] = iter(())
        self._cut_on: bytes | None = None
        self.cuts = threading.Event()
        """Set when the connection was cut as `cut_on` asked for."""
        self.port = 0
        self.up()

    def up(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def down(self) -> None:
        """Nobody listens any more, and whoever was connected is hung up on."""
        if self._listener is not None:
            # Woken by a visitor: closing a socket alone does not end a wait for one on it.
            listener, self._listener = self._listener, None
            with suppress(OSError), socket.create_connection((LOOPBACK, self.port), timeout=1):
                pass
            listener.close()
        self.cut()

    def cut(self) -> None:
        with self._lock:
            doomed, self._open = self._open, set()
        for each in doomed:
            with suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def cut_on(self, marker: bytes) -> None:
        """Pass on the next request that holds this, then hang up before it is answered."""
        self.cuts.clear()
        self._cut_on = marker

    def hang(self) -> None:
        """Take what comes and answer nothing."""
        self._hung.clear()

    def delay(self, seconds: float) -> None:
        self._delay_s = seconds

    def answer(self, garbage: bytes) -> None:
        """Say this instead of whatever the server says."""
        self._garbage = garbage

    def spoil(self, *answers: Spoil | None) -> None:
        """What becomes of the next answers, one after another. None: it arrives as it was; nothing left of it: it is cut off."""
        self._spoilt = iter([each or bytes for each in answers])

    def heal(self) -> None:
        spoiled = self._garbage is not None or not self._hung.is_set()
        self._garbage, self._cut_on, self._delay_s, self._spoilt = None, None, 0.0, iter(())
        self._hung.set()
        if spoiled:
            self.cut()  # what is half said can't be gone on with
        if self._listener is None:
            self.up()

    def close(self) -> None:
        self._hung.set()
        self.down()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if self._listener is not listener:
                client.close()
                return
            try:
                server = socket.create_connection((LOOPBACK, self._target))
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            threading.Thread(target=self._pump, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, False), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, asking: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(AT_ONCE):
                if asking:
                    sink.sendall(piece)
                    if self._cut_on is not None and self._cut_on in piece:
                        self._cut_on = None
                        self.cut()
                        self.cuts.set()
                else:
                    self._hung.wait()
                    if self._delay_s:
                        threading.Event().wait(self._delay_s)
                    piece = next(self._spoilt, bytes)(piece)
                    if not piece:
                        self.cut()
                    sink.sendall(piece if self._garbage is None else self._garbage)
        for each in (source, sink):
            with self._lock:
                self._open.discard(each)
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def proxied(port: int) -> Iterator[Proxy]:
    proxy = Proxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
