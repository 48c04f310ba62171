"""`recollect db keys` and `recollect db users`: what they make works at the server's door, what they take back no longer does."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.bootstrap import engine_over, open_store
from recollect.doors.http.auth.basic_username import BasicUsername
from recollect.doors.http.auth.bearer_token import BearerToken
from recollect.doors.http.auth.caller import Caller
from recollect.errors import Unauthenticated
from recollect.settings import Settings
from tests.cli.conftest import CommandLine
from tests.doors.http.requests import basic, bearing


def let_in(cli: CommandLine, secret: str) -> Caller:
    async def ask() -> Caller:
        settings = Settings.load(cli.environment)
        engine = engine_over(await open_store(settings), None, settings)
        try:
            return await BearerToken("default")(bearing(secret, engine))
        finally:
            await engine.close()

    return asyncio.run(ask())


def test_a_key_opens_until_it_is_revoked(cli: CommandLine) -> None:
    made = cli.json("db", "keys", "create", "--user", "ana", "--tenant", "acme", "--name", "laptop")
    caller = let_in(cli, made["secret"])
    assert (caller.scope.tenant, caller.scope.user, caller.role) == ("acme", "ana", "user")
    (listed,) = cli.json("db", "keys", "list")
    assert (listed["id"], listed["name"], listed["last_used_at"] is not None) == (made["id"], "laptop", True)
    assert cli.json("db", "keys", "revoke", made["id"]) == {"id": made["id"], "revoked": True}
    with pytest.raises(Unauthenticated):
        let_in(cli, made["secret"])
    assert cli.json("db", "keys", "list")[0]["revoked_at"]


def test_the_secret_is_shown_once_and_kept_nowhere(cli: CommandLine) -> None:
    made = cli.json("db", "keys", "create")
    assert made["secret"].startswith("rk_")
    assert "secret_hash" not in made
    for command in (("db", "keys", "list"), ("db", "keys", "list", "--json")):
        assert made["secret"] not in cli(*command).output
    with sqlite3.connect(cli.folder / "recollect.db") as database:
        assert made["secret"] not in str(database.execute("select * from api_keys").fetchall())


def test_a_person_sees_the_secret_on_a_line_of_its_own(cli: CommandLine) -> None:
    said = cli("db", "keys", "create", "--name", "laptop")
    assert let_in(cli, said.stdout.splitlines()[-1]).scope.user == "local"


def test_a_key_may_be_an_administrators_and_may_end(cli: CommandLine) -> None:
    made = cli.json("db", "keys", "create", "--role", "admin", "--days", "7")
    assert let_in(cli, made["secret"]).role == "admin"
    ends = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=6) < ends <= timedelta(days=7)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("create", "--role", "root"), 2),
        (("create", "--days", "0"), 2),
        (("create", "--user", " "), 2),
        (("create", "--name", "a\nb"), 2),
        (("revoke", "unknown"), 4),
    ],
)
def test_mistakes_with_keys_are_said(cli: CommandLine, args: tuple[str, ...], code: int) -> None:
    cli("db", "keys", *args, code=code)


def test_there_may_be_no_keys(cli: CommandLine) -> None:
    assert "no keys" in cli("db", "keys", "list").stdout


@pytest.fixture
def users(cli: CommandLine) -> Path:
    path = cli.folder.parent / "people" / "users"
    cli.env["RECOLLECT_BASIC_USERS"] = str(path)
    return path


def logged_in(path: Path, name: str, password: str) -> Caller:
    return asyncio.run(BasicUsername(path, "default", "default")(basic(name, password)))


def test_a_user_logs_in_until_removed(cli: CommandLine, users: Path) -> None:
    add = ("db", "users", "add", "ana", "--password-stdin")
    assert cli.json(*add, "--tenant", "acme", "--role", "admin", input="correct horse\n")["outcome"] == "added"
    caller = logged_in(users, "ana", "correct horse")
    assert (caller.scope.tenant, caller.scope.user, caller.role) == ("acme", "ana", "admin")
    assert users.stat().st_mode & 0o777 == 0o600
    assert cli.json(*add, input="battery staple\n")["outcome"] == "changed"
    caller = logged_in(users, "ana", "battery staple")
    assert (caller.scope.tenant, caller.role) == ("acme", "admin"), "another password is no other role"
    assert cli.json(*add, "--role", "user", input="battery staple\n")["outcome"] == "changed"
    assert logged_in(users, "ana", "battery staple").role == "user"
    with pytest.raises(Unauthenticated):
        logged_in(users, "ana", "correct horse")
    assert cli.json("db", "users", "list") == [{"name": "ana", "tenant": "acme", "role": "user"}]
    cli("db", "users", "remove", "ana")
    assert "no users" in cli("db", "users", "list").stdout


def test_a_person_is_asked_twice(cli: CommandLine, users: Path) -> None:
    said = cli("db", "users", "add", "ana", input="correct horse\ncorrect horse\n")
    assert "correct horse" not in said.output
    assert logged_in(users, "ana", "correct horse").scope.user == "ana"
    cli("db", "users", "add", "bo", input="correct horse\ncorrect hoarse\n", code=2)


@pytest.mark.parametrize(
    ("args", "typed", "code"),
    [
        (("add", "ana", "--password-stdin"), "short\n", 2),
        (("add", "ana", "--password-stdin"), "", 2),
        (("add", "a:b", "--password-stdin"), "long enough\n", 2),
        (("add", "ana", "--password-stdin", "--tenant", "a:b"), "long enough\n", 2),
        (("add", "ana", "--password-stdin", "--role", "root"), "long enough\n", 2),
        (("remove", "ana"), "", 4),
    ],
)
def test_mistakes_with_users_are_said(cli: CommandLine, users: Path, args: Any, typed: str, code: int) -> None:
    cli("db", "users", *args, input=typed, code=code)
    assert not users.exists()


def test_a_file_must_be_named(cli: CommandLine) -> None:
    assert "RECOLLECT_BASIC_USERS" in cli("db", "users", "list", code=2).output
