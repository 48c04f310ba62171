"""Links lead somewhere in the repository as it lies there, which is how a code-hosting site follows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Written, linked


def astray(page: Written) -> Iterator[str]:
    for link in page.links:
        if ":" in link:
            continue
        path, _, anchor = link.partition("#")
        meant = (page.root / page.path.parent / path).resolve() if path else page.root / page.path
        if not meant.exists():
            yield f"{link}: there is no such file"
        elif not meant.is_relative_to(page.root.resolve()):
            yield f"{link}: leads out of the repository"
        elif anchor and anchor not in Written(meant, meant.read_text()).anchors:
            yield f"{link}: there is no such heading"


@pytest.mark.parametrize("page", linked(), ids=lambda page: str(page.path))
def test_links_lead_somewhere(page: Written) -> None:
    assert not [*astray(page)]


INTO_WHAT_HAS_IT = {Path("docs/operations.md")}
"""Adds to an environment that has Recollect already, which pip doesn't fetch again."""


def test_nobody_is_told_to_fetch_a_package_that_is_not_ours() -> None:
    texts = {page.path: page.text for page in linked() if page.path not in INTO_WHAT_HAS_IT}
    texts |= {path.relative_to(ROOT): path.read_text() for path in (ROOT / "examples").glob("*.py")}
    assert len(texts) > 20
    told = re.compile(r"""pip install ["']?recollect\b(?!` would fetch an unrelated)""")
    assert [str(path) for path, text in texts.items() if told.search(text)] == []


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    text = "# One, two\n[a](#one-two) [b](#three) [c](gone.md) [`d`](page.md#four) [e](../) `[f](gone.md)` [g](https://x.org)"
    (tmp_path / "page.md").write_text(text)
    seen = [*astray(Written(Path("page.md"), text, tmp_path))]
    assert [each.split(":")[0] for each in seen] == ["#three", "gone.md", "page.md#four", "../"]
