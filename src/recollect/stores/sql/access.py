"""Who may come in, and where embeddings come from: the operator's two small tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select, update

from recollect.errors import NotFound
from recollect.model import ApiKey, ProviderConfig
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import api_keys, embedding_provider

_COLUMNS = tuple(c.name for c in api_keys.c)
_NAMES = {"tenant_id": "tenant", "user_id": "user"}
_FIELDS = tuple(_NAMES.get(name, name) for name in _COLUMNS)
_KEYS = select(*api_keys.c).order_by(api_keys.c.created_at, api_keys.c.id)
_ADD = insert(api_keys).values({name: bindparam(name) for name in _COLUMNS})
_FIND = select(*api_keys.c).where(api_keys.c.secret_hash == bindparam("secret_hash"))
_THERE = select(api_keys.c.id).where(api_keys.c.id == bindparam("id"))
_REVOKE = (
    update(api_keys)
    .where(api_keys.c.id == bindparam("id"), api_keys.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("at"))
)
_TOUCH = update(api_keys).where(api_keys.c.id == bindparam("id")).values(last_used_at=bindparam("at"))

_CONFIG = tuple(c.name for c in embedding_provider.c if c.name != "id")
_PROVIDER = select(*(embedding_provider.c[name] for name in _CONFIG))
_NO_PROVIDER = delete(embedding_provider)
_SAVE_PROVIDER = insert(embedding_provider).values({name: bindparam(name) for name in ("id", *_CONFIG)})


class SqlAccess:
    """The part of `ports.System` that the operator writes."""

    _session: Session

    def keys(self) -> Sequence[ApiKey]:
        return [_key(row) for row in self._session.rows(_KEYS, {})]

    def add_key(self, key: ApiKey) -> None:
        values = asdict(key)
        self._session.run(_ADD, {name: values[_NAMES.get(name, name)] for name in _COLUMNS})

    def find_key(self, secret_hash: str) -> ApiKey | None:
        row = self._session.row(_FIND, {"secret_hash": secret_hash})
        return None if row is None else _key(row)

    def revoke_key(self, id: str, at: datetime) -> None:
        if not self._session.run(_REVOKE, {"id": id, "at": at}) and self._session.row(_THERE, {"id": id}) is None:
            raise NotFound("there is no key with this id")

    def touch_key(self, id: str, at: datetime) -> None:
        self._session.run(_TOUCH, {"id": id, "at": at})

    def provider(self) -> ProviderConfig | None:
        row = self._session.row(_PROVIDER, {})
        return None if row is None else ProviderConfig(**dict(zip(_CONFIG, row, strict=True)))

    def save_provider(self, config: ProviderConfig | None) -> None:
        self._session.run(_NO_PROVIDER, {})
        if config is not None:
            self._session.run(_SAVE_PROVIDER, {"id": 1, **asdict(config)})


def _key(row: Row) -> ApiKey:
    return ApiKey(**dict(zip(_FIELDS, row, strict=True)))
