"""Every setting, read from the environment in this one place.

`RECOLLECT_<NAME>` is the name of record; the names the five contracts gave their settings are accepted as aliases. A value that
doesn't parse is refused with the variable's name, what was given and what was expected: nothing is quietly defaulted. What a
program gives by name goes through the same checks; there, a number may also be a number and a path a path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from recollect.errors import InvalidInput

PREFIX = "RECOLLECT_"
OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_HOST = "api.openai.com"

WriteMode = Literal["read_only", "explicit", "automatic"]
EmbedderName = Literal["auto", "local", "openai", "ollama", "llamacpp", "custom_http", "off"]
Synchronous = Literal["full", "normal"]
IdentitySource = Literal["local", "jwt_claim", "basic_username", "bearer_token", "header"]
Secrets = Literal["mask", "refuse", "keep"]
PersonalData = Literal["keep", "mask"]
LogFormat = Literal["text", "json"]


class SettingsError(InvalidInput, ValueError):
    """A setting has a value that can't be used; the message names it and says what would do."""


def _text(value: object) -> str:
    if not isinstance(value, str) or any(c == "\x00" or 0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise SettingsError("expected text, without NUL characters or broken Unicode")
    return value


def _whole(least: int, most: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        try:
            number = int(value) if isinstance(value, str) else value
        except ValueError:
            number = None
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise SettingsError(f"expected a whole number from {least:,} to {most:,}")
        return number

    return parse


def _fraction(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= 1.0:
        raise SettingsError("expected a number from 0 to 1")
    return float(number)


def _switch(value: object) -> bool:
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise SettingsError("expected 1 or 0")


def _one_of(choices: Any) -> Callable[[object], str]:
    def parse(value: object) -> str:
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in get_args(choices):
            raise SettingsError("expected one of " + ", ".join(get_args(choices)))
        return word

    return parse


def _folder(value: object) -> Path:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    try:
        if isinstance(path, str) and "\x00" not in path:
            return Path(path).expanduser()
    except RuntimeError:
        raise SettingsError("expected the path of a folder; there is no such user") from None
    raise SettingsError("expected the path of a folder")


def _store(value: object) -> str:
    """A path object is always a file, even one that is called `postgres`; text may be an address."""
    if isinstance(value, os.PathLike):
        return str(_folder(value).absolute())
    if isinstance(value, str) and "\x00" not in value:
        return value
    raise SettingsError("expected a path or an address such as sqlite:///… or postgresql://…")


def _setting(default: Any, parse: Callable[[object], Any], help: str, *aliases: str, secret: bool = False) -> Any:
    return field(default=default, metadata={"parse": parse, "help": help, "aliases": aliases, "secret": secret})


@dataclass(frozen=True, kw_only=True)
class Settings:
    store: str = _setting(
        "",
        _store,
        "Where memories live: a SQLite path or sqlite:// URL, a postgresql:// URL, or `postgres` for a local server "
        "of our own. Empty: `recollect.db` in the data folder.",
        "MEMORY_DB_CONNECTION_STRING",
    )
    data_dir: Path = _setting(Path("~/.recollect").expanduser(), _folder, "The folder for databases and models.")
    migrate_url: str = _setting(
        "", _text, "Postgres only: the owner's URL, used for migrations and nothing else.", secret=True
    )
    tenant: str = _setting("default", _text, "The tenant of the library and the command line.")
    user: str = _setting("local", _text, "The user of the library and the command line.")
    space: str = _setting("default", _text, "The space of the library and the command line.")
    write_mode: WriteMode = _setting(
        "automatic",
        _one_of(WriteMode),
        "`read_only` refuses every memory write, `explicit` takes only what is asked to be saved, `automatic` all.",
    )
    token_budget: int | None = _setting(
        None,
        _whole(1, 1_000_000),
        "The most tokens of memory put into a prompt. Unset: as the recipe says (1000; datachat 4000).",
        "TOKEN_BUDGET",
    )
    min_relevance: float | None = _setting(
        None, _fraction, "Below this relevance nothing matches. Unset: as the recipe says (0.3).", "MIN_RELEVANCE"
    )
    max_results: int | None = _setting(
        None,
        _whole(1, 1000),
        "How many hits a search gives. Unset: as the recipe says (10; longterm 5, companion 12).",
        "MAX_RESULTS",
        "MEMORY_RETRIEVAL_LIMIT",
    )
    max_content_bytes: int = _setting(
        1024 * 1024, _whole(1024, 16 * 1024 * 1024), "The largest text of one memory or message."
    )
    tombstone_hours: int = _setting(
        24, _whole(0, 24 * 365), "How long something forgotten is refused when it tries to come back."
    )
    embedder: EmbedderName = _setting(
        "auto",
        _one_of(EmbedderName),
        "Who makes embeddings. `auto`: a configured llama.cpp server, else a configured endpoint, else the local "
        "model. `off`: words only.",
    )
    embedder_url: str = _setting("", _text, "The embedding endpoint.")
    embedder_model: str = _setting("", _text, "The embedding model's name at that endpoint.")
    embedder_key: str = _setting(
        "",
        _text,
        "The embedding endpoint's API key. Unset: `OPENAI_API_KEY`, if OpenAI itself is the one server that is configured.",
        secret=True,
    )
    embedder_dimensions: int = _setting(0, _whole(0, 16_000), "The vector size to ask for; 0 lets the model decide.")
    embedder_timeout_s: int = _setting(30, _whole(1, 600), "How long one call for embeddings may take.")
    llamacpp_url: str = _setting("", _text, "A llama.cpp server; used first when it answers.")
    embed_batch: int = _setting(64, _whole(1, 2048), "How many texts are embedded at once in the background.")
    embed_lease_s: int = _setting(
        120, _whole(5, 3600), "How long claimed embedding work stays claimed when its worker dies."
    )
    worker: bool = _setting(
        True, _switch, "Embed in the background inside this process; 0 leaves it to another process or to `flush`."
    )
    exact_below: int = _setting(
        200_000,
        _whole(0, 5_000_000),
        "Scopes with at most this many entries are searched exactly, in memory; larger ones through the "
        "database's own indexes.",
    )
    index_memory_mb: int = _setting(
        1024, _whole(1, 1_000_000), "How much memory the in-memory indexes of all scopes may take together."
    )
    pool_size: int = _setting(10, _whole(1, 500), "Postgres connections.", "MEMORY_DB_POOL_SIZE")
    statement_timeout_ms: int = _setting(10_000, _whole(10, 3_600_000), "The longest a Postgres statement may run.")
    sqlite_synchronous: Synchronous = _setting(
        "full",
        _one_of(Synchronous),
        "`full`: an acknowledged write survives a power cut. `normal`: it survives a crash of the process.",
    )
    pepper: str = _setting("", _text, "A secret mixed into digests of forgotten text.", secret=True)
    chat_url: str = _setting(
        "", _text, "A chat model's OpenAI-compatible endpoint. Empty: everything works without a model."
    )
    chat_model: str = _setting("", _text, "The chat model's name at that endpoint.")
    chat_key: str = _setting("", _text, "The chat endpoint's API key.", secret=True)
    chat_timeout_s: int = _setting(60, _whole(1, 3600), "How long one answer of the chat model may take.")
    redis_url: str = _setting(
        "", _text, "A Redis server for counters and caches that several processes share.", "REDIS_URL", secret=True
    )
    rate_limit: int = _setting(
        10,
        _whole(0, 1_000_000),
        "Memory queries a minute and user; beyond it an earlier answer or none is given. 0: no limit.",
    )
    request_limit: int = _setting(
        0, _whole(0, 1_000_000), "Requests a minute and user, answered with 429 beyond it. 0: no limit."
    )
    eviction_threshold: int = _setting(
        0,
        _whole(0, 1_000_000_000),
        "Beyond this many memories in a space the least sure are archived. 0: never.",
        "MEMORY_EVICTION_THRESHOLD",
    )
    archive_days: int = _setting(
        180, _whole(0, 36_500), "How long archived memories are kept before they are removed for good. 0: for ever."
    )
    retention_days: int = _setting(
        7, _whole(0, 36_500), "How long conversations of the data chat are kept. 0: for ever.", "MEMORY_RETENTION_DAYS"
    )
    cleanup_hours: int = _setting(
        24, _whole(0, 8760), "How often everybody's memory is tidied up. 0: never.", "MEMORY_CLEANUP_INTERVAL_HOURS"
    )
    secrets: Secrets = _setting(
        "mask",
        _one_of(Secrets),
        "What becomes of passwords, keys and card numbers in a text: `mask`, `refuse`, `keep`.",
    )
    pii: PersonalData = _setting(
        "keep", _one_of(PersonalData), "What becomes of addresses, phone numbers and the like: `keep` or `mask`."
    )
    audit_reads: bool = _setting(
        True,
        _switch,
        "Whether looking and searching are written to the audit trail, too.",
        "MEMORY_LOG_MEMORY_OPERATIONS",
    )
    user_id_source: IdentitySource = _setting(
        "local",
        _one_of(IdentitySource),
        "How the server knows who asks. `local`: one user, nobody is asked, loopback only.",
        "MEMORY_USER_ID_SOURCE",
    )
    jwt_secret: str = _setting("", _text, "jwt_claim: the shared secret of HS256 tokens.", secret=True)
    jwt_public_key: str = _setting("", _text, "jwt_claim: the public key of RS256 or ES256 tokens, PEM or its path.")
    jwt_jwks_url: str = _setting("", _text, "jwt_claim: where the issuer publishes its keys.")
    jwt_audience: str = _setting("", _text, "jwt_claim: the audience a token must be meant for.")
    jwt_issuer: str = _setting("", _text, "jwt_claim: the issuer a token must come from.")
    jwt_user_claim: str = _setting(
        "sub", _text, "jwt_claim: the claim that names the user.", "MEMORY_USER_ID_JWT_CLAIM"
    )
    jwt_tenant_claim: str = _setting("", _text, "jwt_claim: the claim that names the tenant; empty: one tenant.")
    jwt_role_claim: str = _setting("role", _text, "jwt_claim: the claim that says `admin`.")
    jwt_leeway_s: int = _setting(30, _whole(0, 600), "jwt_claim: how far clocks may be apart.")
    basic_users: str = _setting("", _text, "basic_username: the file of names and password hashes.")
    user_header: str = _setting("X-User-ID", _text, "header: the header that names the user.")
    tenant_header: str = _setting("", _text, "header: the header that names the tenant; empty: one tenant.")
    trusted_proxies: str = _setting(
        "127.0.0.1,::1", _text, "header: addresses or networks whose headers are believed, with commas between."
    )
    hosts: str = _setting(
        "", _text, "Names the server answers to, with commas between. Empty: any, once there is a login."
    )
    secret_key: str = _setting(
        "", _text, "Encrypts stored provider keys. Empty: `secret.key` in the data folder.", secret=True
    )
    max_body_bytes: int = _setting(4 * 1024 * 1024, _whole(1024, 1024**3), "The largest request the server takes.")
    body_timeout_s: int = _setting(30, _whole(1, 3600), "How long a request may take to arrive.")
    workers: int = _setting(1, _whole(1, 128), "Server processes.")
    shutdown_s: int = _setting(20, _whole(1, 600), "How long running requests get to finish when the server ends.")
    log_format: LogFormat = _setting("text", _one_of(LogFormat), "Log lines as `text` or `json`.")

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """From the environment, then `overrides` (by the names of the fields; None means not given)."""
        env = os.environ if environment is None else environment
        known = {each.name: each.metadata for each in fields(cls)}
        values: dict[str, Any] = {}
        for setting, about in known.items():
            for name in names_of(setting):
                if env.get(name, "").strip():
                    values[setting] = _parsed(name, env[name].strip(), about)
                    break
        for setting, value in overrides.items():
            if setting not in known:
                raise SettingsError(f"there is no setting {setting!r}; {_nearest(setting, known)}")
            if value is not None:
                values[setting] = _parsed(setting, value, known[setting])
        settings = cls(**values)
        if not settings.embedder_key and settings.asks_openai_alone and env.get(OPENAI_KEY, "").strip():
            return replace(settings, embedder_key=env[OPENAI_KEY].strip())
        return settings

    @property
    def asks_openai_alone(self) -> bool:
        """Whether OpenAI's own service is the only embedding server these settings lead to.

        The key that most developers have in their environment is for that service. It is shown to no other, and so it isn't
        taken up at all where a second server could be asked with the same settings.
        """
        if self.llamacpp_url:
            return False
        if not self.embedder_url:
            return self.embedder == "openai"
        return self.embedder in {"openai", "auto"} and _is_openais(self.embedder_url)


def announce(name: str, value: str) -> None:
    """Tell a library that only listens to the environment, and the processes started from here."""
    os.environ[name] = value


def _is_openais(url: str) -> bool:
    try:
        address = urlsplit(url)
        return (address.scheme, address.hostname, address.port or 443) == ("https", OPENAI_HOST, 443)
    except ValueError:
        return False


def names_of(setting: str) -> tuple[str, ...]:
    """The environment variables that set it, the name of record first."""
    (found,) = (each for each in fields(Settings) if each.name == setting)
    return (PREFIX + setting.upper(), *found.metadata["aliases"])


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"


def _parsed(name: str, value: object, about: Mapping[Any, Any]) -> Any:
    try:
        return about["parse"](value)
    except SettingsError as problem:
        given = "unusable" if about["secret"] else f"{value!r:.80}"
        raise SettingsError(f"{name} is {given}: {problem}") from None
