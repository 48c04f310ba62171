"""What a file grants to users and roles. It is read again when it changes: what is taken away is gone with the next question.

    [default]
    tables = []

    [users.ana]
    databases = ["bank"]
    tables = ["bank.sales", "regions"]

    [roles.auditor]
    databases = "*"

    [tenants.acme.users.ana]
    tables = ["orders"]

Who has several roles has what any of them grants. Where a kind is left out of a grant it is not limited by it; who is not in the
file has what `default` says, and without one nothing.

All that stands outside `tenants` is for the server's own tenant: an equal name elsewhere is somebody else. Another tenant has
what its own `users`, `roles` and `default` say, and without these nothing.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput, Unavailable
from recollect.model import DataAccess, Scope

ALL = "*"
GROUPS = ("users", "roles", "default")
KINDS = ("databases", "tables")
NOTHING: Mapping[str, Any] = {"databases": [], "tables": []}


class FilePermissions:
    def __init__(self, path: Path, role_claim: str = "role", tenant: str = "default") -> None:
        self._path, self._role_claim, self._tenant = path, role_claim, tenant
        self._read: tuple[tuple[int, int], Mapping[str, Any]] | None = None
        try:
            self._grants()
        except Unavailable as problem:
            raise InvalidInput(problem.message) from None

    async def of(self, scope: Scope, claims: Mapping[str, Any], authorization: str | None) -> DataAccess:
        grants = self._grants()
        if scope.tenant != self._tenant:
            grants = grants.get("tenants", {}).get(scope.tenant, {})
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
            raise Unavailable(
                f"the permissions file (RECOLLECT_PERMISSIONS_FILE) can't be read as JSON or TOML: {type(problem).__name__}"
            ) from problem
        return self._read[1]


def _parsed(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)


def _checked(grants: Any) -> Mapping[str, Any]:
    """Every grant is an object of lists of names, or the file is none."""
    whole = _object(grants, {*GROUPS, "tenants"})
    tenants = _object(whole.get("tenants", {})).values()
    for each in ({name: whole[name] for name in GROUPS if name in whole}, *tenants):
        told = _object(each, set(GROUPS))
        groups = [_object(told.get("users", {})), _object(told.get("roles", {}))]
        for grant in (told.get("default", NOTHING), *(grant for group in groups for grant in group.values())):
            if not all(_is_names(value) for value in _object(grant, set(KINDS)).values()):
                raise ValueError("expected lists of databases and tables")
    return whole


def _object(value: Any, names: Collection[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not (names is None or set(value) <= set(names)):
        raise ValueError(f"expected an object of {', '.join(sorted(names or ['names']))}")
    return value


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
