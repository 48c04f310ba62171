"""Settings: names of record, the contracts' aliases, and refusals that help."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.bootstrap import _insists, sqlite_path
from recollect.errors import InvalidInput, RecollectError
from recollect.settings import PREFIX, Settings, SettingsError, names_of
from recollect.testing.embedder import HashEmbedder


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


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("token_budget", "500", 500),
        ("token_budget", 500, 500),
        ("min_relevance", "0.5", 0.5),
        ("min_relevance", 1, 1.0),
        ("worker", False, False),
        ("worker", "off", False),
        ("worker", 1, True),
        ("write_mode", "Explicit", "explicit"),
        ("data_dir", "data", Path("data")),
        ("data_dir", Path("~"), Path.home()),
        ("store", "", ""),
        ("store", Path("notes.db"), str(Path.cwd() / "notes.db")),
    ],
)
def test_what_is_given_by_name_is_read_like_the_environment(name: str, value: Any, taken: object) -> None:
    assert getattr(Settings.load({}, **{name: value}), name) == taken


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("token_budget", 1.5, "whole number"),
        ("token_budget", True, "whole number"),
        ("exact_below", "x", "whole number"),
        ("min_relevance", [], "0 to 1"),
        ("min_relevance", float("nan"), "0 to 1"),
        ("write_mode", "bogus", "read_only"),
        ("write_mode", ["read_only"], "read_only"),
        ("worker", 5, "1 or 0"),
        ("data_dir", 1, "path of a folder"),
        ("store", 1, "a path or an address"),
        ("user", 7, "text"),
    ],
)
def test_a_bad_value_given_by_name_is_refused_alike(name: str, value: Any, expected: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is .*{expected}"):
        Settings.load({}, **{name: value})


def test_a_secret_is_not_repeated_in_a_refusal() -> None:
    with pytest.raises(SettingsError, match="pepper") as refused:
        Settings.load({}, pepper=b"hunter2")
    assert "hunter2" not in str(refused.value)


def test_an_unknown_setting_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean token_budget"):
        Settings.load({}, token_buget=5)
    with pytest.raises(InvalidInput, match="there are store, data_dir"):
        Settings.load({}, xyz=5)


def test_a_wrong_setting_is_caught_with_everything_else_of_ours() -> None:
    assert issubclass(SettingsError, InvalidInput)
    assert issubclass(SettingsError, ValueError)
    with pytest.raises(RecollectError):
        Settings.load({"RECOLLECT_WORKER": "perhaps"})


@pytest.mark.parametrize(
    "given",
    [
        {"embedder": "openai"},
        {"embedder": "openai", "embedder_url": "https://api.openai.com/v1"},
        {"embedder_url": "https://API.openai.com:443/v1/"},
    ],
)
def test_openais_key_is_taken_for_openai(given: dict[str, Any]) -> None:
    assert Settings.load({"OPENAI_API_KEY": "sk-1"}, **given).embedder_key == "sk-1"
    both = {"OPENAI_API_KEY": "sk-1", "RECOLLECT_EMBEDDER_KEY": "own"}
    assert Settings.load(both, **given).embedder_key == "own"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"embedder": "local"},
        {"embedder": "ollama"},
        {"embedder": "llamacpp", "embedder_url": "https://api.openai.com/v1"},
        {"embedder": "openai", "llamacpp_url": "http://127.0.0.1:8080"},
        *(
            {"embedder": embedder, "embedder_url": url}
            for embedder in ("openai", "auto")
            for url in (
                "http://api.openai.com/v1",
                "https://api.openai.com.elsewhere.example/v1",
                "https://api.openai.com@elsewhere.example/v1",
                "https://elsewhere.example/api.openai.com/v1",
                "https://api.openai.com:8443/v1",
            )
        ),
    ],
)
def test_openais_key_is_taken_for_nobody_else(given: dict[str, Any]) -> None:
    assert Settings.load({"OPENAI_API_KEY": "sk-1"}, **given).embedder_key == ""


def test_every_setting_is_used_and_no_name_sets_two() -> None:
    package = Path(recollect.__file__).parent
    outside = (file for file in package.rglob("*.py") if "settings" not in file.relative_to(package).parts)
    used = {name for file in outside for name in re.findall(r"settings\.(\w+)", file.read_text())}
    assert {each.name for each in fields(Settings)} <= used
    names = [name for each in fields(Settings) for name in names_of(each.name)]
    assert len(names) == len(set(names))


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


@pytest.mark.parametrize(
    ("given", "provider", "insists"),
    [
        ({}, "local", False),
        ({"embedder_model": "use-m3/1"}, "local", True),
        ({"embedder": "local"}, "local", True),
        ({"llamacpp_url": "http://127.0.0.1:9"}, "llamacpp", True),
        ({"llamacpp_url": "http://127.0.0.1:9"}, "local", False),
        ({"embedder_url": "http://127.0.0.1:9/v1"}, "local", False),
    ],
)
def test_a_model_that_stands_in_for_a_server_that_is_down_pushes_nobody_aside(
    given: dict[str, str], provider: str, insists: bool
) -> None:
    class Chosen(HashEmbedder):
        @property
        def provider(self) -> str:
            return provider

    assert _insists(Settings.load({}, **given), Chosen()) is insists
