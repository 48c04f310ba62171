"""Adding, finding, looking, pinning and forgetting, as one does every day."""

from __future__ import annotations

import re
import sqlite3

import pytest
from rich.cells import cell_len

from tests.cli.conftest import CommandLine

ESCAPE = "\x1b"


def test_what_one_process_adds_the_next_one_finds(cli: CommandLine) -> None:
    cli.env["RECOLLECT_EMBEDDER"] = "local"
    told = cli.shell("add", "I prefer uv over pip for Python projects", "--type", "preference", "--tag", "tools")
    assert re.match(r"stored as [0-9a-f-]{36} · embedding ready\n$", told)
    assert "uv over pip" in cli.shell("search", "do I prefer uv or pip?")
    cli.env["RECOLLECT_EMBEDDER"] = "off"
    assert cli.json("search", "uv or pip")["hits"][0]["memory"]["tags"] == ["tools"]


def test_chinese_text_is_kept_found_and_shown(cli: CommandLine) -> None:
    cli.shell("add", "我喜欢在下午喝乌龙茶")
    assert "乌龙茶" in cli.shell("search", "乌龙茶")
    assert cli.json("list")["items"][0]["content"] == "我喜欢在下午喝乌龙茶"


def test_text_comes_from_stdin(cli: CommandLine) -> None:
    cli("add", "-", input="The standup is at 9:30\n")
    (memory,) = cli.json("list")["items"]
    assert memory["content"] == "The standup is at 9:30"


def test_every_field_is_kept(cli: CommandLine) -> None:
    receipt = cli.json(
        *("add", "Ana's cat is called Miso", "--type", "note", "--tag", "pets", "--tag", "cats", "--theme", "At Home"),
        *("--key", "cat", "--value", '{"name": "Miso"}', "--pin", "--importance", "0.9", "--confidence", "0.8"),
        *("--source", "manual", "--created-at", "2025-03-01", "--expires-at", "2099-01-01T00:00:00Z"),
    )
    memory = cli.json("get", receipt["id"])
    assert (memory["type"], memory["tags"], memory["theme"]) == ("note", ["pets", "cats"], "at-home")
    assert (memory["key"], memory["value"], memory["pinned"]) == ("cat", {"name": "Miso"}, True)
    assert (memory["importance"], memory["confidence"], memory["source"]) == (0.9, 0.8, "manual")
    assert memory["created_at"] == "2025-03-01T00:00:00+00:00"
    assert memory["expires_at"] == "2099-01-01T00:00:00+00:00"
    assert memory["embedding"] == "off"
    assert "Miso" in cli("get", receipt["id"]).stdout


def test_the_receipt_says_what_became_of_it(cli: CommandLine) -> None:
    first = cli.json("add", "Lunch is at noon", "--key", "lunch")
    assert cli.json("add", "Lunch is at noon", "--key", "lunch")["outcome"] == "merged"
    second = cli.json("add", "Lunch is at one", "--key", "lunch")
    assert (second["outcome"], second["replaces"]) == ("superseded", first["id"])
    assert f"superseded {second['id']}" in cli("add", "Lunch is at two", "--key", "lunch").stdout


def test_what_was_forgotten_is_refused_with_a_code_of_its_own(cli: CommandLine) -> None:
    receipt = cli.json("add", "The code word is heron")
    forgotten = cli.json("forget", receipt["id"])
    assert (forgotten["memories"], forgotten["tombstones"]) == (1, 1)
    assert "tombstone" in cli("add", "The code word is heron", code=3).stdout
    assert cli.json("add", "The code word is heron", code=3)["outcome"] == "refused"
    cli("get", receipt["id"], code=4)


def test_a_read_only_memory_refuses_people_and_takes_seeds(cli: CommandLine) -> None:
    cli.env["RECOLLECT_WRITE_MODE"] = "read_only"
    assert "RECOLLECT_WRITE_MODE" in cli("add", "anything", code=3).stdout
    assert cli.json("seed", "-", input="The office is in Lisbon\n") == {"stored": 1}
    seeded = cli.json("list")["items"][0]
    assert (seeded["source"], seeded["importance"]) == ("import", 0.5)
    others = '{"content": "Bob likes tea", "user_id": "bob", "importance": 0.9}'
    assert cli.json("seed", "-", input=others) == {"stored": 1}
    assert cli.json("list")["total"] == 1
    assert cli.json("list", "--user", "bob")["items"][0]["importance"] == 0.9


