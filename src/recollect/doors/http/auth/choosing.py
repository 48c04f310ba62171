"""From settings to the one source of identity, refusing what would let strangers in.

Everything that can be known to be wrong is said before the server listens: a source without its key, a file of users that can't
be read, an address beyond this machine where nobody is asked who they are.
"""

from __future__ import annotations

from pathlib import Path

from recollect.doors.http.auth.basic_username import BasicUsername
from recollect.doors.http.auth.bearer_token import BearerToken
from recollect.doors.http.auth.caller import Identity
from recollect.doors.http.auth.header import HeaderNames, TrustedHeader, networks
from recollect.doors.http.auth.jwks import PublishedKeys
from recollect.doors.http.auth.jwt_claim import Claims, JwtClaim
from recollect.doors.http.auth.jwt_keys import Keys, OneKey, public_key, secret_key
from recollect.doors.http.auth.local import Local, is_loopback
from recollect.errors import NotAllowed
from recollect.model import Scope
from recollect.settings import PREFIX, Settings, SettingsError


def identity_of(settings: Settings) -> Identity:
    tenant, space = settings.tenant, settings.space
    match settings.user_id_source:
        case "local":
            return Local(Scope(tenant, settings.user, space))
        case "jwt_claim":
            return JwtClaim(_keys(settings), _claims(settings), tenant, space)
        case "basic_username":
            return BasicUsername(_users_path(settings), tenant, space)
        case "bearer_token":
            return BearerToken(space)
        case "header":
            proxies = networks(settings.trusted_proxies)
            names = HeaderNames(settings.user_header, settings.tenant_header, settings.role_header)
            return TrustedHeader(names, proxies, tenant, space)


def check_reach(settings: Settings, host: str) -> None:
    """Whether a server with this source of identity may listen on `host`."""
    if is_loopback(host):
        return
    if settings.user_id_source == "local":
        raise NotAllowed(
            f"{host} can be reached from other machines, and this server asks nobody who they are: "
            f"use --host 127.0.0.1, or choose a login with {PREFIX}USER_ID_SOURCE"
        )
    if settings.user_id_source == "header" and settings.trusted_proxies == Settings.trusted_proxies:
        raise NotAllowed(
            f"{host} can be reached from other machines, and {PREFIX}TRUSTED_PROXIES does not say whose header is "
            "believed: name the proxies, or use --host 127.0.0.1"
        )


def _keys(settings: Settings) -> Keys:
    given = {
        "JWT_SECRET": settings.jwt_secret,
        "JWT_PUBLIC_KEY": settings.jwt_public_key,
        "JWT_JWKS_URL": settings.jwt_jwks_url,
    }
    named = [name for name, value in given.items() if value]
    if len(named) != 1:
        choice = ", ".join(PREFIX + name for name in given)
        raise SettingsError(f"jwt_claim needs exactly one of {choice}; there are {len(named)}")
    if settings.jwt_secret:
        return OneKey(secret_key(settings.jwt_secret))
    if settings.jwt_public_key:
        return OneKey(public_key(settings.jwt_public_key))
    return PublishedKeys(settings.jwt_jwks_url)


def _claims(settings: Settings) -> Claims:
    if not settings.jwt_user_claim:
        raise SettingsError(f"{PREFIX}JWT_USER_CLAIM must name a claim")
    return Claims(
        user=settings.jwt_user_claim,
        tenant=settings.jwt_tenant_claim,
        role=settings.jwt_role_claim,
        audience=tuple(filter(None, (each.strip() for each in settings.jwt_audience.split(",")))),
        issuer=settings.jwt_issuer,
        leeway_s=settings.jwt_leeway_s,
    )


def _users_path(settings: Settings) -> Path:
    if not settings.basic_users:
        raise SettingsError(
            f"basic_username needs {PREFIX}BASIC_USERS, a file of users: `recollect db users add NAME` makes one"
        )
    return Path(settings.basic_users).expanduser()
