"""A stranger on a clean machine: clones, reads README.md and docs/quickstart.md, and does what they say, word for word.

    python3 scripts/stranger.py                  everything from nothing, with the time it took
    python3 scripts/stranger.py --from FOLDER    a folder that is a clone already, for the tests

Only Python's own library is used: a stranger has no other. Their home is empty, their PATH has the system's programs alone, and
whatever a page shows as the outcome of a block is compared with what came of it. The one thing done otherwise than the pages say:
the server listens at a port that is free, and the address is changed accordingly.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs.matching import says  # noqa: E402
from tests.docs.modelling import modelling  # noqa: E402
from tests.docs.pages import Block, Written  # noqa: E402

ADDRESS = "127.0.0.1:8377"
ANNOUNCED = re.compile(r"http://127\.0\.0\.1:(\d+)/")
PATIENCE_SECONDS = 600
PAGES = ("docs/quickstart.md", "README.md")
FACT = "I prefer uv over pip for Python projects"
MARK = "\x1e"
SESSION = f"""
import json, sys
names = {{"__name__": "__main__"}}
for line in sys.stdin:
    exec(compile(json.loads(line), "page", "exec"), names)
    print({MARK!r}, flush=True)
"""


class Stumbled(Exception):
    """Something did not go as the page says."""


@dataclass
class Stranger:
    clone: Path
    home: Path
    brief: bool = False
    """Not every block a second time that the tests of the documentation run anyway: the first command, and no restart."""
    port: int = 0
    """Where the server is, once it has said so."""
    commands: int = 0
    told: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        system = os.path.dirname(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{system}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            # Where packages come from is the machine's to say, not the stranger's.
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))},
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """`make serve`, as both pages say, until the block ends; then Ctrl-C."""
        log = self.home / "serve.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                ["make", "serve", "ARGS=--port 0"],
                cwd=self.clone,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        try:
            self._wait_for(process, log)
            yield
        finally:
            # A terminal interrupts all that runs in it, make and the server.
            os.killpg(process.pid, signal.SIGINT)
            process.wait(PATIENCE_SECONDS)
        if "make: ***" in (said := log.read_text(errors="replace")):
            raise Stumbled(f"Ctrl-C looks like an error:\n{said}")

    def _wait_for(self, process: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (said := ANNOUNCED.search(log.read_text(errors="replace"))) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Stumbled(f"`make serve` did not come up:\n{log.read_text(errors='replace')}")
            time.sleep(0.05)
        self.port = int(said[1])
        if "Recollect" not in self._fetched("/"):
            raise Stumbled("the page is not what a browser would show")

    def _fetched(self, path: str) -> str:
        with urlopen(self.url + path, timeout=PATIENCE_SECONDS) as answer:
            return str(answer.read().decode())

    def follow(self, name: str) -> None:
        """Every block of the page in order; one that says it installs, or goes on until it is stopped, was followed before."""
        page = Written(Path(name), (self.clone / name).read_text())
        self._promises_to_start(page)
        with self.python() as session:
            for block in page.blocks:
                if block.language == "python" and not block.not_run:
                    self._check(name, block, session.run(self._led(block.code)))
                elif block.language == "sh":
                    self._shell(name, block)

    def _promises_to_start(self, page: Written) -> None:
        if not any(block.language == "sh" and "make serve" in block.code for block in page.blocks):
            raise Stumbled(f"{page.path} does not say how to start")

    def _shell(self, name: str, block: Block) -> None:
        if "make serve" in block.code:
            return
        if block.not_run and "export PATH" not in block.code:
            return
        if block.code.startswith("recollect"):
            self.commands += 1
            if self.brief and self.commands > 1:
                return
        done = subprocess.run(
            ["bash", "-eu", "-c", f"{self._led(block.code)}\nprintf '{MARK}%s' \"$PATH\""],
            cwd=self.clone,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        said, _, path = done.stdout.rpartition(MARK)
        if done.returncode:
            raise Stumbled(f"{name}, line {block.line}: ends with {done.returncode}:\n{done.stdout}")
        self.environment["PATH"] = path
        self._check(name, block, said)

    def _check(self, name: str, block: Block, said: str) -> None:
        if block.shown is not None and not says(said, self._led(block.shown)):
            raise Stumbled(f"{name}, line {block.line}: says\n{said}\nand the page shows\n{block.shown}")
        self.told.append(said)

    def _led(self, code: str) -> str:
        return code.replace(ADDRESS, f"127.0.0.1:{self.port}")

    @contextmanager
    def python(self, **settings: str) -> Iterator[Session]:
        with modelling() as model:
            # A stranger's agent asks OpenAI's model; here one is asked that repeats what the memory gave it.
            process = subprocess.Popen(
                [str(self.clone / ".venv" / "bin" / "python"), "-c", SESSION],
                cwd=self.clone,
                env={**self.environment, **model, **settings, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                yield Session(process)
            finally:
                process.kill()
                process.communicate()

    def first_fact(self) -> None:
        """README's three lines, as somebody who isn't there again when the pages are followed."""
        page = Written(Path("README.md"), (self.clone / "README.md").read_text())
        lines = next(block.code for block in page.blocks if block.language == "python")
        with self.python(RECOLLECT_USER="first") as session:
            if FACT not in session.run(lines):
                raise Stumbled("README's three lines did not find the fact")

    def remembered(self) -> bool:
        return FACT in self._fetched("/v1/memories")


class Session:
    """A Python that runs one block after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._errors: list[str] = []
        assert process.stderr is not None
        self._reader = threading.Thread(target=lambda: self._errors.extend(process.stderr or ()), daemon=True)
        self._reader.start()

    def run(self, code: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        said: list[str] = []
        for line in self._process.stdout:
            if line.rstrip("\n").endswith(MARK):
                return "".join([*said, line.rstrip("\n").removesuffix(MARK)])
            said.append(line)
        self._reader.join(PATIENCE_SECONDS)
        raise Stumbled("a Python block failed:\n" + "".join(said + self._errors))


def visit(clone: Path, home: Path, began: float, *, brief: bool) -> Iterator[str]:
    """Everything the two pages say, told step by step. What isn't as they say raises `Stumbled`."""

    def since() -> str:
        return f"{time.monotonic() - began:.1f} s"

    stranger = Stranger(clone, home, brief)
    with stranger.serving():
        yield f"{since()}: `make serve` answers, and its page opens"
        if not brief:
            stranger.first_fact()
            yield f"{since()}: the first fact is remembered, and found again"
        for page in PAGES:
            stranger.follow(page)
            yield f"{since()}: {page} does what it says"
            if not any(FACT in said for said in stranger.told):
                raise Stumbled("nobody was told the remembered fact")
        if brief:
            if not stranger.remembered():
                raise Stumbled("the server does not show what Python was told")
            return
    subprocess.run(
        [str(clone / ".venv" / "bin" / "recollect"), "add", FACT],
        env=stranger.environment,
        check=True,
        capture_output=True,
    )
    with stranger.serving():
        if not stranger.remembered():
            raise Stumbled("a restart lost what was remembered")
        yield f"{since()}: stopped, started again: it is still there"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Follow README.md and docs/quickstart.md from nothing.")
    parser.add_argument("--from", dest="folder", type=Path, help="a folder that is a clone already")
    parser.add_argument("--brief", action="store_true", help="leave out what the tests of the documentation run anyway")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-stranger-") as made:
        clone, home = asked.folder or Path(made) / "recollect", Path(made) / "home"
        home.mkdir()
        try:
            began = time.monotonic()
            if asked.folder is None:
                subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
            for line in visit(clone, home, began, brief=asked.brief):
                print(line, flush=True)
        except Stumbled as problem:
            print(re.sub(r"\n+", "\n", str(problem)), file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
