"""The parts a server is made of besides its store: who may come in, what they may use, who answers, who watches.

Each is made as the server would make it, and closed again. So what it would refuse to start with is found in full, not one start
after the other; and an optional package that is missing is named together with what needs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect import desk
from recollect.bootstrap import open_chat, open_elsewhere, open_spans
from recollect.cli.checks.checking import Check, broken, well
from recollect.cli.checks.places import nearest
from recollect.errors import RecollectError, Unavailable, Unsupported
from recollect.providers.archives import open_archive
from recollect.settings import Settings

try:
    from recollect.doors.http.auth.choosing import identity_of
except ImportError:  # the server's extra; whoever configured a login is told
    identity_of = None  # type: ignore[assignment]
try:
    from recollect.providers.vault import Vault
except ImportError:
    Vault = None  # type: ignore[assignment,misc]
try:
    from recollect.worker.tasks import celery_app
except ImportError:
    celery_app = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    wanted: Callable[[Settings], object]
    """Whether the settings ask for it at all."""
    made: Callable[[Settings], Any]
    fix: str


def _identity(settings: Settings) -> None:
    if identity_of is None:
        raise Unsupported("a login needs the packages of the server: install recollect[server]")
    identity_of(settings)


def _vault(settings: Settings) -> None:
    if Vault is None:
        raise Unsupported("stored keys need the package 'cryptography': install recollect[server]")
    Vault.of(settings.secret_key, settings.data_dir)


def _broker(settings: Settings) -> None:
    if celery_app is None:
        raise Unsupported("a broker needs the package 'celery': install recollect[celery]")


def _answerer(settings: Settings) -> Any:
    chat = open_chat(settings) if settings.chat_url and settings.chat_model else None
    return desk.open_answerer(settings, chat)


def _archive(settings: Settings) -> None:
    url = settings.archive_url
    open_archive(url)
    if "://" not in url and not nearest(Path(url).expanduser()).is_dir():
        raise Unavailable("RECOLLECT_ARCHIVE_URL names a folder that can't be made: something in its path is a file")


def _asks_data(settings: Settings) -> bool:
    # The sample is a file that opening makes, and looking makes nothing.
    named = settings.data_url or settings.denodo_url or settings.answerer not in ("auto", "off")
    return bool(named) and settings.answerer != "off" and settings.data_url != desk.SAMPLE


PARTS = (
    Part(
        "login",
        lambda settings: settings.user_id_source != "local",
        _identity,
        "docs/server.md lists what each RECOLLECT_USER_ID_SOURCE needs; `local` needs nothing",
    ),
    Part("secret key", lambda settings: settings.secret_key, _vault, "correct RECOLLECT_SECRET_KEY"),
    Part(
        "chat model",
        lambda settings: settings.chat_url,
        open_chat,
        "correct RECOLLECT_CHAT_URL, _MODEL and _KEY; without RECOLLECT_CHAT_URL the chat quotes memory",
    ),
    Part(
        "answers over data",
        _asks_data,
        _answerer,
        "correct RECOLLECT_ANSWERER and what it needs; `off` answers no questions over data",
    ),
    Part(
        "permissions",
        lambda settings: settings.data_permissions != "off",
        desk.open_permissions,
        "correct RECOLLECT_DATA_PERMISSIONS and what it needs; docs/datachat.md shows each kind",
    ),
    Part(
        "archive",
        lambda settings: settings.archive_url,
        _archive,
        "correct RECOLLECT_ARCHIVE_URL, a folder or an address such as s3://…; unset it to put nothing away",
    ),
    Part(
        "vector store",
        lambda settings: settings.vector_store != "store",
        open_elsewhere,
        "correct RECOLLECT_VECTOR_STORE, _URL and _COLLECTION; `store` searches where everything is",
    ),
    Part("traces", lambda settings: settings.traces_url, open_spans, "unset RECOLLECT_TRACES_URL to send none"),
    Part(
        "broker",
        lambda settings: settings.broker_url,
        _broker,
        "unset RECOLLECT_BROKER_URL: workers then look by themselves",
    ),
)


def wanted(settings: Settings) -> Iterator[Part]:
    return (part for part in PARTS if part.wanted(settings))


async def parts(settings: Settings) -> list[Check]:
    return [await _tried(part, settings) for part in wanted(settings)]


async def _tried(part: Part, settings: Settings) -> Check:
    try:
        made = await asyncio.to_thread(part.made, settings)
    except RecollectError as problem:
        return broken(part.name, problem.message, part.fix)
    await _closed(getattr(made, "index", made))
    return well(part.name, "can be made as the settings say")


async def _closed(made: Any) -> None:
    close: Callable[[], Awaitable[None] | None] | None = getattr(made, "close", None)
    if close is not None:
        ended = close()
        if ended is not None:
            await ended
