"""A clean machine, a copy of what is tracked, and the two pages that a newcomer reads: every step does what they say."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.packaging.building import copied
from tests.test_house import ROOT

PATIENCE_SECONDS = 900


def lend_packages(clone: Path) -> None:
    """An environment of the clone's own, to which the packages that are installed here are lent, as long as they are the ones it
    asks for. `make setup` then finds all but Recollect itself there, and installs that from the clone.

    Installing everything anew takes minutes and a network; whoever runs the tests on a fresh clone has just done it.
    """
    venv.create(clone / ".venv", with_pip=False)
    (site,) = (clone / ".venv" / "lib").glob("python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    stamp = Path(sys.prefix) / "stamp-dev"
    wanted = hashlib.sha256((clone / "requirements" / "dev.txt").read_bytes()).hexdigest()
    assert stamp.read_text().strip() == wanted, "run `make setup` first: other packages are wanted than are installed"
    (clone / ".venv" / "stamp-dev").write_text(stamp.read_text())


@pytest.mark.timeout(PATIENCE_SECONDS + 60)
def test_the_first_five_minutes(tmp_path: Path) -> None:
    clone = copied(tmp_path / "recollect")
    lend_packages(clone)
    done = subprocess.run(
        [sys.executable, str(clone / "scripts" / "stranger.py"), "--from", str(clone), "--brief"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith(("RECOLLECT_", "PYTHON"))},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "`make serve` answers, and its page opens" in done.stdout
    assert "README.md does what it says" in done.stdout


def test_a_page_that_says_something_else_is_noticed(tmp_path: Path) -> None:
    script = "import sys; sys.path.insert(0, 'scripts'); from pathlib import Path; import stranger\n"
    script += "page = stranger.Block('python', 'x', 3, shown='promised')\n"
    script += "stranger.Stranger(Path(), Path())._check('README.md', page, 'found')"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert "README.md, line 3: says" in done.stderr
