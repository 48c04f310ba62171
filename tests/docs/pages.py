"""The pages as they are written: every Markdown file of the documentation, with its links, its headings and its blocks.

What stands above a block in a comment says how it is meant:

    <!-- not run: REASON -->        it is parsed only: it needs Docker, a key, another host
    <!-- file: NAME -->             it is put into a file of that name, and not run
    <!-- server: NAME=VALUE … -->   anywhere on a page: settings of the server that its requests go to

A `text` block right after another block is what that one says, and `…` in it stands for anything; a `json` block right after an
`http` block is what the answer holds, among other things. In a `console` block each command stands after a `$`, the lines below
it are among those it says, and `# exit code 1` tells that it fails. A `pycon` block is a session of Python with what it answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\S*)[^\n]*\n(?P<code>.*?)^(?P=indent)```[ ]*$", re.DOTALL | re.MULTILINE
)
NOTE = re.compile(r"^ *<!-- (not run|file): (.+) -->$")
SERVER = re.compile(r"^<!-- server: (.+) -->$", re.MULTILINE)
INLINE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
SHOWS = {"python": "text", "sh": "text", "http": "json"}
"""What may say, right after a block of the one language, what came of it."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where its code begins, and what was said about it."""

    language: str
    code: str
    line: int
    not_run: str | None = None
    file: str | None = None
    shown: str | None = None
    """What it says, or what it answers, where the page tells."""


@dataclass(frozen=True)
class Written:
    """A page: where it lies under `root`, and what it says."""

    path: Path
    text: str
    root: Path = ROOT

    @cached_property
    def prose(self) -> str:
        return FENCE.sub("", self.text)

    @cached_property
    def links(self) -> list[str]:
        return LINK.findall(INLINE.sub("`", self.prose))

    @cached_property
    def anchors(self) -> set[str]:
        """What can follow a `#`: headings as code-hosting sites and the site both spell them."""
        plain = (re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading) for heading in HEADING.findall(self.prose))
        return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in plain}

    @cached_property
    def blocks(self) -> list[Block]:
        return [*_blocks(self.text)]

    @cached_property
    def server(self) -> dict[str, str]:
        """Settings that the page wants for its server."""
        named = (setting.partition("=") for line in SERVER.findall(self.text) for setting in line.split())
        return {name: value for name, _, value in named}


def _blocks(text: str) -> Iterator[Block]:
    """The blocks in order, each with what stands right after it as its outcome, which then is no block of its own."""
    fences = [*FENCE.finditer(text)]
    outcome = None
    for fence, after in zip_longest(fences, fences[1:]):
        if fence is outcome:
            continue
        shown = None
        if (
            after
            and not text[fence.end() : after.start()].strip()
            and SHOWS.get(fence["language"]) == after["language"]
        ):
            outcome, shown = after, dedent(after["code"])
        notes = _notes(text[: fence.start()])
        line = text.count("\n", 0, fence.start("code")) + 1
        yield Block(fence["language"], dedent(fence["code"]), line, notes.get("not run"), notes.get("file"), shown)


def _notes(above: str) -> dict[str, str]:
    notes: dict[str, str] = {}
    for line in reversed(above.splitlines()):
        note = NOTE.match(line)
        if note is None:
            break
        notes[note[1]] = note[2]
    return notes


def read(path: Path) -> Written:
    return Written(path.relative_to(ROOT), path.read_text())


def linked() -> list[Written]:
    """Every page a reader may meet: the repository's own, those of the doors, and the documentation."""
    places = ("*.md", "docs/**/*.md", "src/**/*.md", "deploy/**/*.md", "examples/**/*.md")
    return [read(path) for place in places for path in sorted(ROOT.glob(place))]


def with_blocks() -> list[Written]:
    return [page for page in linked() if page.blocks]
