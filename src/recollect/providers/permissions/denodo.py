"""What Denodo's data catalog lets somebody see, asked in their own name.

Two calls a database: which views the caller may use, by number, and what these are called. The answer is kept for a minute at
most; what is taken away is noticed by then. Whoever the catalog turns away may use nothing, and while it can't be asked nobody
may: `Unavailable`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import httpx

from recollect.errors import InvalidInput, Unavailable
from recollect.model import DataAccess, Scope

KEPT_SECONDS = 60.0
MOST_KEPT = 1000
NOTHING = DataAccess(databases=frozenset(), tables=frozenset())
ALLOWED = "public/api/views/allowed-identifiers"
VIEWS = "public/api/askaquestion/data"
PAGE = 1000


class DenodoPermissions:
    """`databases` are those of the virtual data port that are asked about; there is no way to ask for all."""

    def __init__(
        self,
        catalog_url: str,
        databases: Sequence[str],
        *,
        server_id: int = 1,
        verify: bool = True,
        timeout_s: float = 10.0,
        kept_s: float = KEPT_SECONDS,
    ) -> None:
        if not catalog_url.startswith(("http://", "https://")) or not databases:
            raise InvalidInput(
                "permissions from Denodo need RECOLLECT_DENODO_CATALOG_URL, the data catalog's address, and "
                "RECOLLECT_DENODO_DATABASES, the databases to ask about"
            )
        self._url, self._databases = catalog_url.rstrip("/"), tuple(databases)
        self._server, self._verify, self._timeout = server_id, verify, timeout_s
        self._kept_s = min(kept_s, KEPT_SECONDS)
        self._kept: OrderedDict[str, tuple[float, DataAccess]] = OrderedDict()

    async def of(self, scope: Scope, claims: Mapping[str, Any], authorization: str | None) -> DataAccess:
        if not authorization:
            return NOTHING
        name = sha256("\0".join((scope.tenant, scope.user, authorization)).encode()).hexdigest()
        known = self._kept.get(name)
        if known is not None and time.monotonic() < known[0]:
            return known[1]
        access = await self._asked(authorization)
        self._kept[name] = time.monotonic() + self._kept_s, access
        self._kept.move_to_end(name)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return access

    async def close(self) -> None:
        self._kept.clear()

    async def _asked(self, authorization: str) -> DataAccess:
        headers = {"Authorization": authorization, "Accept": "application/json"}
        tables: set[str] = set()
        try:
            async with httpx.AsyncClient(headers=headers, timeout=self._timeout, verify=self._verify) as client:
                for database in self._databases:
                    tables |= await self._views(client, database)
        except _Refused:
            return NOTHING
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as problem:
            raise Unavailable(
                f"the data catalog could not be asked for permissions: {type(problem).__name__}"
            ) from None
        return DataAccess(databases=frozenset(name.partition(".")[0] for name in tables), tables=frozenset(tables))

    async def _views(self, client: httpx.AsyncClient, database: str) -> set[str]:
        wanted = {"dataMode": "DATABASE", "databaseNames": [database]}
        allowed = set(_whole_numbers(await self._post(client, ALLOWED, wanted)))
        found: set[str] = set()
        offset = 0
        while allowed:
            page = {"dataMode": "DATABASE", "databaseName": database, "dataUsage": False}
            answer = await self._post(client, VIEWS, page | ({"offset": offset, "limit": PAGE} if offset else {}))
            views = answer["viewsDetails"] if isinstance(answer, dict) else answer
            found |= {f"{database}.{view['name']!s}".replace('"', "") for view in views if view.get("id") in allowed}
            if len(views) < PAGE or isinstance(answer, list):
                break
            offset += PAGE
        return found

    async def _post(self, client: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> Any:
        answer = await client.post(f"{self._url}/{path}", params={"serverId": self._server}, json=body)
        if answer.status_code in (401, 403):
            raise _Refused
        answer.raise_for_status()
        return answer.json()


class _Refused(Exception):
    """The catalog doesn't let this caller in."""


def _whole_numbers(answer: Any) -> list[int]:
    if not isinstance(answer, list) or not all(isinstance(each, int) for each in answer):
        raise ValueError("expected the numbers of views")
    return answer
