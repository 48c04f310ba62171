"""The servers that the settings name, each asked once whether it is there. None is asked that isn't named, and none is sent
anything but the key it was named with.

They are asked side by side and for a few seconds: a check-up of ten servers that are all away takes as long as one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx

from recollect.cli.checks.checking import Check, broken, warning, well
from recollect.cli.schema import revisions
from recollect.desk import SAMPLE
from recollect.errors import RecollectError
from recollect.settings import Settings, names_of

try:
    from recollect.providers.answerers.database import Database
except ImportError:  # `parts` says that the extra is missing
    Database = None  # type: ignore[assignment,misc]

PATIENCE_SECONDS = 5.0
REFUSED = frozenset({401, 403})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Neighbour:
    setting: str
    ask: Callable[[Settings, str], Awaitable[Check]]
    wanted: Callable[[Settings], bool] = lambda _: True

    @property
    def name(self) -> str:
        return names_of(self.setting)[0]


async def _answers(settings: Settings, setting: str) -> Check:
    """Any answer by HTTP will do: what it says is not ours to judge."""
    verify = settings.denodo_verify if setting.startswith("denodo") else True
    return await _over_http(setting, getattr(settings, setting), {}, verify=verify)


async def _over_http(
    setting: str, url: str, headers: dict[str, str], models: str = "", *, verify: bool = True
) -> Check:
    name, where = names_of(setting)[0], _where(url)
    proxies = urlsplit(url).hostname not in LOOPBACK
    try:
        async with httpx.AsyncClient(timeout=PATIENCE_SECONDS, verify=verify, trust_env=proxies) as client:
            answer = await client.get(url, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        fix = f"start the server at {where}, or correct {name}"
        return broken(name, f"{where} does not answer ({type(problem).__name__})", fix)
    if headers and answer.status_code in REFUSED:
        return broken(name, f"{where} refuses the key (HTTP {answer.status_code})", "correct RECOLLECT_CHAT_KEY")
    if models and answer.is_success and (offered := _models(answer)) and models not in offered:
        listed = ", ".join(sorted(offered)[:8])
        return warning(name, f"{where} does not list the model {models!r}", f"RECOLLECT_CHAT_MODEL: it has {listed}")
    return well(name, f"{where} answers")


def _models(answer: httpx.Response) -> set[str]:
    try:
        listed = answer.json()["data"]
        return {str(each["id"]) for each in listed}
    except (ValueError, KeyError, TypeError):
        return set()


async def _chat(settings: Settings, setting: str) -> Check:
    base = settings.chat_url.rstrip("/").removesuffix("/chat/completions")
    headers = (
        {"Authorization": f"Bearer {settings.chat_key}"} if settings.chat_key.isascii() and settings.chat_key else {}
    )
    root = base if urlsplit(base).path.strip("/") else f"{base}/v1"
    return await _over_http(setting, f"{root}/models", headers, settings.chat_model)


async def _redis(settings: Settings, setting: str) -> Check:
    name, url = names_of(setting)[0], getattr(settings, setting)
    try:
        from redis import Redis, RedisError
    except ImportError:
        return broken(name, "the package 'redis' is missing", "install recollect[redis], or unset it")
    try:
        with Redis.from_url(url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS) as client:
            await asyncio.to_thread(client.ping)
    except (RedisError, OSError, ValueError) as problem:
        fix = f"start the server at {_where(url)}, or correct {name} (address, password, number of the database)"
        return broken(name, f"{_where(url)} does not answer as Redis does ({type(problem).__name__})", fix)
    return well(name, f"{_where(url)} answers")


async def _postgres(settings: Settings, setting: str) -> Check:
    name, url = names_of(setting)[0], getattr(settings, setting)
    try:
        await revisions(replace(settings, store=url))
    except RecollectError as problem:
        return broken(name, problem.message, f"correct {name}, or unset it")
    return well(name, f"{_where(url)} answers")


async def _database(settings: Settings, setting: str) -> Check:
    name = names_of(setting)[0]
    if Database is None:
        return broken(name, "the package 'sqlglot' is missing", "install recollect[data], or unset it")
    listed = tuple(filter(None, (each.strip() for each in settings.data_tables.split(","))))
    try:
        asked = Database(settings.data_url, listed, timeout_s=PATIENCE_SECONDS)
        try:
            schema = await asked.schema()
        finally:
            await asked.close()
    except RecollectError as problem:
        fix = f"correct {name}: address, user, password and the database's name; for a file, its path"
        return broken(name, problem.message, fix)
    if not schema.tables:
        return warning(name, "the database has no table that may be asked", "correct RECOLLECT_DATA_TABLES")
    return well(name, f"{len(schema.tables)} tables can be asked")


NEIGHBOURS = (
    Neighbour("redis_url", _redis),
    Neighbour("broker_url", _redis),
    Neighbour("chat_url", _chat),
    Neighbour("jwt_jwks_url", _answers, lambda settings: settings.user_id_source == "jwt_claim"),
    Neighbour("data_url", _database, lambda settings: settings.data_url != SAMPLE and settings.answerer != "off"),
    Neighbour("denodo_url", _answers, lambda settings: settings.answerer in {"auto", "denodo"}),
    Neighbour("denodo_catalog_url", _answers, lambda settings: settings.data_permissions == "denodo"),
    Neighbour("langfuse_host", _answers),
    Neighbour("traces_url", _answers),
    Neighbour("vector_url", _answers, lambda settings: settings.vector_store in {"chroma", "opensearch"}),
    Neighbour("migrate_url", _postgres, lambda settings: settings.store.startswith("postgres")),
    Neighbour("read_url", _postgres, lambda settings: settings.store.startswith("postgres")),
)


async def neighbours(settings: Settings, wrong: set[str | None]) -> list[Check]:
    """`wrong`: settings that can't be used, and so lead nowhere."""
    named = [
        each
        for each in NEIGHBOURS
        if getattr(settings, each.setting) and each.setting not in wrong and each.wanted(settings)
    ]
    return list(await asyncio.gather(*(each.ask(settings, each.setting) for each in named)))


def _where(url: str) -> str:
    """The host and port alone: the rest of an address may hold credentials."""
    parts = urlsplit(url)
    host: Any = parts.hostname or parts.path
    return f"{host}:{parts.port}" if parts.port else str(host)
