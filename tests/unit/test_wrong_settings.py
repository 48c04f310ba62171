"""Every setting with wrong values: refused by its name, with what was given and what would do, and without repeating a secret."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

import pytest

from recollect.settings import PREFIX, Settings, SettingsError, names_of

SECRET = "hunter2"
# Whatever a setting is, one of these is none: a number, a choice, a switch, a name, an address, a list, a path.
WRONG = (
    f"{SECRET}\udcff",
    f"{SECRET}: not a number, choice, switch or address",
    "-1",
    "9" * 20,
    "~nobody-has-this-name/data",
    f"mysql://app:{SECRET}@db/x",
    f"http://app:{SECRET}@[broken/v1?key={SECRET}",
    "0.0.0.0/0",
)
SETTINGS = fields(Settings)


def refusals(setting: Field[Any]) -> dict[str, str]:
    """What is said to each of the wrong values that this setting does not take."""
    said = {}
    for value in WRONG:
        try:
            Settings.load({names_of(setting.name)[0]: value})
        except SettingsError as refused:
            said[value] = str(refused)
    return said


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: str(each.name))
def test_every_setting_refuses_something_and_says_what_would_do(setting: Field[Any]) -> None:
    name = names_of(setting.name)[0]
    said = refusals(setting)
    assert said, "it takes anything"
    for value, message in said.items():
        assert message.startswith(f"{name} is ")
        assert "expected" in message
        assert "correct it, or unset it" in message
        if setting.metadata["secret"]:
            assert "unusable" in message
            assert SECRET not in message
        elif "://" in value:
            assert SECRET not in message
        else:
            assert repr(value)[:40] in message
    for alias in names_of(setting.name)[1:]:
        with pytest.raises(SettingsError, match=f"^{alias} is "):
            Settings.load({alias: next(iter(said))})


def test_every_setting_refuses_a_value_of_no_kind_given_by_name() -> None:
    for setting in SETTINGS:
        with pytest.raises(SettingsError, match=f"{setting.name} is .*expected .*leave it out"):
            Settings.load({}, **{setting.name: object()})


def test_a_slip_in_any_name_is_noticed() -> None:
    names = [names_of(each.name)[0] for each in SETTINGS]
    for name in names:
        slip = name[:-3] + name[-2] + name[-3] + name[-1] if name[-2] != name[-3] else f"{name}X"
        assert slip not in names
        with pytest.raises(SettingsError, match=f"{slip} is no setting; did you mean .*{name}"):
            Settings.load({slip: "x"})


def test_everything_that_is_wrong_is_said_at_once() -> None:
    wrong = {"RECOLLECT_POOL_SIZE": "x", "RECOLLECT_STROE": "y", "RECOLLECT_WORKER": "perhaps"}
    with pytest.raises(SettingsError) as refused:
        Settings.load(wrong)
    assert all(name in str(refused.value) for name in wrong)
    settings, problems, _ = Settings.read(wrong, token_budget=7)
    assert (settings.pool_size, settings.token_budget, len(problems)) == (10, 7, 3)


def test_what_is_given_by_name_makes_up_for_the_environment() -> None:
    assert Settings.load({"RECOLLECT_POOL_SIZE": "x"}, pool_size=3).pool_size == 3


def test_a_choice_that_is_nearly_right_gets_a_suggestion() -> None:
    with pytest.raises(SettingsError, match=r"did you mean read_only\?"):
        Settings.load({"RECOLLECT_WRITE_MODE": "readonly"})
    with pytest.raises(SettingsError, match="unset it for the default, automatic"):
        Settings.load({"RECOLLECT_WRITE_MODE": "x"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("RECOLLECT_HOST", "recollect serve --host"),
        ("RECOLLECT_PORT", "recollect serve --port"),
        ("RECOLLECT_DATABASE_URL", "RECOLLECT_STORE"),
        ("RECOLLECT_ZZZ", "docs/reference/settings.md"),
    ],
)
def test_a_name_nobody_reads_stops_nothing_and_is_remarked_on(name: str, hint: str) -> None:
    settings, problems, (remark,) = Settings.read({name: "1"})
    assert (settings, problems) == (Settings(), [])
    assert name in remark.wrong
    assert hint in remark.fix


def test_names_that_a_cluster_makes_of_a_service_are_nobodys_slip() -> None:
    made = {
        "RECOLLECT_PORT": "tcp://10.0.0.1:8377",
        "RECOLLECT_SERVICE_HOST": "10.0.0.1",
        "RECOLLECT_SERVICE_PORT_HTTP": "8377",
        "RECOLLECT_WORKER_PORT_9100_TCP_PROTO": "tcp",
    }
    assert Settings.read(made)[1:] == ([], [])


def test_an_alias_that_another_name_stands_above_is_remarked_on() -> None:
    (remark,) = Settings.read({"TOKEN_BUDGET": "500", "RECOLLECT_TOKEN_BUDGET": "600"}).remarks
    assert "TOKEN_BUDGET is not used" in remark.wrong
    (remark,) = Settings.read({"MAX_RESULTS": "5", "MEMORY_RETRIEVAL_LIMIT": "6"}).remarks
    assert "MEMORY_RETRIEVAL_LIMIT is not used" in remark.wrong
    assert not Settings.read({"MAX_RESULTS": "5", "MEMORY_RETRIEVAL_LIMIT": "5"}).remarks


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("chat_url", "127.0.0.1:8080/v1"),
        ("embedder_url", "https://api.openai.com:x/v1"),
        ("llamacpp_url", "https://[broken/v1"),
        ("redis_url", "http://127.0.0.1:6379"),
        ("broker_url", "amqp://127.0.0.1"),
        ("migrate_url", "mysql://x/y"),
        ("read_url", "postgresql://"),
        ("data_url", "sales.db"),
        ("store", "mysql://db"),
        ("store", "sqlite:notes.db"),
        ("trusted_proxies", "10.0.0.1, everybody"),
        ("hosts", "https://memory.example.org"),
        ("user_header", "X User"),
        ("vector_collection", "Mine!"),
        ("worker_metrics_host", "http://127.0.0.1"),
        ("user", "a\nb"),
        ("space", "x" * 256),
    ],
)
def test_addresses_and_names_are_read_before_anybody_is_asked_there(setting: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{PREFIX}{setting.upper()} is .*expected"):
        Settings.load({f"{PREFIX}{setting.upper()}": value})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("chat_url", "http://[::1]:11434/v1"),
        ("redis_url", "unix:///run/valkey.sock"),
        ("redis_url", "rediss://:secret@cache.example:6380/0"),
        ("migrate_url", "postgres://owner@/recollect?host=/run/postgresql"),
        ("data_url", "sample"),
        ("data_url", "oracle+oracledb://x/y"),
        ("trusted_proxies", "10.0.0.7, fd00::/64"),
        ("hosts", "memory.example.org, [::1]"),
        ("user", "梅"),
        ("store", "C:notes.db"),
    ],
)
def test_what_is_right_is_taken_as_it_is(setting: str, value: str) -> None:
    assert getattr(Settings.load({f"{PREFIX}{setting.upper()}": value}), setting) == value


def test_an_address_for_another_driver_is_the_same_address() -> None:
    settings = Settings.load({"RECOLLECT_READ_URL": "postgresql+asyncpg://app@db/recollect"})
    assert settings.read_url == "postgresql://app@db/recollect"


@pytest.mark.parametrize(
    "given",
    [
        f"app:{SECRET}@models.example:8000/v1",
        f"https:/app:{SECRET}@models.example/v1",
        f"https://app:{SECRET} of mine@models.example/v1",
        f"https://app:a/{SECRET}@models.example:x/v1",
        f"host=db password = '{SECRET} {SECRET}' dbname=x",
        f"https://models.example:x/v1?sig={SECRET}",
    ],
)
def test_a_refusal_never_repeats_a_password_however_broken_its_address(given: str) -> None:
    with pytest.raises(SettingsError, match=r"^RECOLLECT_CHAT_URL is ") as refused:
        Settings.load({"RECOLLECT_CHAT_URL": given})
    assert SECRET not in str(refused.value)
