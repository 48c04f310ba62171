"""What programs may rely on is written down, and changes only on purpose."""

from __future__ import annotations

import subprocess
import sys
from difflib import unified_diff

from tests.test_house import ROOT

LISTING = ROOT / "tests" / "packaging" / "public_api.txt"


def test_the_public_names_and_signatures_are_those_that_were_promised() -> None:
    script = "import sys; sys.path.insert(0, 'scripts'); import public_api; print(public_api.listing(), end='')"
    now = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    changes = list(
        unified_diff(LISTING.read_text().splitlines(), now.splitlines(), "promised", "found", lineterm="", n=0)
    )
    assert not changes, (
        "programs notice this; docs/versioning.md says what it takes, then: python scripts/public_api.py\n"
        + "\n".join(changes)
    )


def test_the_listing_is_worth_something() -> None:
    promised = LISTING.read_text()
    for line in (
        "recollect.Memory.search(self, query: str",
        "recollect.NotFound(",
        "tool memory.search(",
        "RecollectSession",
    ):
        assert line in promised
    assert "0x" not in promised
