"""The reference says what the code says, and nothing in it goes without a word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

from scripts.reference import commands, library, rest
from scripts.reference.pages import FOLDER, PAGES
from scripts.reference.writing import fields as described
from scripts.reference.writing import table, type_of

from recollect.cli.group import COMMANDS
from recollect.settings import Settings, names_of
from recollect.tools import TOOLS


def test_every_page_is_as_the_code_says() -> None:
    """One test, so that the pages are made once, and not by each worker of a run."""
    written = {name: about.page() for name, about in PAGES.items()}
    stale = [name for name, text in written.items() if (FOLDER / f"{name}.md").read_text() != text]
    assert not stale, "out of date: make reference"
    silent = [f"{name}: {each}" for name, about in PAGES.items() for each in about.undocumented()]
    assert not silent, "say what it is where it is declared"
    nothing_is_left_out(written)


def nothing_is_left_out(written: Mapping[str, str]) -> None:
    for setting in fields(Settings):
        assert f"| `{names_of(setting.name)[0]}` |" in written["settings"]
    assert all(f"## recollect {name}\n" in written["cli"] for name in COMMANDS)
    assert all(f"### {name}\n" in written["rest"] for name, _ in rest.operations(rest.described()))
    assert all(f"## {tool.name}\n" in written["tools"] for tool in TOOLS)
    for name in ("Memory.search", "Receipt", "Recall", "Hit", "RecollectSession.get_items"):
        assert f"# {name}\n" in written["library"]


def test_there_is_no_page_that_nobody_writes() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} == set(PAGES)


def test_what_is_not_described_would_be_seen() -> None:
    whole: dict[str, Any] = {
        "paths": {
            "/x": {
                "post": {
                    "summary": "Do it",
                    "parameters": [{"name": "how", "schema": {"type": "string"}}],
                    "requestBody": {"content": {"application/json": {"schema": {"properties": {"why": {}}}}}},
                },
                "get": {},
            }
        },
        "components": {"schemas": {}},
    }
    assert [*rest.missing(whole)] == ["POST /x how", "POST /x why", "GET /x"]
    assert [*commands.missing("recollect x", Command())] == ["recollect x", "recollect x `--how HOW`"]
    assert not library.said(Silent)


class Silent:
    pass


class Option:
    name, help, metavar, is_flag, param_type_name = "how", "", None, False, "option"
    opts: ClassVar[list[str]] = ["--how"]
    secondary_opts: ClassVar[list[str]] = []


class Command:
    help = ""
    params = (Option(),)


def test_types_and_tables_are_written_in_words() -> None:
    assert (
        type_of({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
        == "list of string or null"
    )
    assert type_of({"$ref": "#/x/Kind"}, {"Kind": {"enum": ["a", "b"]}}) == "`a`, `b`"
    assert table(("a",), []) == ""
    shown = described(
        {"required": ["n"], "properties": {"n": {"type": "integer", "description": "A|b.", "default": 3}}}
    )
    assert shown.splitlines()[-1] == "| `n` (required) | integer | A\\|b. Default: `3`. |"
