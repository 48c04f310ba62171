"""Names and passwords: right ones in, all others out, and no difference to see between a wrong name and a wrong password."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from recollect.doors.http.auth import passwords, users_file
from recollect.doors.http.auth.basic_username import MOST_WAITING, REMEMBERED_SECONDS, BasicUsername
from recollect.doors.http.auth.users_file import User
from recollect.errors import InvalidInput, RateLimited, Unauthenticated
from recollect.model import Scope
from tests.doors.http.requests import asked, basic

CHEAP = {"n": 16, "r": 1, "p": 1}


def user(name: str, password: str, tenant: str | None = None, role: str = "user") -> User:
    return User(name, passwords.hashed(password, **CHEAP), tenant, role)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "users"
    people = [user("ana", "correct: horse"), user("bo", "battery", "globex", "admin"), user("安", "电池电池")]
    users_file.write(file, {each.name: each for each in people})
    return file


async def test_the_right_password_opens(path: Path) -> None:
    source = BasicUsername(path, "acme", "default")
    ana = await source(basic("ana", "correct: horse"))
    assert (ana.scope, ana.role, ana.actor) == (Scope("acme", "ana", "default"), "user", "basic")
    bo = await source(basic("bo", "battery"))
    assert (bo.scope.tenant, bo.role) == ("globex", "admin")
    assert (await source(basic("安", "电池电池"))).scope.user == "安"


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ana", "wrong"),
        ("ana", ""),
        ("ana", "correct: horse "),
        ("Ana", "correct: horse"),
        ("ana", "battery"),
        ("nobody", "correct: horse"),
        ("", ""),
        ("ana", "x" * 5000),
        ("ana\x00", "correct: horse"),
    ],
)
async def test_nothing_else_does(path: Path, name: str, password: str) -> None:
    with pytest.raises(Unauthenticated):
        await BasicUsername(path, "acme", "default")(basic(name, password))


async def test_nobody_stands_in_a_line_that_guessers_make(path: Path) -> None:
    source = BasicUsername(path, "acme", "default")
    crowd = [source(basic("ana", f"guess {number}")) for number in range(3 * MOST_WAITING)]
    turned_away = [
        each for each in await asyncio.gather(*crowd, return_exceptions=True) if isinstance(each, RateLimited)
    ]
    assert len(turned_away) == 2 * MOST_WAITING
    assert (await source(basic("ana", "correct: horse"))).scope.user == "ana", "the next one finds the way free"


async def test_no_login_no_entry(path: Path) -> None:
    source = BasicUsername(path, "acme", "default")
    for request in (asked(), asked(("Authorization", "Bearer YW5hOng=")), asked(("Authorization", "Basic !"))):
        with pytest.raises(Unauthenticated):
            await source(request)


async def test_an_unknown_name_costs_what_a_wrong_password_costs(path: Path) -> None:
    """Both hash once, at the price of the file's own hashes."""
    source = BasicUsername(path, "acme", "default")
    for spent, name in enumerate(("ana", "nobody", "ana", "nobody"), start=1):
        with pytest.raises(Unauthenticated):
            await source(basic(name, "wrong"))
        assert source.hashes == spent
    assert (source.decoy.n, source.decoy.r, source.decoy.p) == tuple(CHEAP.values())
    assert (len(source.decoy.salt), len(source.decoy.digest)) == (16, 32)


async def test_the_answer_is_the_same_for_both(path: Path) -> None:
    source = BasicUsername(path, "acme", "default")
    said = []
    for name in ("ana", "nobody"):
        with pytest.raises(Unauthenticated) as refused:
            await source(basic(name, "wrong"))
        said.append(refused.value.message)
    assert said[0] == said[1]


async def test_a_right_password_is_remembered_for_a_while_and_no_wrong_one_is(path: Path) -> None:
    now = [0.0]
    source = BasicUsername(path, "acme", "default", lambda: now[0])
    for _ in range(3):
        await source(basic("ana", "correct: horse"))
    assert source.hashes == 1
    now[0] = REMEMBERED_SECONDS + 1
    await source(basic("ana", "correct: horse"))
    assert source.hashes == 2
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            await source(basic("ana", "correct: hors"))
    assert source.hashes == 5


async def test_a_changed_file_counts_at_once(path: Path) -> None:
    source = BasicUsername(path, "acme", "default")
    await source(basic("ana", "correct: horse"))
    users_file.write(path, {"ana": user("ana", "another one")})
    with pytest.raises(Unauthenticated):
        await source(basic("ana", "correct: horse"))
    assert (await source(basic("ana", "another one"))).scope.user == "ana"
    with pytest.raises(Unauthenticated):
        await source(basic("bo", "battery"))
    os.unlink(path)
    with pytest.raises(Unauthenticated):
        await source(basic("ana", "another one"))


def test_the_file_is_its_owners_alone_and_holds_no_password(path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    assert "horse" not in path.read_text()
    assert os.listdir(path.parent) == [path.name]


SOUND = "scrypt$16$1$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


@pytest.mark.parametrize(
    "line",
    [
        "ana",
        "ana:",
        "ana:plain",
        "ana:{SHA}abc",
        f":{SOUND}",
        f"ana:{SOUND}:acme:root",
        f"ana:{SOUND}:acme:user:more",
        f"ana:{SOUND}\nana:{SOUND}",
        "ana:scrypt$15$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "ana:scrypt$1073741824$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "ana:scrypt$16$1$1$$",
        "ana:scrypt$16$1$1$!!!!$AAAA",
    ],
)
def test_a_line_that_can_not_be_read_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "users"
    file.write_text(f"# people\n\n{line}\n")
    with pytest.raises(InvalidInput, match=r"line [34]|twice"):
        BasicUsername(file, "acme", "default")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="RECOLLECT_BASIC_USERS"):
        BasicUsername(tmp_path / "none", "acme", "default")
