"""`jwt_claim`: a signed token says who it is. Signature, time, audience and issuer are checked before a claim is believed.

Which algorithm may be used is settled by the configured key, never by the token. A token without an end is refused: it
could not be taken back. Claims that name a user or a tenant must be ids; a role is `admin` only where it says exactly so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jwt
from fastapi import Request

from recollect.doors.http.auth.caller import Caller, known_as
from recollect.doors.http.auth.credentials import authorization
from recollect.doors.http.auth.jwt_keys import Keys
from recollect.errors import Unauthenticated
from recollect.model.access import Role

LONGEST_TOKEN = 8 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a token must say, and under which names."""

    user: str = "sub"
    tenant: str = ""
    role: str = "role"
    audience: tuple[str, ...] = ()
    issuer: str = ""
    leeway_s: int = 30


class JwtClaim:
    challenge = 'Bearer realm="recollect"'
    scheme: ClassVar[dict[str, Any] | None] = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}

    def __init__(self, keys: Keys, claims: Claims, tenant: str, space: str) -> None:
        self._keys, self._claims = keys, claims
        self._tenant, self._space = tenant, space

    async def __call__(self, request: Request) -> Caller:
        return self._caller(await self.verified(authorization(request, "Bearer")))

    async def verified(self, token: str) -> Mapping[str, Any]:
        """What the token claims, once everything about it has been checked."""
        if len(token) > LONGEST_TOKEN:
            raise Unauthenticated("the token is too long")
        try:
            key = await self._keys.key_for(jwt.get_unverified_header(token))
            if key is None:
                raise Unauthenticated("no key of ours could have signed the token")
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key.material,
                algorithms=key.algorithms,
                audience=self._claims.audience or None,
                issuer=self._claims.issuer or None,
                leeway=self._claims.leeway_s,
                options={"require": self._required(), "verify_aud": bool(self._claims.audience)},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as problem:
            raise Unauthenticated(f"the token does not hold: {type(problem).__name__}") from None
        return claims

    def _required(self) -> list[str]:
        named = {"aud": self._claims.audience, "iss": self._claims.issuer}
        return ["exp", *(claim for claim, wanted in named.items() if wanted)]

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        tenant = claims.get(self._claims.tenant) if self._claims.tenant else self._tenant
        role = _role(claims.get(self._claims.role))
        return replace(known_as("jwt", tenant, claims.get(self._claims.user), self._space, role), claims=claims)


def _role(claimed: object) -> Role:
    """One role or a list of them; anything that isn't made of words is not a role at all."""
    roles: Sequence[object] = claimed if isinstance(claimed, list) else [] if claimed is None else [claimed]
    if not all(isinstance(role, str) for role in roles):
        raise Unauthenticated("the role claim is not made of words")
    return "admin" if "admin" in roles else "user"
