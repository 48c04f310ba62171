"""Injection strings in every field, on each store: kept to the letter but for control characters, matching themselves only, never
an untyped error. Nothing here is taken for a secret: that is another suite's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recollect import InvalidInput, Memory, NotFound, TooLarge
from recollect.policy.guard import cleaned
from tests.api.homes import Home
from tests.security.hostile import EVERYTHING, PRINTABLE

INNOCENT = "the ferry leaves at noon"
CUT = 0.3
REFUSALS = (InvalidInput, TooLarge, NotFound)


@pytest.fixture
def memory(home: Home) -> Iterator[Memory]:
    with home.memory() as opened:
        opened.add(INNOCENT, id="innocent", tags=["plain"], theme="travel", key="ferry")
        opened.add_turns("talk", [{"role": "user", "content": "the lighthouse is white", "id": "said"}])
        yield opened


def test_every_field_keeps_them_to_the_letter(memory: Memory) -> None:
    for number, text in enumerate(EVERYTHING):
        fields = {"tags": [text], "key": text, "value": {text: [text, {"deep": text}]}}
        receipt = memory.add(f"{number}{text}", **fields)
        assert receipt.id is not None
        kept = memory.get(receipt.id)
        clean = cleaned(text)
        assert kept.content == f"{number}{clean}"
        assert (kept.tags, kept.key, kept.value) == (
            (clean.strip(),),
            clean.strip(),
            {clean: [clean, {"deep": clean}]},
        )
        changed = memory.update(receipt.id, text=f"{text}{number}", value=text)
        assert (changed.content, changed.value) == (f"{clean}{number}", clean)
        assert memory.get(receipt.id) == changed
    assert memory.list(limit=1).total == len(EVERYTHING) + 1
    assert memory.get("innocent").content == INNOCENT


def test_filters_match_the_text_itself_and_nothing_else(memory: Memory) -> None:
    for text in EVERYTHING:
        assert list(memory.list(tags=[text])) == []
        assert list(memory.search("ferry", tags=[text])) == []
        assert list(memory.search("lighthouse", sessions=[text])) == []
    for number, text in enumerate(EVERYTHING):
        memory.add(f"ferry number{number}", tags=[text])
    for number, text in enumerate(EVERYTHING):
        same = {
            f"ferry number{at}"
            for at, other in enumerate(EVERYTHING)
            if cleaned(other).strip() == cleaned(text).strip()
        }
        assert f"ferry number{number}" in same
        assert {each.content for each in memory.list(tags=[text], limit=1000)} == same
        assert {hit.content for hit in memory.search("ferry", tags=[text], limit=1000)} == same


@pytest.mark.parametrize("recipe", ["native", "recall"])
def test_as_questions_they_find_nothing_they_do_not_say(memory: Memory, recipe: str) -> None:
    for text in EVERYTHING:
        found = memory.search(text, recipe=recipe, min_relevance=CUT)
        assert [hit.content for hit in found] == [], text


def test_as_themes_they_are_names(memory: Memory) -> None:
    for number, text in enumerate(EVERYTHING):
        if any(c.isalnum() for c in text.casefold()):
            memory.add(f"themed{number}", theme=text)
            assert f"themed{number}" in {each.content for each in memory.list(themes=[text], limit=1000)}
            assert "innocent" not in {each.id for each in memory.list(themes=[text], limit=1000)}
        else:
            with pytest.raises(InvalidInput):
                memory.add(f"themed{number}", theme=text)
    assert sum(theme.count for theme in memory.themes()) == memory.list(limit=1).total


def test_as_ids_of_memories_they_are_ids(memory: Memory) -> None:
    for text in PRINTABLE:
        with pytest.raises(NotFound):
            memory.get(text)
        with pytest.raises(NotFound):
            memory.forget(text)
    for number, text in enumerate(PRINTABLE):
        assert memory.add(f"identified{number}", id=text).id == text
    for number, text in enumerate(PRINTABLE):
        assert memory.get(text).content == f"identified{number}"
    for text in PRINTABLE[::8]:
        assert memory.forget(text).memories == 1
    left = {each.id for each in memory.list(limit=1000)}
    assert left == {"innocent", *PRINTABLE} - {*PRINTABLE[::8]}


def test_as_sessions_speakers_and_turns_they_are_names_and_words(memory: Memory, home: Home) -> None:
    for number, text in enumerate(PRINTABLE):
        turn = {"role": text, "content": f"spoken{number} {text}", "id": text, "correlation_id": text}
        assert memory.add_turns(text, [turn]).stored == 1
        (hit,) = memory.search(f"spoken{number}", kinds=("message",), sessions=[text])
        assert hit.message is not None
        assert (hit.message.content, hit.message.name, hit.message.session_id, hit.message.id) == (
            f"spoken{number} {text}",
            text,
            text,
            text,
        )
    for text in PRINTABLE[::8]:
        assert memory.forget(session_id=text).messages == 1
    left = home.count("SELECT count(*) FROM messages")
    assert left == 1 + len(PRINTABLE) - len(PRINTABLE[::8])


def test_as_users_tenants_and_spaces_they_are_strangers(memory: Memory) -> None:
    others = [memory.at(user=text, tenant=text, space=text) for text in PRINTABLE]
    for number, other in enumerate(others):
        assert other.list().total == 0
        other.add(f"mine{number}")
    for number, other in enumerate(others):
        assert [each.content for each in other.list()] == [f"mine{number}"]
    others[0].forget(everything=True)
    assert [other.list().total for other in others] == [0] + [1] * (len(others) - 1)
    assert memory.list().total == 1


def test_export_and_load_carry_them_unchanged(memory: Memory) -> None:
    for number, text in enumerate(PRINTABLE):
        memory.add(f"{number}{text}", tags=[text], key=text, value=[text], id=text)
    lines = list(memory.export())
    elsewhere = memory.at(space="elsewhere")
    elsewhere.load(lines)
    assert list(elsewhere.export())[1:] == lines[1:]


def test_what_is_refused_is_refused_by_name(memory: Memory) -> None:
    """Texts no store can hold, and shapes nothing can be made of."""
    broken: list[Any] = ["nul\x00", "half\ud800", "", " \n", 7, None, b"bytes", ["list"], {"a": 1}]
    for bad in broken:
        for field in ("id", "role", "theme", "key", "tags", "source_ids", "source_conversation_id"):
            value = [bad] if field in ("tags", "source_ids") else bad
            if value is not None:
                with pytest.raises(InvalidInput):
                    memory.add("a good text", **{field: value})
        for attempt in (
            lambda bad=bad: memory.add(bad),
            lambda bad=bad: memory.add_turns("talk", [{"role": "user", "content": bad}]),
            lambda bad=bad: memory.add_turns(bad, [{"role": "user", "content": "good"}]),
            lambda bad=bad: memory.search("ferry", tags=[bad]),
            lambda bad=bad: memory.list(tags=[bad]),
            lambda bad=bad: memory.load([{"kind": "memory", "id": bad, "content": bad}]),
        ):
            with pytest.raises(InvalidInput):
                attempt()
    assert memory.list(limit=1).total == 1


def test_numbers_come_back_as_they_went(memory: Memory) -> None:
    for number in (0.1, -0.0, 1e-300, 1e23, 1.7976931348623157e308, 2**53 + 1, 2**63, 10**40):
        receipt = memory.add(f"a number {number}", value=[number])
        assert memory.get(receipt.id or "").value == [number]


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, list):
        return [_clean_value(each) for each in value]
    if isinstance(value, dict):
        return {cleaned(name): _clean_value(each) for name, each in value.items()}
    return value


anything = st.text(max_size=60) | st.sampled_from(EVERYTHING)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=6,
)
drafts = st.fixed_dictionaries(
    {"text": anything},
    optional={
        "tags": st.lists(anything, max_size=4),
        "theme": anything,
        "key": anything,
        "value": json_values,
        "role": anything,
        "source_conversation_id": anything,
        "expires_at": st.none() | anything,
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(draft=drafts, asked=anything, session=anything)
@example(draft={"text": "ok", "value": {"\x00": 1}}, asked="\x00", session="\x00")
@example(draft={"text": "ok", "value": 2**70}, asked="\ud800", session="a")
@example(draft={"text": "ok", "value": {"\ud800": "\udfff"}}, asked="a", session="a")
def test_any_text_anywhere_is_stored_as_it_is_or_refused_by_name(
    memory: Memory, draft: dict[str, Any], asked: str, session: str
) -> None:
    with suppress(*REFUSALS):
        receipt = memory.add(**draft)
        if receipt.outcome == "stored":
            kept = memory.get(receipt.id or "")
            assert receipt.masked == ()
            assert kept.content == cleaned(draft["text"])
            assert kept.tags == tuple(dict.fromkeys(cleaned(tag).strip() for tag in draft.get("tags", ())))
            assert kept.value == _clean_value(draft.get("value"))
    with suppress(*REFUSALS):
        memory.search(asked, tags=[session])
    with suppress(*REFUSALS):
        memory.add_turns(session, [{"role": session, "content": asked}])
    with suppress(*REFUSALS):
        memory.get(asked)
    assert memory.get("innocent").content == INNOCENT
