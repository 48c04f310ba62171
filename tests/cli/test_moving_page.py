"""The page about moving, run as it stands: each command, how it ends, and what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

PAGE = (Path(__file__).parents[2] / "docs" / "moving.md").read_text()
BLOCKS = re.compile(r"```(console|json)\n(.*?)```", re.DOTALL)
ENDS = re.compile(r"\s+# exit code (\d)$")


def test_the_page_tells_what_happens(cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = 0
    for kind, block in BLOCKS.findall(PAGE):
        if kind == "json":
            (tmp_path / "mem0.json").write_text(block)
            continue
        for example in block.split("$ ")[1:]:
            command, *shown = example.splitlines()
            end = ENDS.search(command)
            program, *arguments = shlex.split(ENDS.sub("", command))
            assert program == "recollect"
            said = cli(*arguments, code=int(end[1]) if end else 0).output
            for line in shown:
                assert line in said or " ".join(line.split()) in " ".join(said.split()), f"{command}: {said}"
            commands += 1
    assert commands == 15
