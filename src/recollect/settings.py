"""Every setting, read from the environment in this one place.

`RECOLLECT_<NAME>` is the name of record; the names the five contracts gave their settings are accepted as aliases. A value that
doesn't parse is refused with the variable's name, what was given and what was expected: nothing is quietly defaulted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

PREFIX = "RECOLLECT_"

WriteMode = Literal["read_only", "explicit", "automatic"]
EmbedderName = Literal["auto", "local", "openai", "ollama", "llamacpp", "custom_http", "off"]
Synchronous = Literal["full", "normal"]


class SettingsError(ValueError):
    """A setting has a value that can't be used; the message names it and says what would do."""


def _whole(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise SettingsError(f"expected a whole number from {least:,} to {most:,}") from None
        if not least <= number <= most:
            raise SettingsError(f"expected a whole number from {least:,} to {most:,}")
        return number

    return parse


def _fraction(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise SettingsError("expected a number from 0 to 1")
    return number


def _switch(text: str) -> bool:
    word = text.strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise SettingsError("expected 1 or 0")


def _one_of(choices: Any) -> Callable[[str], str]:
    def parse(text: str) -> str:
        word = text.strip().lower()
        if word not in get_args(choices):
            raise SettingsError("expected one of " + ", ".join(get_args(choices)))
        return word

    return parse


def _folder(text: str) -> Path:
    return Path(text).expanduser()


def _setting(default: Any, parse: Callable[[str], Any], help: str, *aliases: str, secret: bool = False) -> Any:
    return field(default=default, metadata={"parse": parse, "help": help, "aliases": aliases, "secret": secret})


@dataclass(frozen=True, kw_only=True)
class Settings:
    store: str = _setting(
        "",
        str,
        "Where memories live: a SQLite path or sqlite:// URL, a postgresql:// URL, or `postgres` for a local server "
        "of our own. Empty: `recollect.db` in the data folder.",
        "MEMORY_DB_CONNECTION_STRING",
    )
    data_dir: Path = _setting(Path("~/.recollect").expanduser(), _folder, "The folder for databases and models.")
    migrate_url: str = _setting(
        "", str, "Postgres only: the owner's URL, used for migrations and nothing else.", secret=True
    )
    tenant: str = _setting("default", str, "The tenant of the library and the command line.")
    user: str = _setting("local", str, "The user of the library and the command line.")
    space: str = _setting("default", str, "The space of the library and the command line.")
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
        256 * 1024, _whole(1024, 16 * 1024 * 1024), "The largest text of one memory or message."
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
    embedder_url: str = _setting("", str, "The embedding endpoint.")
    embedder_model: str = _setting("", str, "The embedding model's name at that endpoint.")
    embedder_key: str = _setting("", str, "The embedding endpoint's API key.", "OPENAI_API_KEY", secret=True)
    embedder_dimensions: int = _setting(0, _whole(0, 16_000), "The vector size to ask for; 0 lets the model decide.")
    embedder_timeout_s: int = _setting(30, _whole(1, 600), "How long one call for embeddings may take.")
    llamacpp_url: str = _setting("", str, "A llama.cpp server; used first when it answers.")
    embed_batch: int = _setting(64, _whole(1, 2048), "How many texts are embedded at once in the background.")
    embed_lease_s: int = _setting(
        120, _whole(5, 3600), "How long claimed embedding work stays claimed when its worker dies."
    )
    worker: bool = _setting(
        True, _switch, "Embed in the background inside this process; 0 leaves it to `recollect worker`."
    )
    exact_below: int = _setting(
        50_000,
        _whole(0, 5_000_000),
        "Scopes with at most this many entries are searched exactly, in memory; larger ones through the "
        "database's own indexes.",
    )
    index_memory_mb: int = _setting(
        512, _whole(1, 1_000_000), "How much memory the in-memory indexes of all scopes may take together."
    )
    pool_size: int = _setting(10, _whole(1, 500), "Postgres connections.", "MEMORY_DB_POOL_SIZE")
    statement_timeout_ms: int = _setting(10_000, _whole(10, 3_600_000), "The longest a Postgres statement may run.")
    sqlite_synchronous: Synchronous = _setting(
        "full",
        _one_of(Synchronous),
        "`full`: an acknowledged write survives a power cut. `normal`: it survives a crash of the process.",
    )
    pepper: str = _setting("", str, "A secret mixed into digests of forgotten text.", secret=True)

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """From the environment, then `overrides` (which are used as they are; None means not given)."""
        env = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for each in fields(cls):
            for name in names_of(each.name):
                if env.get(name, "").strip():
                    values[each.name] = _parsed(name, env[name].strip(), each.metadata["parse"])
                    break
        values.update({name: value for name, value in overrides.items() if value is not None})
        return cls(**values)


def names_of(setting: str) -> tuple[str, ...]:
    """The environment variables that set it, the name of record first."""
    (found,) = (each for each in fields(Settings) if each.name == setting)
    return (PREFIX + setting.upper(), *found.metadata["aliases"])


def _parsed(name: str, text: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(text)
    except SettingsError as problem:
        raise SettingsError(f"{name} is {text!r}: {problem}") from None
