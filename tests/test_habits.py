"""The papers of the project: there, in shape, leading nowhere that isn't named elsewhere, and asking for programs that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAPERS = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md")
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def read(name: str) -> str:
    return (ROOT / name).read_text()


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_sends_nobody_to_an_address_that_was_made_up(name: str) -> None:
    text = read(name)
    assert len(text) > 400
    assert not re.search(r"[\w.+-]+@[\w-]+\.\w+|https?://", text)


def test_every_target_that_contributors_are_told_of_exists() -> None:
    told = set(re.findall(r"`make (\w+)`", read("CONTRIBUTING.md")))
    assert told
    assert told <= set(re.findall(r"^(\w+):", read("Makefile"), re.MULTILINE))


def test_pre_commit_fetches_nothing_and_runs_what_make_lint_runs() -> None:
    (source,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert source["repo"] == "local"
    assert {hook["language"] for hook in source["hooks"]} == {"system"}
    wanted = tomllib.loads(read("pyproject.toml"))["tool"]
    pinned = read("requirements/dev.txt").replace("-", "_")
    packages = {"lint-imports": "import_linter"}
    for hook in source["hooks"]:
        program = Path(hook["entry"].split()[0]).name
        assert hook["entry"].startswith(".venv/bin/")
        assert program == "python" or f"\n{packages.get(program, program)}==" in f"\n{pinned}"
    assert {"ruff", "mypy", "importlinter"} <= set(wanted)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form.stem))
def test_a_form_asks_for_what_it_needs_and_for_no_more(form: Path) -> None:
    asked: dict[str, Any] = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= set(asked)
    fields = [each for each in asked["body"] if each["type"] != "markdown"]
    assert all({"id", "attributes"} <= set(each) and each["attributes"]["label"] for each in fields)
    assert any(each.get("validations", {}).get("required") for each in fields)


def test_the_changelog_is_in_shape() -> None:
    text = read("CHANGELOG.md")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[0] == "Unreleased"
    released = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) \(\d{4}-\d{2}-\d{2}\)", each) for each in headings[1:]]
    assert all(released)
    numbers = [tuple(map(int, each.groups())) for each in released if each]
    assert numbers == sorted(numbers, reverse=True)
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.+)$", part, re.MULTILINE)
        assert kinds == sorted(kinds, key=KINDS.index)
        before_the_first = part.partition("\n### ")[0]
        assert "\n- " not in before_the_first, "every line stands under Added, Changed, …"
