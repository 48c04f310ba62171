"""A worker's counts, at a port of their own: Prometheus asks there, and nothing else is answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

from recollect.errors import Unavailable, Unsupported
from recollect.settings import announce

try:
    from prometheus_client import values

    from recollect.doors.http.measuring import CONTENT_TYPE
    from recollect.doors.http.measuring import Metrics as Counted
except ImportError:  # counting is an extra, too
    values = None  # type: ignore[assignment]
    Counted = None  # type: ignore[assignment,misc]

__all__ = ["Counted", "counted"]

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def counted(host: str, port: int, *, together: bool = False) -> Iterator[Counted | None]:
    """Counts, shown at that port while the block lasts; None where no port is given. `together`: those of all processes that
    are forked from this one."""
    if not port:
        yield None
        return
    if values is None:
        raise Unsupported("metrics need the package 'prometheus_client': install recollect[server]")
    with ExitStack() as held:
        folder = Path(held.enter_context(TemporaryDirectory(prefix="recollect-metrics-"))) if together else None
        if folder is not None:
            announce(VARIABLE, str(folder))
            # Which kind of counts is kept is settled when the package is loaded, which was before anybody had asked for this.
            values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]
        metrics = Counted(folder)
        held.enter_context(_shown(metrics, host, port))
        yield metrics


@contextmanager
def _shown(metrics: Counted, host: str, port: int) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.text() if self.path == "/metrics" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Who asks every few seconds is not worth a line."""

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as problem:
        raise Unavailable(f"can't show metrics on {host}, port {port}: {problem.strerror or problem}") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True, name="recollect-metrics")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
