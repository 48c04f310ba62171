"""Export, import and seed: what goes out comes back equal, and a bad line is named."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from tests.cli.conftest import CommandLine

GOLDEN = [{"content": "Ana moved to Porto", "type": "fact"}, {"content": "我不吃香菜", "type": "preference"}]


def fill(cli: CommandLine) -> None:
    with Memory(str(cli.folder / "recollect.db"), embedder="off") as memory:
        memory.add("Tea is best at four", type="preference", tags=["drinks"], theme="Home", pinned=True)
        old = memory.add("Lunch is at noon", key="lunch", value={"at": [12, 0]})
        memory.add("Lunch is at one 🍜", key="lunch", value=13.5)
        memory.add_turns("s1", [{"role": "user", "content": "你好，我叫小明"}, {"role": "assistant", "content": "Hi!"}])
        assert old.id


def without_header(lines: str) -> list[Any]:
    return [each for each in map(json.loads, lines.splitlines()) if each["kind"] != "header"]


def test_export_piped_into_import_is_equal(cli: CommandLine) -> None:
    fill(cli)
    exported = cli.shell("export")
    receipt = json.loads(cli.shell("import", "-", "--user", "twin", "--json", input=exported))
    assert (receipt["memories"], receipt["messages"], receipt["conversations"]) == (3, 2, 1)
    assert without_header(cli("export", "--user", "twin").stdout) == without_header(exported)
    best = cli.json("search", "小明", "--user", "twin")["hits"][0]
    assert (best["kind"], best["content"]) == ("message", "你好，我叫小明")


def test_importing_twice_changes_nothing(cli: CommandLine) -> None:
    fill(cli)
    exported = cli("export").stdout
    again = cli.json("import", "-", input=exported)
    assert (again["memories"], again["messages"]) == (0, 0)
    assert cli("export").stdout == exported


def test_an_exported_file_is_private_and_counted(cli: CommandLine, tmp_path: Path) -> None:
    fill(cli)
    file = tmp_path / "out.jsonl"
    counts = cli.json("export", str(file))
    assert (counts["memory"], counts["message"], counts["conversation"]) == (3, 2, 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "exported" in cli("export", str(file)).stderr
    assert not list(tmp_path.glob(".*.part"))
    assert cli.json("import", str(file), "--user", "other")["memories"] == 3


def test_export_stops_quietly_when_nobody_reads_on(cli: CommandLine) -> None:
    cli("seed", "-", input="".join(f"Fact number {n} {'x' * 500}\n" for n in range(300)))
    with cli.start("export") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read()
        process.wait(60)
    assert b"Traceback" not in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{broken", "line 3: not JSON"),
        ('{"kind": "dream"}', "line 3: kind must be one of"),
        ('{"kind": "memory", "content": "x"}', "line 3:"),
        ("\n{}", "line 3: is empty"),
        ("[1]", "line 3: expected a JSON object"),
    ],
)
def test_a_bad_line_is_named(cli: CommandLine, line: str, words: str) -> None:
    fill(cli)
    good = cli("export").stdout.splitlines()[:2]
    told = cli("import", "-", "--user", "other", input="\n".join([*good, line, ""]), code=2).stderr
    assert words in told
    assert "harmless" in told


def test_a_line_that_is_not_utf8_is_named(cli: CommandLine) -> None:
    lines = [cli("export").stdout.encode(), b'{"kind": "theme \xff"}\n']
    assert "line 2 is not UTF-8 at byte 17" in cli("import", "-", input=b"".join(lines), code=2).stderr


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOLDEN, ensure_ascii=False, indent=1),
        "\n".join(json.dumps(each) for each in GOLDEN) + "\n\n",
        "Ana moved to Porto\n\n我不吃香菜\n",
        json.dumps([each["content"] for each in GOLDEN]),
    ],
    ids=["golden set", "json lines", "text", "list of texts"],
)
def test_seeds_in_every_form(cli: CommandLine, tmp_path: Path, text: str) -> None:
    (tmp_path / "seeds").write_text(text)
    assert cli.json("seed", str(tmp_path / "seeds")) == {"stored": 2}
    memories = cli.json("list")["items"]
    assert {memory["content"] for memory in memories} == {each["content"] for each in GOLDEN}
    assert {memory["source"] for memory in memories} == {"import"}
    assert cli.json("seed", str(tmp_path / "seeds")) == {"merged": 2}


def test_seeds_keep_their_fields(cli: CommandLine) -> None:
    cli("seed", "-", input=json.dumps([{**GOLDEN[0], "tags": ["moves"], "created_at": "2024-02-03", "pinned": True}]))
    (memory,) = cli.json("list")["items"]
    assert (memory["tags"], memory["pinned"]) == (["moves"], True)
    assert memory["created_at"].startswith("2024-02-03")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps([*GOLDEN, {"content": "x", "type": "opinion"}]), "entry 3: type must be one of"),
        (json.dumps([*GOLDEN, {"text": "x"}]), "entry 3: has no content"),
        (json.dumps([*GOLDEN, 7]), "entry 3: expected a text or an object"),
        (json.dumps([*GOLDEN, {"content": "x", "mood": 1}]), "entry 3: there is no field 'mood'"),
        ('{"content": "x"}\n{"content": \n', "line 2: not JSON"),
        ("[2024-01-01] a diary entry", "plain text needs --format text"),
    ],
)
def test_a_bad_seed_is_named_and_nothing_is_stored(cli: CommandLine, text: str, words: str) -> None:
    assert words in cli("seed", "-", input=text, code=2).stderr
    assert cli.json("list")["total"] == 0


def test_a_diary_is_text_when_it_is_said_to_be(cli: CommandLine) -> None:
    assert cli.json("seed", "-", "--format", "text", input="[2024-01-01] a diary entry") == {"stored": 1}


def test_the_module_runs_like_the_script(cli: CommandLine) -> None:
    script = Path(sys.executable).with_name("recollect")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True, env=cli.whole_environment)
    assert done.stdout == cli.shell("--version")
