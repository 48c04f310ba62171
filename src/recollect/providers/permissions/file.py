"""What a file grants to users and roles. It is read again when it changes: what is taken away is gone with the next question.

    [default]
    tables = []

    [users.ana]
    databases = ["bank"]
    tables = ["bank.sales", "regions"]

    [roles.auditor]
    databases = "*"

Who has several roles has what any of them grants. Where a kind is left out of a grant it is not limited by it; who is not in the
file has what `default` says, and without one nothing.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput, Unavailable
from recollect.model import DataAccess, Scope

ALL = "*"
KINDS = ("databases", "tables")
NOTHING: Mapping[str, Any] = {"databases": [], "tables": []}


class FilePermissions:
    def __init__(self, path: Path, role_claim: str = "role") -> None:
        self._path, self._role_claim = path, role_claim
        self._read: tuple[tuple[int, int], Mapping[str, Any]] | None = None
        try:
            self._grants()
        except Unavailable as problem:
            raise InvalidInput(problem.message) from None

    async def of(self, scope: Scope, claims: Mapping[str, Any], authorization: str | None) -> DataAccess:
        grants = self._grants()
        mine = [grants.get("users", {}).get(scope.user)]
        mine += [grants.get("roles", {}).get(role) for role in _roles(claims.get(self._role_claim))]
        found = [each for each in mine if each is not None] or [grants.get("default", NOTHING)]
        return DataAccess(**{kind: _joined(each.get(kind, ALL) for each in found) for kind in KINDS})

    async def close(self) -> None:
        pass

    def _grants(self) -> Mapping[str, Any]:
        """The file as it is now. One that can't be read grants nothing, and says so."""
        try:
            about = self._path.stat()
            version = (about.st_mtime_ns, about.st_size)
            if self._read is None or self._read[0] != version:
                self._read = version, _checked(_parsed(self._path))
        except (OSError, ValueError) as problem:
            self._read = None
            raise Unavailable(f"the permissions file can't be read: {type(problem).__name__}") from problem
        return self._read[1]


def _parsed(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)


def _checked(grants: Any) -> Mapping[str, Any]:
    """Every grant is an object of lists of names, or the file is none."""
    if not isinstance(grants, dict) or not set(grants) <= {"users", "roles", "default"}:
        raise ValueError("expected users, roles and default")
    groups = [grants.get("users", {}), grants.get("roles", {}), {"default": grants.get("default", NOTHING)}]
    for grant in (each for group in groups for each in group.values()):
        if not set(grant) <= set(KINDS) or not all(_is_names(value) for value in grant.values()):
            raise ValueError("expected lists of databases and tables")
    return grants


def _is_names(value: Any) -> bool:
    return value == ALL or (isinstance(value, list) and all(isinstance(each, str) for each in value))


def _joined(granted: Iterable[Any]) -> frozenset[str] | None:
    names: set[str] = set()
    for each in granted:
        if each == ALL or ALL in each:
            return None
        names |= set(each)
    return frozenset(names)


def _roles(claimed: Any) -> list[str]:
    roles = claimed if isinstance(claimed, list) else [claimed]
    return [role for role in roles if isinstance(role, str)]
