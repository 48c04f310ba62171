"""The file of Basic users: a line `name:hash[:tenant[:role]]` each. Written as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from recollect.doors.http.auth import passwords
from recollect.errors import InvalidInput
from recollect.model import checked_id
from recollect.model.access import ROLES, Role

MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class User:
    name: str
    password: passwords.Hashed
    tenant: str | None = None
    role: Role = "user"

    def line(self) -> str:
        parts = [self.name, str(self.password)]
        if self.tenant or self.role != "user":
            parts.append(self.tenant or "")
        if self.role != "user":
            parts.append(self.role)
        return ":".join(parts)


def read(path: Path) -> dict[str, User]:
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode()
    except OSError as problem:
        raise InvalidInput(
            f"the file of users (RECOLLECT_BASIC_USERS) can't be read: {problem.strerror}; `recollect db users add` makes one"
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput("the file of users (RECOLLECT_BASIC_USERS) is not UTF-8") from None
    users: dict[str, User] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            user = _user(line.strip(), number)
            if user.name in users:
                raise InvalidInput(f"the file of users has {user.name!r} twice, in line {number} again")
            users[user.name] = user
    return users


def write(path: Path, users: Mapping[str, User]) -> None:
    """In one step, readable by its owner alone: a reader sees the old users or the new ones."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{user.line()}\n" for user in users.values())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def checked_name(name: str) -> str:
    if ":" in name or name.startswith("#") or name != name.strip():
        raise InvalidInput("a user's name can't have a colon, begin with # or have spaces around it")
    return checked_id(name, "a user's name")


def _user(line: str, number: int) -> User:
    name, _, rest = line.partition(":")
    word, tenant, role = [*rest.split(":"), "", ""][:3]
    try:
        if rest.count(":") > 2 or (role or "user") not in ROLES:
            raise InvalidInput("expected name:hash[:tenant[:user|admin]]")
        if tenant:
            checked_id(tenant, "tenant")
        return User(checked_name(name), passwords.read(word), tenant or None, cast(Role, role or "user"))
    except InvalidInput as problem:
        raise InvalidInput(f"line {number} of the file of users (basic_users): {problem}") from None
