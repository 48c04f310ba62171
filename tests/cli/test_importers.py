"""What other programs have kept comes in with its times, once, and a bad file is named at the very place."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from recollect import Memory
from recollect.cli.bringing import Kind
from recollect.cli.importers import READERS
from recollect.cli.importers.pieces import parts, stable
from recollect.doors.langgraph import RecollectStore
from tests.cli.conftest import CommandLine

MEM0 = {
    "results": [
        {
            "id": "7d1c",
            "memory": "Keeps two bicycles in the cellar",
            "hash": "0a",
            "metadata": {"city": "Utrecht"},
            "categories": ["hobby"],
            "created_at": "2024-05-01T08:00:00-07:00",
            "updated_at": "2024-06-01T08:00:00-07:00",
            "user_id": "ana",
            "run_id": "r1",
        },
        {"id": "7d1d", "memory": "Sings in a choir", "created_at": None, "user_id": "ben"},
    ],
    "relations": [],
}
QDRANT = {
    "result": {
        "points": [{"id": "p1", "payload": {"data": "Owns a kiln", "user_id": "ana", "created_at": "2024-01-02"}}]
    }
}
ITEMS = [
    {
        "namespace": ["people", "ana"],
        "key": "pet",
        "value": {"text": "The cat is called Miso", "age": 4},
        "created_at": "2024-02-03T04:05:06+00:00",
        "updated_at": "2024-02-04T04:05:06+00:00",
    }
]


def node(
    name: str, parent: str | None, children: list[str], role: str = "", text: Any = "", **more: Any
) -> dict[str, Any]:
    message = None
    if role:
        content = {
            "content_type": more.pop("content_type", "text"),
            "parts": text if isinstance(text, list) else [text],
        }
        message = {"id": name, "author": {"role": role}, "create_time": 1_700_000_000.5, "content": content, **more}
    return {"id": name, "parent": parent, "children": children, "message": message}


def talk(**changes: Any) -> dict[str, Any]:
    nodes = [
        node("root", None, ["sys"]),
        node("sys", "root", ["q"], "system", "Be kind.", metadata={"is_visually_hidden_from_conversation": True}),
        node("q", "sys", ["a1", "a2"], "user", ["Which tea for the evening?", {"content_type": "image_asset_pointer"}]),
        node("a1", "q", [], "assistant", "The first answer, thrown away"),
        node("a2", "q", ["call"], "assistant", "", content_type="thoughts"),
        node("call", "a2", ["tool"], "assistant", "look up tea", recipient="browser"),
        node("tool", "call", ["a3"], "tool", "a page about rooibos"),
        node("a3", "tool", [], "assistant", "Rooibos, it has no caffeine", create_time=None),
    ]
    told = {"conversation_id": "c-1", "title": "Tea", "create_time": 1_700_000_000.0, "current_node": "a3"}
    return {**told, "mapping": {each["id"]: each for each in nodes}, **changes}


CLAUDE: dict[str, Any] = {
    "uuid": "u-1",
    "name": "Planning",
    "created_at": "2025-01-02T03:04:05.678901Z",
    "updated_at": "2025-01-02T04:00:00Z",
    "chat_messages": [
        {
            "uuid": "m-1",
            "sender": "human",
            "text": "ignored where blocks are",
            "content": [{"type": "text", "text": "Here is the plan"}, {"type": "tool_use", "name": "x"}],
            "created_at": "2025-01-02T03:05:00Z",
            "attachments": [{"file_name": "plan.txt", "extracted_content": "Paint the shed green"}],
        },
        {"uuid": "m-2", "sender": "assistant", "text": "Looks good", "created_at": "2025-01-02T03:06:00Z"},
    ],
}


def written(path: Path, told: Any) -> str:
    path.write_text(told if isinstance(told, str) else json.dumps(told, ensure_ascii=False))
    return str(path)


def twice(cli: CommandLine, kind: str, path: str, *options: str) -> dict[str, Any]:
    """What came the first time; the second time nothing does."""
    first: dict[str, Any] = cli.json("import", "--from", kind, path, *options)
    before = cli("export", "--all").stdout
    again = cli.json("import", "--from", kind, path, *options)
    assert (again["memories"], again["messages"], again["conversations"]) == (0, 0, 0)
    assert cli("export", "--all").stdout == before
    return first


def lines(cli: CommandLine, kind: str, *options: str) -> list[dict[str, Any]]:
    told = map(json.loads, cli("export", *options).stdout.splitlines())
    return [line for line in told if line["kind"] == kind]


def test_every_kind_has_a_reader() -> None:
    assert {each.value for each in Kind} == {*READERS}


def test_mem0_with_its_users_apart(cli: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path / "all.json", MEM0)
    told = cli.json("import", "--from", "mem0", path, "--all-users", "--dry-run")
    assert (told["memories"], [each["user"] for each in told["users"]]) == (2, ["ana", "ben"])
    assert "nothing was stored" in cli("import", "--from", "mem0", path, "--all-users", "--dry-run").stdout
    assert "2 users" in cli("import", "--from", "mem0", path, code=2).stderr
    assert twice(cli, "mem0", path, "--all-users")["memories"] == 2
    (memory,) = lines(cli, "memory", "--user", "ana")
    assert memory["id"] == "mem0:7d1c"
    assert (memory["source"], memory["tags"], memory["source_conversation_id"]) == ("import", ["hobby"], "mem0:r1")
    assert memory["value"] == {"from": "mem0", "run_id": "r1", "city": "Utrecht"}
    assert (memory["created_at"][:19], memory["updated_at"][:19]) == ("2024-05-01T15:00:00", "2024-06-01T15:00:00")
    assert cli.json("import", "--from", "mem0", path, "--user", "eva")["memories"] == 2
    assert cli.json("search", "bicycles", "--user", "eva")["hits"][0]["content"].startswith("Keeps two")


def test_mem0_as_points_lines_and_history(cli: CommandLine, tmp_path: Path) -> None:
    assert twice(cli, "mem0", written(tmp_path / "points.json", QDRANT))["memories"] == 1
    as_lines = "\n".join(json.dumps({"id": str(n), "memory": f"Line {n}"}) for n in range(3))
    assert twice(cli, "mem0", written(tmp_path / "all.jsonl", as_lines))["memories"] == 3
    history = tmp_path / "history.db"
    with sqlite3.connect(history) as connection:
        connection.execute(
            "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,"
            " created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
        )
        rows = [
            ("1", "m", None, "Lives in Bonn", "ADD", "2024-01-01", None, 0),
            ("2", "m", "Lives in Bonn", "Lives in Köln", "UPDATE", "2024-01-01", "2024-03-01", 0),
            ("3", "gone", None, "A thing deleted", "ADD", "2024-01-01", None, 0),
            ("4", "gone", "A thing deleted", None, "DELETE", "2024-01-01", "2024-02-01", 1),
        ]
        connection.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", rows)
    connection.close()
    assert twice(cli, "mem0", str(history), "--user", "past")["memories"] == 2
    found = {each["id"]: each for each in lines(cli, "memory", "--user", "past")}
    assert found["mem0:m"]["content"] == "Lives in Köln"
    assert found["mem0:m"]["supersedes"] == "mem0:m:1"
    assert (found["mem0:m:1"]["status"], found["mem0:m:1"]["content"]) == ("superseded", "Lives in Bonn")
    assert "pickled" in cli("import", "--from", "mem0", str(tmp_path), code=1).stderr


def chroma_folder(path: Path, collection: str, ids: list[str], texts: list[str], about: list[dict[str, Any]]) -> str:
    client = chromadb.PersistentClient(path=str(path), settings=Settings(anonymized_telemetry=False))
    client.create_collection(collection).add(
        ids=ids, documents=texts, metadatas=list(about), embeddings=np.ones((len(ids), 2), np.float32)
    )
    return str(path)


def test_chroma_and_a_palace(cli: CommandLine, tmp_path: Path) -> None:
    about = [
        {"wing": "home", "room": "garden", "hall": "facts", "filed_at": "2025-04-05T06:07:08", "source_file": "g.md"}
    ]
    palace = chroma_folder(tmp_path / "p" / "palace", "mempalace_drawers", ["drawer_1"], ["Roses need sun"], about)
    assert twice(cli, "mempalace", str(tmp_path / "p"))["memories"] == 1
    (memory,) = lines(cli, "memory")
    assert (memory["id"], memory["theme"], memory["tags"]) == ("mempalace:drawer_1", "garden", ["home", "facts"])
    assert (memory["created_at"][:19], memory["value"]["source_file"]) == ("2025-04-05T06:07:08", "g.md")
    assert twice(cli, "chroma", palace, "--user", "plain")["memories"] == 1
    (memory,) = lines(cli, "memory", "--user", "plain")
    assert (memory["theme"], memory["content"]) == ("mempalace-drawers", "Roses need sun")
    assert "no folder of Chroma's" in cli("import", "--from", "chroma", str(tmp_path), code=2).stderr
    other = chroma_folder(tmp_path / "other", "notes", ["n"], ["x"], [{"a": 1}])
    assert "is it a palace" in cli("import", "--from", "mempalace", other, code=2).stderr


def test_langgraph_items_are_given_back_by_the_store(cli: CommandLine, tmp_path: Path) -> None:
    assert twice(cli, "langgraph", written(tmp_path / "items.json", ITEMS))["memories"] == 1
    file = tmp_path / "store.db"
    with sqlite3.connect(file) as connection:
        connection.execute(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP,"
            " updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key))"
        )
        row = (
            "people.ben",
            "drink",
            '{"text": "Black coffee"}',
            "2024-05-06 07:08:09",
            "2024-05-06 07:08:09",
            None,
            None,
        )
        connection.execute("INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    connection.close()
    assert twice(cli, "langgraph", str(file))["memories"] == 1
    with Memory(str(cli.folder / "recollect.db"), embedder="off") as memory:
        store = RecollectStore(memory)
        item = store.get(("people", "ana"), "pet")
        assert item is not None
        assert item.value == {"text": "The cat is called Miso", "age": 4}
        assert item.created_at.isoformat() == "2024-02-03T04:05:06+00:00"
        assert [each.key for each in store.search(("people",))] == ["pet", "drink"], "by when they were made"


def test_chatgpt_along_the_branch_that_was_open(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/conversations.json", json.dumps([talk()]))
        archive.writestr("data/user.json", "{}")
    told = cli.json("import", "--from", "chatgpt", str(path), "--dry-run")
    assert (told["conversations"], told["messages"]) == (1, 3)
    first = twice(cli, "chatgpt", str(path))
    assert (first["conversations"], first["messages"], first["memories"]) == (1, 3, 0)
    said = lines(cli, "message")
    assert [(each["role"], each["content"]) for each in said] == [
        ("user", "Which tea for the evening?\n[image]"),
        ("tool", "a page about rooibos"),
        ("assistant", "Rooibos, it has no caffeine"),
    ]
    assert said[0]["created_at"] == "2023-11-14T22:13:20.500000+00:00"
    assert [each["dated"] for each in said] == [True, True, False]
    assert said[1]["searchable"] == "", "what a tool returned is kept and never found"
    assert lines(cli, "conversation")[0]["title"] == "Tea"
    without = written(tmp_path / "conversations.json", [talk(current_node=None, conversation_id="c-2")])
    assert cli.json("import", "--from", "chatgpt", without, "--user", "b")["messages"] == 2, (
        "up to the end that was made last"
    )


def test_claude_with_what_was_attached(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "unzipped").mkdir()
    written(tmp_path / "unzipped" / "conversations.json", [CLAUDE])
    assert twice(cli, "claude", str(tmp_path / "unzipped"))["messages"] == 2
    first, second = lines(cli, "message")
    assert first["content"] == "Here is the plan\n\n[file: plan.txt]\nPaint the shed green"
    assert (second["role"], second["content"], second["id"]) == ("assistant", "Looks good", "claude:u-1:m-2")
    parents = {"m-1": None, "m-2": "m-1", "m-3": "m-1"}
    third = {**CLAUDE["chat_messages"][1], "uuid": "m-3", "text": "Another answer"}
    messages = [{**each, "parent_message_uuid": parents[each["uuid"]]} for each in [*CLAUDE["chat_messages"], third]]
    forked = {**CLAUDE, "uuid": "u-2", "chat_messages": messages, "current_leaf_message_uuid": "m-3"}
    cli("import", "--from", "claude", written(tmp_path / "f.json", [forked]), "--user", "fork")
    assert [each["content"] for each in lines(cli, "message", "--user", "fork")][1:] == ["Another answer"]


@pytest.mark.parametrize(
    ("kind", "told", "words"),
    [
        ("mem0", "{", "all.json: not JSON"),
        ("mem0", '{"a": 1}\n{"b"', "all.json, line 2: not JSON"),
        ("mem0", {"nothing": 1}, "expected a list of memories"),
        ("mem0", [{"id": "1"}], "all.json, memory 1: memory must be a text"),
        ("mem0", [{"id": "1", "memory": "x", "created_at": "soon"}], "memory 1: 'soon' is not a time"),
        ("mem0", [{"id": "1", "memory": "x", "metadata": {"a": "y" * 70_000}}], "all.json, memory 1: value"),
        ("langgraph", [{"key": "a", "value": {}}], "item 1: namespace must be"),
        ("langgraph", "3", "expected a list of items"),
        ("chatgpt", [talk(), talk(mapping=3)], "conversation 2 'Tea': mapping must be an object"),
        ("chatgpt", [talk(mapping={"a": node("a", "z", [])}, current_node="a")], "a parent that is not in it: 'z'"),
        ("chatgpt", [talk(mapping={"a": node("a", "a", [])}, current_node="a")], "in a circle"),
        ("chatgpt", [7], "conversation 1 'untitled': a conversation must be an object"),
        ("claude", [{**CLAUDE, "chat_messages": 1}], "conversation 1 'Planning': chat_messages must be a list"),
        (
            "claude",
            [{**CLAUDE, "chat_messages": [{"sender": "robot"}]}],
            "message 1: sender must be human or assistant",
        ),
    ],
)
def test_a_bad_file_is_named_and_nothing_of_it_is_stored(
    cli: CommandLine, tmp_path: Path, kind: str, told: Any, words: str
) -> None:
    refused = cli("import", "--from", kind, written(tmp_path / "all.json", told), code=2)
    assert words in refused.stderr
    assert not (cli.folder / "recollect.db").exists()


def test_what_does_not_go_together_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    assert "nothing of that name" in cli("import", "--from", "claude", str(tmp_path / "no"), code=2).stderr
    assert "go with --from" in cli("import", "x", "--dry-run", code=2).stderr
    assert "--from takes" in cli("import", "x", "--all", "--from", "mem0", code=2).stderr
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    assert (
        "there is no conversations.json"
        in cli("import", "--from", "claude", str(tmp_path / "empty.zip"), code=2).stderr
    )


def test_long_texts_come_in_parts_and_odd_names_stay_the_same() -> None:
    text = "\n".join(f"line {n} 茶" for n in range(100))
    found = parts(text, 200)
    assert "\n".join(found) == text
    assert max(len(each.encode()) for each in found) <= 200
    assert "".join(parts("茶" * 100, 50)) == "茶" * 100
    assert parts(" \n\x00 ", 50) == []
    assert stable("mem0", "x" * 300) == stable("mem0", "x" * 300) != stable("mem0", "x" * 301)
    assert len(stable("mem0", "x" * 300)) < 100
