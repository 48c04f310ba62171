"""Python that is warm already: programs of the pages start as forks of one process that has the models in memory.

A page has many commands, and each would read the same weights from the disk for two seconds. `python -m tests.docs.warm SOCKET`
reads them once and waits; `python` and `recollect` in the folder that `programs` fills hand over their arguments, environment,
folder, input and output, and end as the fork ends. Everything else is as with a process of one's own.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from recollect.providers.embedders import EmbedderConfig, choose
from recollect.providers.embedders.local import LocalEmbedder

IMPORTED = ("alembic.command", "recollect.cli.commands.serve", "tests.docs.running")
LONGEST = 1 << 20
KEEPER_FAILED = 125
CLIENT = """#!{python} -IS
import array, json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, _: line.send(bytes([number])))
    wanted = [[{program!r}, *sys.argv[1:]], dict(os.environ), os.getcwd()]
    socket.send_fds(line, [json.dumps(wanted).encode() + b"\\n"], [0, 1, 2])
    said = line.recv(1)
sys.exit(said[0] if said else {failed})
"""


def programs(folder: Path, address: Path) -> None:
    """Puts `python` and `recollect` there, as clients of the warm process that listens at the address."""
    folder.mkdir()
    for program in ("python", "recollect"):
        text = CLIENT.format(python=sys.executable, address=str(address), program=program, failed=KEEPER_FAILED)
        (folder / program).write_text(text)
        (folder / program).chmod(0o700)


def listen(address: Path) -> None:
    """Serves until whoever started it closes its standard input."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a keeper
    with socket.socket(socket.AF_UNIX) as desk:
        desk.bind(str(address))
        desk.listen(16)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        print("warm", flush=True)
        while True:
            line, _ = desk.accept()
            if os.fork() == 0:
                desk.close()
                _keep(line)
            line.close()


def _end_with_parent() -> None:
    while os.read(0, 1):  # not through `sys.stdin`, whose lock a fork would inherit as held
        pass
    os._exit(0)


def _keep(line: socket.socket) -> None:
    """In the first fork: starts the second one, which is the program, passes signals on, and tells how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    wanted, files = _received(line)
    program = os.fork()
    if program == 0:
        line.close()
        _become(*wanted, files)  # runs on as the program, and ends as it does
        return
    for each in files:
        os.close(each)
    threading.Thread(target=_pass_on, args=(line, program), daemon=True).start()
    _, status = os.waitpid(program, 0)
    code = os.waitstatus_to_exitcode(status)
    _sweep(program)
    with suppress(OSError):
        line.send(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def _received(line: socket.socket) -> tuple[tuple[list[str], dict[str, str], str], list[int]]:
    data, files, _, _ = socket.recv_fds(line, LONGEST, 3)
    while not data.endswith(b"\n"):
        data += line.recv(LONGEST)
    arguments, environment, folder = json.loads(data)
    return (arguments, environment, folder), files


def _pass_on(line: socket.socket, program: int) -> None:
    """A signal to the client is one to the program; a client that is gone takes the program along."""
    with suppress(ProcessLookupError):
        while number := line.recv(1):
            os.kill(program, number[0])
    _sweep(program)


def _sweep(program: int) -> None:
    """Ends what the program started and left behind, and the program with it if it still runs."""
    with suppress(ProcessLookupError):
        os.killpg(program, signal.SIGKILL)


def _become(arguments: list[str], environment: dict[str, str], folder: str, files: Sequence[int]) -> None:
    os.setsid()  # a group of its own, which ends as a whole
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(place, mode, encoding="utf-8") for place, mode in enumerate("rww"))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    program, *rest = arguments
    _leave(_ended(rest if program == "python" else ["-m", "recollect", *rest]))


def _ended(arguments: list[str]) -> int:
    """Runs the program; its exit code."""
    try:
        _run(arguments)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _leave(code: int) -> None:
    """As the interpreter ends, but for taking libraries down: theirs are threads that didn't come along in the fork."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _run(arguments: list[str]) -> None:
    match arguments:
        case ["-c", code, *rest]:
            sys.path.insert(0, "")
            sys.argv = ["-c", *rest]
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        case ["-m", module, *rest]:
            sys.path.insert(0, os.getcwd())
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [script, *rest] if not script.startswith("-"):
            sys.path.insert(0, str(Path(script).resolve().parent))
            sys.argv = [script, *rest]
            runpy.run_path(script, run_name="__main__")
        case _:
            os.execv(sys.executable, [sys.executable, *arguments])


def heat() -> None:
    """Imports what most commands import and loads the weights, on this thread, so that no other is there to be lost in a fork."""
    for module in IMPORTED:
        import_module(module)
    embedder = choose(EmbedderConfig(provider="local"))
    assert isinstance(embedder, LocalEmbedder)
    embedder.embed_now(["warm", "暖"])


if __name__ == "__main__":
    heat()
    listen(Path(sys.argv[1]))
