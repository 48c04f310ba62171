"""Whatever is passed, a wrong argument is refused by name with an error of ours, and nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import AsyncMemory, InvalidInput, Memory, RecollectError

ODD: tuple[Any, ...] = (1, 1.5, True, b"x", object(), [None], [1], [["deep"]], {"a": 1})


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory("memory://", user="ana", embedder="off", worker=False) as opened:
        opened.add("the standup is at nine", id="known")
        yield opened


@pytest.mark.parametrize("value", [None, *ODD])
@pytest.mark.parametrize("name", ["kinds", "types", "tags", "themes", "sessions", "history", "recipe"])
def test_search_refuses_what_is_no_list_of_texts(memory: Memory, name: str, value: Any) -> None:
    if name != "recipe" and value == {"a": 1}:
        value = {"a": 1}.values()
    with pytest.raises(InvalidInput, match=name):
        memory.search("standup", **{name: value})


@pytest.mark.parametrize("value", ODD)
def test_search_refuses_a_topic_that_is_no_text(memory: Memory, value: Any) -> None:
    with pytest.raises(InvalidInput, match="topic"):
        memory.search("standup", recipe="companion", topic=value)


def test_one_text_is_one_choice_but_no_history(memory: Memory) -> None:
    assert len(memory.search("standup", kinds="memory", types="fact")) == 1  # type: ignore[arg-type]
    assert memory.list(types="fact", statuses="active").total == 1
    with pytest.raises(InvalidInput, match="history must be a list"):
        memory.search("standup", history="abc")
    assert len(memory.search("standup", history=["", "\ud800\x00"], topic="\ud800\x00")) == 1


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "x", "", [], float("nan")])
def test_budgets_are_whole_numbers(memory: Memory, value: Any) -> None:
    with pytest.raises(InvalidInput, match="token_budget"):
        memory.search("standup", token_budget=value)
    with pytest.raises(InvalidInput, match="token_budget"):
        memory.context("standup", token_budget=value)


def test_a_context_needs_a_budget(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="token_budget"):
        memory.context("standup", token_budget=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1, 1.5, b"x", object(), [None], [1]])
@pytest.mark.parametrize("name", ["types", "tags", "themes", "statuses", "pinned", "manually_saved", "since", "limit"])
def test_list_refuses_by_name(memory: Memory, name: str, value: Any) -> None:
    if (name, value) == ("limit", 1):
        value = "1"
    with pytest.raises(InvalidInput, match=name):
        memory.list(**{name: value})


@pytest.mark.parametrize("value", [None, 1, "hello", b"x", {"role": "user", "content": "x"}, [None], ["hello"], [[]]])
def test_turns_are_a_list_of_objects(memory: Memory, value: Any) -> None:
    with pytest.raises(InvalidInput, match="turns"):
        memory.add_turns("s", value)


@pytest.mark.parametrize("value", [None, 1, "text", {"kind": "memory"}, object()])
def test_what_is_loaded_is_a_series_of_objects(memory: Memory, value: Any) -> None:
    with pytest.raises(InvalidInput, match="lines"):
        memory.load(value)


@pytest.mark.parametrize("value", [None, 1, [], ["known"], {}, b"known"])
def test_an_id_is_text(memory: Memory, value: Any) -> None:
    for call in (memory.get, memory.pin, memory.forget, lambda id: memory.update(id, text="x")):
        with pytest.raises(InvalidInput, match="id must be text"):
            call(value)
    if value is not None:
        with pytest.raises(InvalidInput, match="session_id must be text"):
            memory.forget(session_id=value)
    assert memory.get("known").content == "the standup is at nine"


@pytest.mark.parametrize("value", ["x", -1, True, float("nan"), []])
def test_a_time_limit_is_a_number(memory: Memory, value: Any) -> None:
    with pytest.raises(InvalidInput, match="timeout"):
        memory.flush(value)


def test_an_id_that_nothing_can_have_is_not_found(memory: Memory) -> None:
    for id in ("", " ", "\ud800", "a\x00b", "x" * 300_000):
        with pytest.raises(RecollectError):
            memory.get(id)
        with pytest.raises(RecollectError):
            memory.forget(id)


def test_an_empty_name_is_not_ones_own(memory: Memory) -> None:
    for name in ("user", "space", "tenant"):
        with pytest.raises(InvalidInput, match=name):
            memory.at(**{name: ""})


def test_a_path_is_a_path_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths: list[Any] = [Path("notes.db"), Path("postgres"), tmp_path / "deep" / "x.db"]
    for path in paths:
        with Memory(path, user="ana", embedder="off", worker=False) as memory:
            memory.add("kept")
        assert path.is_file()


def test_a_folder_may_be_text(tmp_path: Path) -> None:
    with Memory(user="ana", data_dir=str(tmp_path / "data"), embedder="off", worker="0") as memory:
        memory.add("kept")
    assert (tmp_path / "data" / "recollect.db").is_file()


@pytest.mark.parametrize("value", [1, True, b"x", [], ["a"], {"a": 1}, object(), "a\x00b"])
@pytest.mark.parametrize(
    "name", ["url", "user", "write_mode", "data_dir", "exact_below", "pepper", "embedder", "nosuch"]
)
def test_a_wrong_setting_is_an_error_of_ours(name: str, value: Any) -> None:
    settings: dict[str, Any] = {"url": "memory://", "embedder": "off", "worker": False}
    with pytest.raises(RecollectError, match="store" if name == "url" else name):
        AsyncMemory(**{**settings, name: -1 if name == "exact_below" else value})
