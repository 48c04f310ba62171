"""`recollect serve`: the server and the page. One process, or several that share a socket and a store.

It refuses to start where strangers could read: beyond this machine without a login, or with a login that has no key. On SIGTERM
it takes no more requests, finishes those it has within the time allowed, and writes what is still to be written.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from recollect.bootstrap import open_chat, open_desk, open_elsewhere, open_store, sqlite_path
from recollect.cli.demo import home
from recollect.cli.options import Call, command
from recollect.errors import InvalidInput, Unavailable, Unsupported
from recollect.settings import Settings, announce
from recollect.worker.heaps import few_heaps

try:
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from recollect.cli.announcing import say_demo, say_where
    from recollect.cli.serving import build_worker
    from recollect.doors.http.auth.choosing import check_reach, identity_of
    from recollect.doors.http.patience import PatientProtocol
    from recollect.doors.mcp.http import SPEAKS_MCP
except ImportError as missing:
    raise Unsupported(f"the server needs the package {missing.name!r}: install recollect[server]") from None

app = typer.Typer(add_completion=False)
MOST_HEAD_BYTES = 32 * 1024
UNRESPONSIVE_SECONDS = 30
BACKLOG = 2048
KEPT_ALIVE_SECONDS = 75  # longer than the proxies in front of us keep theirs, so that they never meet a closed one
METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


@command(app)
async def serve(
    call: Call,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen on.")] = 8377,
    workers: Annotated[int | None, typer.Option("--workers", help="How many processes share the work.")] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Show a made-up week, in a store of its own instead of your memory.")
    ] = False,
) -> None:
    """Serve the memory over HTTP, with a page to look at it. Ends on Ctrl-C."""
    few_heaps()  # before there are threads: the store is looked at here already
    settings = call.settings(workers=workers)
    if demo:
        settings = _with_demo(call, settings)
    check_reach(settings, host)
    identity_of(settings)  # what is wrong with a login is said now, by name
    await _check_store(settings)
    await _check_desk(settings)
    listening = _listen(host, port)
    furnished = await home.furnish(settings) if demo else None
    say_where(settings, host, listening.getsockname()[1], speaks_mcp=SPEAKS_MCP)
    if furnished is not None:
        say_demo(settings, furnished)
    if settings.workers == 1:
        await _serve_alone(settings, host, listening)
    else:
        _serve_together(settings, host, listening)


def _with_demo(call: Call, settings: Settings) -> Settings:
    if settings.user_id_source != "local":
        raise InvalidInput(
            "the demo is for one who looks without a login: leave --demo out, or RECOLLECT_USER_ID_SOURCE"
        )
    if call.user or call.space or call.tenant:
        raise InvalidInput("the demo has a user of its own: leave out --user, --space and --tenant")
    return home.at_home(settings)


async def _check_store(settings: Settings) -> None:
    """Open the store once, so that its schema is there before several processes want it, and trouble is one line."""
    if settings.workers > 1 and sqlite_path(settings) == ":memory:":
        raise InvalidInput("a database in memory can't be shared by several processes: use --workers 1 or name a file")
    store = await open_store(settings)
    await store.close()


async def _check_desk(settings: Settings) -> None:
    """The same for those who work for the data chat: what is missing is one line, not what a server says that can't start."""
    await open_desk(settings, open_chat(settings)).close()
    if (elsewhere := open_elsewhere(settings)) is not None:
        await elsewhere.index.close()


async def _serve_alone(settings: Settings, host: str, listening: socket.socket) -> None:
    built = build_worker(settings, host)
    server = uvicorn.Server(_config(settings, built, listening, factory=False))
    try:
        await server.serve(sockets=[listening])
    except SystemExit:
        trouble = getattr(built.state, "trouble", None)
        raise trouble or Unavailable("the server could not start; the log says why") from None


class Together(Multiprocess):
    def terminate_all(self) -> None:
        """Hang up first: what nobody will answer should be refused, not kept waiting."""
        for listening in self.sockets:
            listening.close()
        super().terminate_all()


def _serve_together(settings: Settings, host: str, listening: socket.socket) -> None:
    with TemporaryDirectory(prefix="recollect-metrics-") as folder:
        announce(METRICS_VARIABLE, folder)
        # The settings travel to each process over a pipe: secrets show up on no command line.
        config = _config(settings, partial(build_worker, settings, host, Path(folder)), listening, factory=True)
        together = Together(config, sockets=[listening])
        together.run()
        if any(process.exitcode == uvicorn.config.STARTUP_FAILURE for process in together.processes):
            raise Unavailable("the server could not start; the log says why")


def _config(settings: Settings, app: Callable[..., Any], listening: socket.socket, *, factory: bool) -> uvicorn.Config:
    """Whom a request comes from is what the socket says, not a header; what is logged is ours to say."""
    return uvicorn.Config(
        app,
        factory=factory,
        workers=settings.workers,
        http=partial(PatientProtocol, listening=listening),  # type: ignore[arg-type]  # it is only ever called
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        timeout_keep_alive=KEPT_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.shutdown_s,
        timeout_worker_healthcheck=UNRESPONSIVE_SECONDS,
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        # By its protocol's name: an accepted connection inherits it, and only then are its small pieces sent without delay.
        with ExitStack() as undo:
            listening = undo.enter_context(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(BACKLOG)
            undo.pop_all()
        return listening
    except OSError as problem:
        raise Unavailable(
            f"can't listen on {host}, port {port}: {problem.strerror or problem}{_cure(problem)}"
        ) from None


def _cure(problem: OSError) -> str:
    return {
        errno.EADDRINUSE: "; another program has it, perhaps a server of ours that still runs: end that one, or take "
        "another port with --port (0 finds a free one)",
        errno.EACCES: "; ports below 1024 need the administrator's rights: take another with --port",
        errno.EADDRNOTAVAIL: "; this machine has no such address: --host takes 127.0.0.1, or one that it has",
    }.get(problem.errno or 0, "")
