"""The doctor finds what is broken, says how to mend it, and tells nobody's secrets."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.checks.database import place
from recollect.settings import Settings
from recollect.stores import migrations
from tests.cli.conftest import CommandLine, the_local_model
from tests.providers.wire import EmbeddingServer, Fault
from tests.services.postgres import Database


def states(report: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["state"] for check in report["checks"]}


def detail(report: dict[str, Any], name: str) -> str:
    return next(str(check["detail"]) for check in report["checks"] if check["name"] == name)


def test_a_healthy_memory(cli: CommandLine) -> None:
    cli.env |= {"RECOLLECT_EMBEDDER": "local"}
    cli("add", "the canary is called Zerzura")
    cli("chat", "--once", "What is the canary called?")  # answered by quoting: a reply that is kept and never found
    report = cli.json("doctor")
    assert report["ok"]
    assert {"settings", "data folder", "disk", "FTS5", "embedder", "migrations", "database", "embeddings"} <= set(
        states(report)
    )
    assert set(states(report).values()) == {"ok"}
    assert f"{the_local_model().dimensions} dimensions" in detail(report, "embedder")
    assert "0 pending, 0 failed" in detail(report, "embeddings")
    told = cli("doctor").stdout
    assert "all is well" in told
    assert "Zerzura" not in told + json.dumps(report)


def test_looking_creates_nothing(cli: CommandLine) -> None:
    assert "not there yet" in detail(cli.json("doctor"), "database")
    assert not cli.folder.exists()


def test_an_open_data_folder_is_a_warning_with_its_fix(cli: CommandLine) -> None:
    cli.folder.mkdir()
    cli.folder.chmod(0o755)
    report = cli.json("doctor")
    assert states(report)["data folder"] == "warning"
    assert f"chmod 700 {cli.folder}" in {check["fix"] for check in report["checks"]}


def test_a_damaged_file_is_broken(cli: CommandLine) -> None:
    cli.folder.mkdir(mode=0o700)
    (cli.folder / "recollect.db").write_bytes(b"this is not a database at all, whatever its name says" * 100)
    report = cli.json("doctor", code=1)
    assert not report["ok"]
    assert "broken" in states(report).values()
    assert "BROKEN" in cli("doctor", code=1).stdout
    assert "put a backup in its place" in {check["name"]: check["fix"] for check in report["checks"]}["migrations"]


def test_an_index_that_disagrees_is_broken(cli: CommandLine) -> None:
    cli("add", "Tea is best at four")
    with sqlite3.connect(cli.folder / "recollect.db") as connection:
        connection.execute("DELETE FROM entries")
    assert not cli.json("doctor", code=1)["ok"]


def test_an_embedder_that_is_down_is_broken_and_its_failures_have_reasons(
    cli: CommandLine, server: EmbeddingServer
) -> None:
    cli.env |= {
        "RECOLLECT_EMBEDDER": "openai",
        "RECOLLECT_EMBEDDER_URL": f"{server.url}/v1",
        "RECOLLECT_EMBEDDER_MODEL": "tiny",
        "RECOLLECT_EMBEDDER_KEY": "sk-very-secret",
    }
    cli("add", "first")
    server.faults.extend([Fault(status=401)] * 20)
    told = cli("add", "second")
    assert "1 failed" in told.stderr
    assert cli.json("search", "second")["hits"][0]["content"] == "second"
    report = cli.json("doctor", code=1)
    assert states(report)["embedder"] == "broken"
    assert states(report)["embeddings"] == "warning"
    assert "1 failed" in detail(report, "embeddings")
    assert "401" in detail(report, "embeddings") or "key" in detail(report, "embeddings")
    assert "sk-very-secret" not in json.dumps(report)


def test_a_wrong_setting_is_a_finding(cli: CommandLine) -> None:
    cli.env["RECOLLECT_EMBED_BATCH"] = "lots"
    report = cli.json("doctor", code=1)
    assert {name for name, state in states(report).items() if state == "broken"} == {"settings"}
    assert "RECOLLECT_EMBED_BATCH" in detail(report, "settings")


def test_the_schema_from_nothing_to_current(cli: CommandLine) -> None:
    assert cli.json("db", "current") == {"current": None, "head": migrations.head(), "up_to_date": False}
    assert "no Recollect schema" in cli("db", "check", code=1).stdout
    assert cli.json("db", "upgrade") == {"before": None, "after": migrations.head()}
    assert cli("db", "upgrade").stdout == f"already at {migrations.head()}\n"
    assert cli.json("db", "check") == {"ok": True, "differences": []}
    assert "up to date" in cli("db", "current").stdout


def test_a_schema_that_differs_is_told(cli: CommandLine) -> None:
    cli("db", "upgrade")
    with sqlite3.connect(cli.folder / "recollect.db") as connection:
        connection.execute("DROP TABLE audit_events")
    assert "table audit_events is missing" in cli("db", "check", code=1).stdout


def test_a_server_that_is_down_is_said_in_one_line_without_the_password(cli: CommandLine) -> None:
    store = "postgresql://app:hunter2@127.0.0.1:1/none"
    told = cli("db", "current", "--store", store, code=5).stderr
    assert told.startswith("error: ")
    assert told.count("\n") == 1
    report = cli("doctor", "--store", store, code=1).stdout
    assert "hunter2" not in told + report
    slashed = place(Settings.load({}, store="postgresql://app:hun/ter2@127.0.0.1:1/none"))
    assert slashed == "127.0.0.1:1/none", "a slash in a password ends the host's name"


def test_postgres_from_an_empty_database_to_the_first_memory(cli: CommandLine, blank_database: Database) -> None:
    cli.env |= {"RECOLLECT_STORE": blank_database.app_url}
    assert states(cli.json("doctor", code=1))["migrations"] == "broken"
    cli("add", "x", code=5)
    cli.env |= {"RECOLLECT_MIGRATE_URL": blank_database.owner_url}
    assert cli.json("db", "upgrade")["after"] == migrations.head()
    del cli.env["RECOLLECT_MIGRATE_URL"]
    cli("add", "I prefer uv over pip")
    assert cli.json("search", "uv")["hits"][0]["content"] == "I prefer uv over pip"
    report = cli.json("doctor")
    assert {"pgvector", "role", "rights"} <= set(states(report))
    assert "only-for-tests" not in json.dumps(report)


@pytest.mark.parametrize("command", ["current", "check"])
def test_looking_at_a_schema_creates_no_file(cli: CommandLine, tmp_path: Path, command: str) -> None:
    cli("db", command, "--store", str(tmp_path / "none.db"), code=0 if command == "current" else 1)
    assert not (tmp_path / "none.db").exists()
