"""The project's files in a folder of their own, packages built from them, and an environment with nothing in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.test_house import ROOT, named_files

EPOCH = "1700000000"
PATIENCE_SECONDS = 240


def copied(folder: Path) -> Path:
    """What a clone would hold, in the words it has here."""
    for name in named_files():
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    return folder


def built(source: Path, output: Path, *targets: str) -> list[Path]:
    """Packages of these kinds (`wheel`, `sdist`), by the backend that pyproject.toml names, without asking any server."""
    kinds = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(output), *kinds],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
        check=True,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    return sorted(output.iterdir())


@dataclass(frozen=True)
class Environment:
    """A Python environment with one package in it. What that package depends on is lent from the one the tests run in."""

    folder: Path
    home: Path

    @classmethod
    def empty(cls, folder: Path) -> Environment:
        venv.create(folder / "env", with_pip=False)
        (folder / "home").mkdir()
        made = cls(folder / "env", folder / "home")
        # A path and no more: the files there that would bring in the source tree are not read from here.
        (made.site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
        return made

    @property
    def site(self) -> Path:
        return next((self.folder / "lib").glob("python*/site-packages"))

    def install(self, wheel: Path) -> None:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--python",
            str(self.folder / "bin" / "python"),
        ]
        subprocess.run(
            [*pip, "install", "-q", "--no-deps", "--no-index", "--no-cache-dir", "--no-compile", str(wheel)],
            check=True,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
        )

    @property
    def variables(self) -> Mapping[str, str]:
        return {"HOME": str(self.home), "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "OMP_NUM_THREADS": "1"}

    def run(self, *command: str, **more: str) -> str:
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.home,
            env={**self.variables, **more},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
