"""The first five minutes: what a fresh machine has afterwards, who else may look at it, and what a server says of itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from html import escape
from pathlib import Path

import httpx
import pytest

from recollect import Memory
from recollect.cli.demo.home import FILE
from tests.cli.conftest import CommandLine
from tests.doors.http.process import PATIENCE_SECONDS, Server, serving


@pytest.fixture
def careless() -> Iterator[None]:
    """A shell that would let everybody read and write what is made in it."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def demo(careless: None, tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, "--demo", embedder="off") as server:
        yield server


def open_to_others(*folders: Path) -> list[str]:
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    assert len(found) > len(folders)
    return [str(path) for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_whatever_the_commands_write_is_for_its_owner_alone(cli: CommandLine, careless: None) -> None:
    kept = cli.folder / "kept"
    cli("demo", "datachat")
    cli("add", "Only mine")
    kept.mkdir(mode=0o700)
    with Memory(cli.folder / "recollect.db", embedder="off", worker=False) as memory:
        memory.add("While it is open, there are files beside it")
        assert {each.suffix for each in cli.folder.glob("recollect.db*")} == {".db", ".db-wal", ".db-shm"}
        cli("db", "backup", str(kept / "backup.db"))
        cli("export", str(kept / "mine.jsonl"))
        cli("export", "--all", str(kept / "all.jsonl.gz"))
        cli(
            "db",
            "users",
            "add",
            "ana",
            "--file",
            str(kept / "users" / "file"),
            "--password-stdin",
            input="long enough\n",
        )
        assert open_to_others(cli.folder) == []


def test_the_demo_is_served_and_nothing_of_it_is_open_to_others(demo: Server, tmp_path: Path) -> None:
    with httpx.Client(base_url=demo.url, timeout=PATIENCE_SECONDS) as client:
        assert client.get("/").status_code == 200
        assert client.get("/v1/memories").json()["total"] > 40
        assert client.get("/v1/conversations").json()["total"] > 10
        assert client.get("/v1/health").json()["counts"] == {"contradictions": 2}
        told = client.get("/docs").text
        for path, methods in client.get("/openapi.json").json()["paths"].items():
            assert all(f"<code>{method.upper()} {path}</code>" in told for method in methods)
        assert escape(f"curl -s '{demo.url}v1/memories'") in told
        assert "<script" not in told
    assert {each.name for each in (tmp_path / "data").iterdir()} == {FILE, f"{FILE}-wal", f"{FILE}-shm"}
    assert open_to_others(tmp_path / "data") == []

    address, *lines = demo.said().splitlines()
    assert address.startswith(f"Recollect is at {demo.url}")
    places = {line.split()[0]: line.split()[1] for line in lines if line.startswith("  ")}
    assert places["page"] == demo.url
    assert places["API"] == f"{demo.url}docs"
    assert places["MCP"] == f"{demo.url}mcp"
    assert str(tmp_path / "data" / FILE) in demo.said()
    assert "`recollect demo remove` takes it away" in demo.said()
