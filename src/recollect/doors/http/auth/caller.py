"""The caller: whose memory a request is about, and what else they may do. And what a source of identity looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fastapi import Request

from recollect.errors import InvalidInput, Unauthenticated
from recollect.model import Scope
from recollect.model.access import Role


@dataclass(frozen=True, slots=True)
class Caller:
    scope: Scope
    role: Role = "user"
    actor: str = "local"
    """How they were known, for the audit trail: `local`, `jwt`, `basic`, `header`, `key:<id>`."""
    claims: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    """What their token says of them, once it has been checked; nothing where they came without one."""


class Identity(Protocol):
    """A source of identity. It sees the head of a request only: nobody's body is read before it is known whose it is."""

    @property
    def challenge(self) -> str:
        """What WWW-Authenticate says to those it turns away."""

    @property
    def scheme(self) -> dict[str, Any] | None:
        """How the description of the API names this login; None where there is none."""

    async def __call__(self, request: Request) -> Caller: ...


def known_as(actor: str, tenant: object, user: object, space: str, role: Role = "user") -> Caller:
    """A caller under names that come from outside: each must be an id that stores can hold."""
    try:
        scope = Scope(tenant, user, space)  # type: ignore[arg-type]  # checked there
    except InvalidInput as problem:
        raise Unauthenticated(f"the names given can't be used: {problem}") from None
    return Caller(scope, role, actor)
