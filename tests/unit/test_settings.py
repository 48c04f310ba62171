"""Settings: names of record, the contracts' aliases, and refusals that help."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from recollect.bootstrap import sqlite_path
from recollect.errors import InvalidInput
from recollect.settings import PREFIX, Settings, SettingsError, names_of


def test_defaults_need_no_environment() -> None:
    settings = Settings.load({})
    assert (settings.user, settings.embedder, settings.token_budget) == ("local", "auto", None)


def test_the_name_of_record_wins_over_an_alias() -> None:
    assert Settings.load({"TOKEN_BUDGET": "500"}).token_budget == 500
    assert Settings.load({"TOKEN_BUDGET": "500", "RECOLLECT_TOKEN_BUDGET": "600"}).token_budget == 600


def test_what_is_given_wins_over_the_environment_and_none_is_not_given() -> None:
    environment = {"RECOLLECT_USER": "env"}
    assert Settings.load(environment, user="arg").user == "arg"
    assert Settings.load(environment, user=None).user == "env"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("RECOLLECT_TOKEN_BUDGET", "many", "whole number"),
        ("RECOLLECT_TOKEN_BUDGET", "0", "from 1"),
        ("MIN_RELEVANCE", "2", "0 to 1"),
        ("RECOLLECT_WRITE_MODE", "maybe", "read_only, explicit, automatic"),
        ("RECOLLECT_EMBEDDER", "gpt", "auto, local"),
        ("RECOLLECT_WORKER", "perhaps", "1 or 0"),
    ],
)
def test_a_bad_value_names_the_variable_and_what_would_do(name: str, value: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected) as refused:
        Settings.load({name: value})
    assert name in str(refused.value)


def test_every_setting_says_what_it_is_for() -> None:
    for each in fields(Settings):
        assert len(each.metadata["help"]) > 10, each.name
        assert names_of(each.name)[0] == PREFIX + each.name.upper()


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", str(Path("data") / "recollect.db")),
        ("memory://", ":memory:"),
        (":memory:", ":memory:"),
        ("sqlite:///notes.db", "notes.db"),
        ("sqlite:////var/notes.db", "/var/notes.db"),
        ("notes.db", "notes.db"),
        ("postgres", None),
        ("postgresql://db/x", None),
        ("postgresql+psycopg://db/x", None),
    ],
)
def test_store_urls(url: str, path: str | None) -> None:
    assert sqlite_path(Settings.load({}, store=url, data_dir=Path("data"))) == path


def test_an_unknown_store_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(InvalidInput, match="postgresql"):
        sqlite_path(Settings.load({}, store="mysql://db"))
