"""Two ways to run a command: in this process, quickly, and as a process of its own, as a person would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from recollect.cli import app
from recollect.ports import Embedder
from recollect.providers.embedders import EmbedderConfig, choose
from tests.providers.wire import EmbeddingServer

QUIET = {"COLUMNS": "80", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"}


@dataclass
class CommandLine:
    """`recollect` over one data folder. Embeddings are off unless `env` says otherwise."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**QUIET, "RECOLLECT_DATA_DIR": str(self.folder), "RECOLLECT_EMBEDDER": "off", **self.env}

    def __call__(self, *args: str, input: str | bytes | None = None, code: int = 0) -> Result:
        """Run a command in this process; `code` is how it must end."""
        result = CliRunner().invoke(app, args, input=input, env=self.environment)
        assert result.exit_code == code, f"ended with {result.exit_code}: {result.output}"
        return result

    def json(self, *args: str, input: str | None = None, code: int = 0) -> Any:
        return json.loads(self(*args, "--json", input=input, code=code).stdout)

    def shell(self, *args: str, input: str | bytes | None = None, code: int = 0) -> str:
        """Run a command as a process of its own; what it wrote to stdout."""
        data = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            [sys.executable, "-m", "recollect", *args],
            input=data,
            stdin=None if data is not None else subprocess.DEVNULL,
            capture_output=True,
            env=self.whole_environment,
            timeout=280,
        )
        assert done.returncode == code, f"ended with {done.returncode}: {done.stderr.decode()}"
        return done.stdout.decode()

    def start(self, *args: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "recollect", *args],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.whole_environment,
            # A shell that runs the tests in the background has them, and so this process, ignore interruptions.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    @property
    def whole_environment(self) -> Mapping[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
        return {**inherited, **self.environment}


def the_local_model() -> Embedder:
    """Whichever model is the best one on this machine."""
    chosen = choose(EmbedderConfig(provider="local"))
    assert chosen is not None
    return chosen


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)
    return CommandLine(tmp_path / "data")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running
