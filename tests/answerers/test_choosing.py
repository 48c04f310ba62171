"""Which answerer a configuration means."""

from __future__ import annotations

import pytest

from recollect.errors import InvalidInput, Unsupported
from recollect.providers.answerers import AnswererConfig, choose
from recollect.testing.chat import ScriptedChat
from tests.answerers.grounds import Ground

DENODO = "https://denodo.example:8008"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"denodo_url": DENODO}, "denodo"),
        ({"denodo_url": DENODO, "data": True, "chat": True}, "denodo"),
        ({"data": True, "chat": True}, "sql"),
        ({"data": True}, "rules"),
        ({"chat": True}, None),
        ({"kind": "off", "data": True}, None),
        ({"kind": "rules", "data": True, "chat": True, "denodo_url": DENODO}, "rules"),
        ({"kind": "sql", "data": True, "chat": True, "denodo_url": DENODO}, "sql"),
    ],
)
async def test_auto_takes_the_best_there_is(
    sqlite_ground: Ground, given: dict[str, object], expected: str | None
) -> None:
    settings = dict(given)
    url = sqlite_ground.url if settings.pop("data", False) else ""
    chat = ScriptedChat() if settings.pop("chat", False) else None
    answerer = choose(AnswererConfig(data_url=url, chat=chat, **settings))  # type: ignore[arg-type]
    assert (answerer.name if answerer is not None else None) == expected
    if answerer is not None:
        await answerer.close()


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        (AnswererConfig(kind="sql"), "RECOLLECT_DATA_URL"),
        (AnswererConfig(kind="rules"), "RECOLLECT_DATA_URL"),
        (AnswererConfig(kind="denodo"), "RECOLLECT_DENODO_URL"),
        (AnswererConfig(kind="sql", data_url="sqlite:///x.db"), "RECOLLECT_CHAT_URL"),
    ],
)
def test_what_is_missing_is_named(config: AnswererConfig, missing: str) -> None:
    with pytest.raises(InvalidInput, match=missing):
        choose(config)


def test_a_driver_that_is_not_installed_is_named() -> None:
    with pytest.raises(Unsupported, match="oracle"):
        choose(AnswererConfig(data_url="oracle+oracledb://x/y"))


def test_a_configuration_shows_no_passwords() -> None:
    assert "hunter2" not in repr(
        AnswererConfig(data_url="postgresql://me:hunter2@db/x", denodo_url="http://a:hunter2@b")
    )
