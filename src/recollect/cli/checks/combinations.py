"""Settings that are each fine and don't go together: values nobody reads because of another, and values that defeat each other.

Nothing is opened or asked here. What can't work at all is broken; what merely has no effect is a warning, because somebody who
sets a thing expects it to do something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recollect.bootstrap import sqlite_path
from recollect.cli.checks.checking import Check, broken, warning
from recollect.settings import Settings, names_of

NAME = "combination"
When = Callable[[Settings], bool]


@dataclass(frozen=True, slots=True)
class Idle:
    """Settings that have no effect under a condition."""

    names: tuple[str, ...]
    when: When
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Clash:
    when: When
    wrong: str
    fix: str
    hopeless: bool = False


def _in_sqlite(settings: Settings) -> bool:
    return sqlite_path(settings) is not None


def _names_no(setting: str) -> When:
    return lambda settings: not getattr(settings, setting)


def _other_than(setting: str, *values: str) -> When:
    return lambda settings: getattr(settings, setting) not in values


IDLE = (
    Idle(
        ("read_url", "migrate_url", "pool_size", "max_overflow", "prepare", "statement_timeout_ms"),
        _in_sqlite,
        "memories are in SQLite, and only Postgres has that",
        "RECOLLECT_STORE=postgresql://… names a server",
    ),
    Idle(
        ("sqlite_synchronous",),
        lambda settings: not _in_sqlite(settings),
        "memories are in Postgres",
        "Postgres has a setting of its own for it, synchronous_commit",
    ),
    Idle(
        (
            *("jwt_secret", "jwt_public_key", "jwt_jwks_url", "jwt_audience", "jwt_issuer"),
            *("jwt_user_claim", "jwt_tenant_claim", "jwt_leeway_s"),
        ),
        _other_than("user_id_source", "jwt_claim"),
        "callers are not known by tokens",
        "RECOLLECT_USER_ID_SOURCE=jwt_claim makes tokens the login",
    ),
    Idle(
        ("basic_users",),
        _other_than("user_id_source", "basic_username"),
        "callers are not known by name and password",
        "RECOLLECT_USER_ID_SOURCE=basic_username makes them the login",
    ),
    Idle(
        ("user_header", "tenant_header", "role_header", "trusted_proxies"),
        _other_than("user_id_source", "header"),
        "callers are not known by a proxy's header",
        "RECOLLECT_USER_ID_SOURCE=header makes it the login",
    ),
    Idle(
        ("embedder_url", "embedder_key", "embedder_dimensions"),
        lambda settings: settings.embedder in {"local", "off"},
        "no embedding server is asked",
        "RECOLLECT_EMBEDDER=auto, or a provider's name, asks the one that is named",
    ),
    Idle(
        ("llamacpp_url",),
        _other_than("embedder", "auto", "llamacpp"),
        "another embedder is chosen",
        "RECOLLECT_EMBEDDER=auto prefers that server",
    ),
    Idle(
        ("chat_model", "chat_key", "summarization_model"),
        _names_no("chat_url"),
        "no chat model's server is named",
        "RECOLLECT_CHAT_URL names it",
    ),
    Idle(("data_tables",), _names_no("data_url"), "no database is named to ask", "RECOLLECT_DATA_URL names it"),
    Idle(
        ("langfuse_public_key", "langfuse_secret_key", "trace_content"),
        _names_no("langfuse_host"),
        "nobody is named to send traces to",
        "RECOLLECT_LANGFUSE_HOST names it",
    ),
    Idle(
        ("databases_claim", "tables_claim"),
        _other_than("data_permissions", "claims"),
        "permissions don't come from claims",
        "RECOLLECT_DATA_PERMISSIONS=claims takes them from there",
    ),
    Idle(
        ("permissions_file",),
        _other_than("data_permissions", "file"),
        "permissions don't come from a file",
        "RECOLLECT_DATA_PERMISSIONS=file takes them from there",
    ),
    Idle(
        ("denodo_catalog_url", "denodo_databases", "denodo_server_id"),
        _other_than("data_permissions", "denodo"),
        "permissions don't come from Denodo",
        "RECOLLECT_DATA_PERMISSIONS=denodo takes them from there",
    ),
    Idle(
        ("vector_url",),
        _other_than("vector_store", "chroma", "opensearch"),
        "vectors are searched where everything is stored",
        "RECOLLECT_VECTOR_STORE=chroma or opensearch copies them there",
    ),
    Idle(("worker_processes",), _names_no("broker_url"), "there is no broker", "RECOLLECT_BROKER_URL names one"),
)

CLASHES = (
    Clash(
        lambda settings: settings.workers > 1 and sqlite_path(settings) == ":memory:",
        "RECOLLECT_WORKERS is more than 1, and a database in memory can't be shared by several processes",
        "set RECOLLECT_WORKERS=1, or name a file with RECOLLECT_STORE",
        hopeless=True,
    ),
    Clash(
        lambda settings: settings.data_permissions == "claims" and settings.user_id_source != "jwt_claim",
        "RECOLLECT_DATA_PERMISSIONS=claims, and callers bring no claims: nobody may use anything",
        "set RECOLLECT_USER_ID_SOURCE=jwt_claim, or take permissions from elsewhere",
        hopeless=True,
    ),
    Clash(
        lambda settings: (
            bool(settings.langfuse_host) and not (settings.langfuse_public_key and settings.langfuse_secret_key)
        ),
        "RECOLLECT_LANGFUSE_HOST is named without both of its keys: every trace will be refused",
        "set RECOLLECT_LANGFUSE_PUBLIC_KEY and RECOLLECT_LANGFUSE_SECRET_KEY",
        hopeless=True,
    ),
    Clash(
        lambda settings: bool(settings.jwt_jwks_url) and not settings.jwt_audience,
        "tokens that were made for others are accepted, too",
        "RECOLLECT_JWT_AUDIENCE says which are meant for this server",
    ),
    Clash(
        lambda settings: settings.max_content_bytes > settings.max_body_bytes,
        "RECOLLECT_MAX_CONTENT_BYTES is more than RECOLLECT_MAX_BODY_BYTES: a text that large never arrives at the server",
        "make the body's limit the larger one",
    ),
    Clash(
        lambda settings: settings.embed_lease_s < settings.embedder_timeout_s,
        "RECOLLECT_EMBED_LEASE_S is less than RECOLLECT_EMBEDDER_TIMEOUT_S: work is given to a second worker while the first "
        "still waits for an answer",
        "make the lease the longer one",
    ),
    Clash(
        lambda settings: (settings.token_budget or 0) > settings.chat_context_tokens,
        "RECOLLECT_TOKEN_BUDGET is more than RECOLLECT_CHAT_CONTEXT_TOKENS: the chat never has room for it",
        "raise RECOLLECT_CHAT_CONTEXT_TOKENS, or lower the budget",
    ),
)


def combinations(settings: Settings) -> Iterator[Check]:
    for clash in CLASHES:
        if clash.when(settings):
            yield (broken if clash.hopeless else warning)(NAME, clash.wrong, clash.fix)
    for idle in IDLE:
        changed = [each for each in idle.names if getattr(settings, each) != getattr(Settings, each)]
        if changed and idle.when(settings):
            named = ", ".join(names_of(each)[0] for each in changed)
            yield warning(NAME, f"{named}: no effect, because {idle.why}", f"unset it; or {idle.fix}")
