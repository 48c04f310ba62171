"""Keys that let programs in. Of the secret itself only a hash is kept: whoever reads the database can't use what they find."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Role = Literal["user", "admin"]
ROLES: tuple[Role, ...] = ("user", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An `admin` key may configure embedding providers and read metrics; it sees no other person's memory either."""

    id: str
    name: str
    tenant: str
    user: str
    role: Role = "user"
    secret_hash: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
