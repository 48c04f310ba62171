"""The wheel and the source package: the same bytes wherever and whenever they are built, and whole when they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from urllib.request import urlopen

import pytest

from recollect._version import __version__
from tests.packaging.building import PATIENCE_SECONDS, Environment, built, copied
from tests.test_house import named_files

THREE_LINES = """
import recollect
from recollect import Memory

memory = Memory()
memory.add("I prefer uv over pip for Python projects", type="preference")
print(memory.search("uv or pip?").hits[0].memory.content)
print(recollect.__file__)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def packages(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    wheel, sdist = built(source, tmp_path_factory.mktemp("packages"), "wheel", "sdist")
    return wheel, sdist


@pytest.fixture(scope="module")
def environment(packages: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment.empty(tmp_path_factory.mktemp("empty"))
    made.install(packages[0])
    return made


def test_a_second_build_elsewhere_gives_the_same_bytes(
    source: Path, packages: tuple[Path, Path], tmp_path: Path
) -> None:
    wheel, sdist = packages
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(source, elsewhere, copy_function=shutil.copy)  # with other times
    (again,) = built(elsewhere, tmp_path / "again", "sdist")
    assert again.read_bytes() == sdist.read_bytes()
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    (from_sdist,) = built(unpacked, tmp_path / "from_sdist", "wheel")
    assert from_sdist.name == wheel.name
    assert from_sdist.read_bytes() == wheel.read_bytes()


def test_the_wheel_holds_the_whole_package_and_nothing_else(packages: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(packages[0]) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    ours = {name.removeprefix("src/") for name in named_files() if name.startswith("src/")}
    assert inside == {name for name in ours if "__pycache__" not in name}
    assert "recollect/py.typed" in inside
    assert any(name.endswith(".js") for name in inside)


def test_the_source_package_holds_what_its_tests_need(packages: tuple[Path, Path]) -> None:
    with tarfile.open(packages[1]) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    left_out = {
        name for name in named_files() if name not in inside and not name.startswith((".github/", ".pre-commit"))
    }
    assert left_out <= {".gitignore"}


def test_what_the_wheel_says_of_itself(packages: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(packages[0]) as wheel:
        about = f"recollect-{__version__}.dist-info"
        said = Parser().parsestr(wheel.read(f"{about}/METADATA").decode())
        entry = wheel.read(f"{about}/entry_points.txt").decode()
    assert (said["Name"], said["Version"], said["Requires-Python"]) == ("recollect", __version__, ">=3.11")
    assert said["License-Expression"] == "Apache-2.0"
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert {"server", "postgres", "agents", "mcp", "all"} <= set(said.get_all("Provides-Extra", []))
    assert "recollect = recollect.cli:main" in entry


def test_an_empty_environment_remembers_after_installing_it(environment: Environment) -> None:
    assert environment.run("recollect", "--version") == f"recollect {__version__}\n"
    found, where = environment.run("python", "-c", THREE_LINES, RECOLLECT_EMBEDDER="off").splitlines()
    assert found == "I prefer uv over pip for Python projects"
    assert Path(where).is_relative_to(environment.site)
    assert (environment.home / ".recollect" / "recollect.db").exists()
    assert "I prefer uv" in environment.run("recollect", "list", RECOLLECT_EMBEDDER="off")


@pytest.fixture
def served(environment: Environment) -> Iterator[str]:
    """The address of a server that runs from the installed package."""
    process = subprocess.Popen(
        [environment.folder / "bin" / "recollect", "serve", "--port", "0", "--store", "memory://"],
        cwd=environment.home,
        env={**environment.variables, "RECOLLECT_EMBEDDER": "off"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        address = next(found[0] for line in process.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def test_the_page_and_all_it_is_made_of_are_served_from_the_package(served: str) -> None:
    def fetched(path: str) -> str:
        with urlopen(f"{served}{path}", timeout=PATIENCE_SECONDS) as answer:
            assert answer.status == 200
            return str(answer.read().decode())

    page = fetched("/")
    assert "Recollect" in page
    linked = set(re.findall(r"(?:src|href)=\"(/?[\w/.-]+\.(?:js|css|svg))\"", page))
    assert any(each.endswith(".js") for each in linked)
    for each in linked:
        assert fetched(f"/{each.lstrip('/')}")
    assert '"openapi"' in fetched("/openapi.json")
