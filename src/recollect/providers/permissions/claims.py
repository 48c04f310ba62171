"""What a token says its bearer may use. The token was checked before anybody looks here, and ends when it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recollect.errors import InvalidInput
from recollect.model import DataAccess, Scope

ALL = "*"
_BETWEEN = re.compile(r"[\s,]+")


class ClaimPermissions:
    """Each claim is a list of names, or a text with blanks or commas between them; `*` means all. A claim that isn't there, or
    isn't made of names, grants nothing; a kind that no claim is named for is not limited."""

    def __init__(self, databases_claim: str, tables_claim: str) -> None:
        if not databases_claim and not tables_claim:
            raise InvalidInput(
                "permissions from claims need a claim: RECOLLECT_DATABASES_CLAIM or RECOLLECT_TABLES_CLAIM"
            )
        self._databases, self._tables = databases_claim, tables_claim

    async def of(self, scope: Scope, claims: Mapping[str, Any], authorization: str | None) -> DataAccess:
        return DataAccess(databases=_granted(claims, self._databases), tables=_granted(claims, self._tables))

    async def close(self) -> None:
        pass


def _granted(claims: Mapping[str, Any], name: str) -> frozenset[str] | None:
    if not name:
        return None
    said = claims.get(name)
    names = _BETWEEN.split(said) if isinstance(said, str) else said
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        return frozenset()
    return None if ALL in names else frozenset(filter(None, (each.strip() for each in names)))
