"""The server: who asks, what is let in, what is shared between processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.settings.addresses import header, hosts, networks, redis, web
from recollect.settings.parsing import one_of, setting, text, whole

IdentitySource = Literal["local", "jwt_claim", "basic_username", "bearer_token", "header"]
LogFormat = Literal["text", "json"]


@dataclass(frozen=True, kw_only=True)
class Serving:
    redis_url: str = setting(
        "",
        redis,
        "A Redis server for counters, caches and copies of sessions under way that several processes share.",
        "REDIS_URL",
        secret=True,
    )
    rate_limit: int = setting(
        10,
        whole(0, 1_000_000),
        "Memory queries a minute and user; beyond it an earlier answer or none is given. 0: no limit.",
    )
    request_limit: int = setting(
        0, whole(0, 1_000_000), "Requests a minute and user, answered with 429 beyond it. 0: no limit."
    )
    user_id_source: IdentitySource = setting(
        "local",
        one_of(IdentitySource),
        "How the server knows who asks. `local`: one user, nobody is asked, loopback only.",
        "MEMORY_USER_ID_SOURCE",
    )
    jwt_secret: str = setting("", text, "jwt_claim: the shared secret of HS256 tokens.", secret=True)
    jwt_public_key: str = setting("", text, "jwt_claim: the public key of RS256 or ES256 tokens, PEM or its path.")
    jwt_jwks_url: str = setting("", web, "jwt_claim: where the issuer publishes its keys.")
    jwt_audience: str = setting("", text, "jwt_claim: the audience a token must be meant for.")
    jwt_issuer: str = setting("", text, "jwt_claim: the issuer a token must come from.")
    jwt_user_claim: str = setting("sub", text, "jwt_claim: the claim that names the user.", "MEMORY_USER_ID_JWT_CLAIM")
    jwt_tenant_claim: str = setting("", text, "jwt_claim: the claim that names the tenant; empty: one tenant.")
    jwt_role_claim: str = setting("role", text, "jwt_claim: the claim that says `admin`.")
    jwt_leeway_s: int = setting(30, whole(0, 600), "jwt_claim: how far clocks may be apart.")
    basic_users: str = setting("", text, "basic_username: the file of names and password hashes.")
    user_header: str = setting("X-User-ID", header, "header: the header that names the user.")
    tenant_header: str = setting("", header, "header: the header that names the tenant; empty: one tenant.")
    role_header: str = setting("", header, "header: the header that says `admin`; empty: nobody is.")
    trusted_proxies: str = setting(
        "127.0.0.1,::1", networks, "header: addresses or networks whose headers are believed, with commas between."
    )
    hosts: str = setting(
        "", hosts, "Names the server answers to, with commas between. Empty: any, once there is a login."
    )
    secret_key: str = setting(
        "", text, "Encrypts stored provider keys. Empty: `secret.key` in the data folder.", secret=True
    )
    max_body_bytes: int = setting(4 * 1024 * 1024, whole(1024, 1024**3), "The largest request the server takes.")
    body_timeout_s: int = setting(30, whole(1, 3600), "How long a request may take to arrive.")
    workers: int = setting(1, whole(1, 128), "Server processes.")
    shutdown_s: int = setting(20, whole(1, 600), "How long running requests get to finish when the server ends.")
    traces_url: str = setting(
        "", web, "Where traces of requests are sent, by OTLP over HTTP (…/v1/traces). Empty: nowhere.", secret=True
    )
    log_format: LogFormat = setting("text", one_of(LogFormat), "Log lines as `text` or `json`.")
