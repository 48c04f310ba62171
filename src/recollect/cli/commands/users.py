"""`recollect db users`: the file of those who log in with name and password; of a password it has the scrypt hash."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from recollect.cli.commands.keys import checked_role
from recollect.cli.options import Call, command
from recollect.cli.output import grid, print_json, show, visible
from recollect.cli.reading import at_hand
from recollect.cli.wording import WordedGroup
from recollect.doors.http.auth import passwords, users_file
from recollect.doors.http.auth.users_file import User
from recollect.errors import InvalidInput, NotFound
from recollect.model import checked_id

app = typer.Typer(
    add_completion=False, no_args_is_help=True, cls=WordedGroup, help="Users with passwords: add, list, remove."
)
SHORTEST_PASSWORD = 8

FileOption = Annotated[
    str | None,
    typer.Option("--file", help="The file of users. Default: as RECOLLECT_BASIC_USERS says.", metavar="PATH"),
]
StdinOption = Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin, without asking.")]
UserRoleOption = Annotated[
    str | None, typer.Option("--role", help="`user`, or `admin` for provider settings and metrics. Default: as it was.")
]
NameArgument = Annotated[str, typer.Argument(help="The user's name.")]


@dataclass(frozen=True, slots=True)
class Roll:
    """The file, read."""

    path: Path
    users: dict[str, User]


def _roll(call: Call, file: str | None) -> Roll:
    named = file or call.settings().basic_users
    if not named:
        raise InvalidInput("no file of users is named: give --file, or set RECOLLECT_BASIC_USERS")
    path = Path(named).expanduser()
    return Roll(path, users_file.read(path) if path.exists() else {})


@command(app)
async def add(
    call: Call,
    name: NameArgument,
    role: UserRoleOption = None,
    file: FileOption = None,
    password_stdin: StdinOption = False,
) -> None:
    """Add a user, or give one who is there another password; then role and tenant stay unless they are given."""
    roll = _roll(call, file)
    tenant = checked_id(call.tenant, "tenant") if call.tenant else None
    if tenant and ":" in tenant:
        raise InvalidInput("a tenant in this file can't have a colon")
    known = roll.users.get(users_file.checked_name(name))
    user = User(
        name,
        passwords.hashed(_password(password_stdin)),
        tenant or (known.tenant if known else None),
        checked_role(role or (known.role if known else "user")),
    )
    users_file.write(roll.path, {**roll.users, user.name: user})
    _answer(call, user.name, "changed" if user.name in roll.users else "added")


@command(app, "list")
async def list_users(call: Call, file: FileOption = None) -> None:
    """Show who can log in."""
    users = list(_roll(call, file).users.values())
    if call.json:
        print_json([{"name": user.name, "tenant": user.tenant, "role": user.role} for user in users])
    else:
        rows = [(visible(user.name), visible(" · ".join(filter(None, (user.role, user.tenant))))) for user in users]
        show(grid(rows) if rows else "there are no users")


@command(app)
async def remove(call: Call, name: NameArgument, file: FileOption = None) -> None:
    """Let a user log in no more. Their memories stay; `recollect forget` removes those."""
    roll = _roll(call, file)
    if name not in roll.users:
        raise NotFound("there is no such user in the file")
    users_file.write(roll.path, {each: user for each, user in roll.users.items() if each != name})
    _answer(call, name, "removed")


def _password(from_stdin: bool) -> str:
    with at_hand():
        given = sys.stdin.readline().rstrip("\r\n") if from_stdin else typer.prompt("Password", hide_input=True)
        if len(given) < SHORTEST_PASSWORD:
            raise InvalidInput(f"a password has at least {SHORTEST_PASSWORD} characters")
        if not from_stdin and typer.prompt("Again", hide_input=True) != given:
            raise InvalidInput("the two passwords differ")
    return str(given)


def _answer(call: Call, name: str, done: str) -> None:
    if call.json:
        print_json({"name": name, "outcome": done})
    else:
        show(done)