def test_search_narrows_and_explains(cli: CommandLine) -> None:
    cli("add", "Tea is best at four", "--type", "preference", "--tag", "drinks", "--created-at", "2024-05-01")
    cli("add", "Tea was served at the offsite", "--created-at", "2025-05-01")

    def found(*args: str) -> list[str]:
        return [hit["content"] for hit in cli.json("search", "tea", *args)["hits"]]

    assert len(found()) == 2
    assert len(found("--limit", "1")) == 1
    assert found("--type", "preference") == ["Tea is best at four"]
    assert found("--tag", "drinks") == ["Tea is best at four"]
    assert found("--since", "2025-01-01") == ["Tea was served at the offsite"]
    assert found("--until", "2025-01-01") == ["Tea is best at four"]
    assert found("--kind", "message") == []
    explained = cli("search", "tea", "--explain").stdout
    assert "score" in explained
    assert "recipe" in explained
    assert "ms" in explained


def test_a_question_without_an_answer_says_so(cli: CommandLine) -> None:
    cli("add", "Tea is best at four")
    assert cli("search", "quarterly revenue").stdout == "nothing matches\n"
    assert cli.json("search", "quarterly revenue")["hits"] == []


def test_pages_of_a_list(cli: CommandLine) -> None:
    cli("seed", "-", input="".join(f"Fact number {n}\n" for n in range(5)))
    page = cli.json("list", "--limit", "2", "--offset", "2")
    assert (len(page["items"]), page["total"]) == (2, 5)
    shown = cli("list", "--limit", "2", "--offset", "2")
    assert "--offset 4 shows more" in shown.stderr
    assert shown.stdout.splitlines()[0].startswith("3  Fact number")


def test_pin_and_unpin(cli: CommandLine) -> None:
    id = cli.json("add", "Keep this")["id"]
    assert cli("pin", id).stdout == f"pinned {id}\n"
    assert cli.json("list", "--pinned")["total"] == 1
    assert cli.json("pin", id, "--off")["pinned"] is False
    assert cli.json("list", "--not-pinned")["total"] == 1


def test_nothing_is_pinned_when_one_id_is_wrong(cli: CommandLine) -> None:
    id = cli.json("add", "Keep this")["id"]
    cli("pin", id, "nobody", code=4)
    assert cli.json("list", "--pinned")["total"] == 0


def test_users_spaces_and_tenants_are_apart(cli: CommandLine) -> None:
    cli("add", "Ana's secret recipe", "--user", "ana")
    for where in (["--user", "ben"], ["--user", "ana", "--space", "work"], ["--user", "ana", "--tenant", "other"]):
        assert cli.json("search", "secret recipe", *where)["hits"] == []
    assert len(cli.json("search", "secret recipe", "--user", "ana")["hits"]) == 1


def test_forgetting_everything_asks_for_the_name(cli: CommandLine) -> None:
    cli("add", "one", "--user", "ana")
    cli("add", "two", "--user", "ana", "--space", "work")
    cli("add", "three", "--user", "ben")
    refused = cli("forget", "--all", "--user", "ana", input="yes\n", code=3)
    assert "nothing was forgotten" in refused.stderr
    assert "nothing was forgotten" in cli("forget", "--all", "--user", "ana", code=3).stderr
    assert cli.json("list", "--user", "ana")["total"] == 1
    assert cli.json("forget", "--all", "--user", "ana", input="ana\n")["memories"] == 2
    assert cli.json("list", "--user", "ana", "--space", "work")["total"] == 0
    assert cli.json("list", "--user", "ben")["total"] == 1


def test_forgetting_everything_without_a_question_leaves_no_trace_in_the_file(cli: CommandLine) -> None:
    cli("add", "the canary is called Zerzura")
    assert "memories" in cli("forget", "--all", "--yes").stdout
    for file in cli.folder.iterdir():
        assert b"zerzura" not in file.read_bytes().lower()
    with sqlite3.connect(cli.folder / "recollect.db") as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)


def test_stored_text_is_not_obeyed_by_the_terminal(cli: CommandLine) -> None:
    cli("add", f":free: [bold red]brackets[/] {ESCAPE}]0;title\x07 {ESCAPE}[2J right\u202eleft")
    for shown in (cli("list").stdout, cli("search", "brackets").stdout):
        assert ":free: [bold red]brackets[/]" in shown
        assert not set("\x1b\x07\u202e") & set(shown)


@pytest.mark.parametrize("text", ["word " * 300, "早上喝乌龙茶，" * 40])
def test_long_texts_and_ids_fit_eighty_columns(cli: CommandLine, text: str) -> None:
    id = cli.json("add", text, "--tag", "a-rather-long-tag-that-takes-room", "--theme", "a long theme")["id"]
    shown = cli("list").stdout
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in shown.splitlines()), "nobody wants blanks at the end of a line"
    assert id in shown


@pytest.mark.parametrize("command", ["list", "search"])
def test_a_fresh_memory_is_empty_and_no_error(cli: CommandLine, command: str) -> None:
    args = ("search", "anything") if command == "search" else ("list",)
    assert cli(*args).stdout in {"no memories\n", "nothing matches\n"}
