"""The documentation as a site: it builds without a warning, loads nothing from elsewhere and finds Chinese words."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")


def build(target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target), *options]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)


def test_it_builds_and_keeps_its_promises(tmp_path: Path) -> None:
    """One test, because it is built once: workers of a run would each build it for their share."""
    built = build(tmp_path)
    assert built.returncode == 0, built.stderr
    loads_nothing_from_another_host(tmp_path)
    links_work_here(tmp_path)
    chinese_words_are_found(tmp_path)


def loads_nothing_from_another_host(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 30
    assert not [(page.name, host) for page in pages for host in LOADED.findall(page.read_text())]
    assert not [page.name for page in pages if 'class="mermaid"' in page.read_text()], "its script comes from elsewhere"


def links_work_here(site: Path) -> None:
    first = (site / "index.html").read_text()
    assert 'href="server.html"' in first
    assert 'src="img/page-memories.png"' in first
    assert "LICENSE (Apache-2.0)" in first, "what is no page is named without a link"
    assert 'href="doors/native.html"' in (site / "page.html").read_text(), "a door's own page is part of the site"


def chinese_words_are_found(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())
    assert index["config"]["lang"] == ["en", "zh"]
    words = {word for entry in index["docs"] for word in re.split(index["config"]["separator"], entry["text"])}
    assert {"无痕", "模式"} <= words


def test_a_page_that_loads_from_another_host_is_seen() -> None:
    assert LOADED.findall('<link rel="x" href="https://fonts.example/a.css"><script src=//cdn.example/b.js></script>')
    assert not LOADED.findall('<a href="https://semver.org">x</a><script src="assets/a.js"></script>')


def test_a_warning_ends_the_build(tmp_path: Path) -> None:
    """The real configuration over a folder with one bad page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bad.md").write_text("[nowhere](gone.md)")
    (tmp_path / "mkdocs.yml").write_text(
        f"INHERIT: {ROOT / 'mkdocs.yml'}\nhooks: [{ROOT / 'scripts' / 'site.py'}]\nnav: [bad.md]\n"
    )
    built = build(tmp_path / "site", "--config-file", str(tmp_path / "mkdocs.yml"))
    assert built.returncode == 1
    assert "gone.md" in built.stderr
