"""What is exported can be taken back, whole and unchanged, on any store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.engine.exporting.export import PAGE
from recollect.engine.remembering.screening import Rules
from recollect.errors import InvalidInput, NotFound
from recollect.model import Query, Scope
from recollect.policy.guard import MAX_CONTENT_BYTES
from recollect.ports import Store, Tx
from recollect.testing import ReferenceStore
from tests.engine.conftest import ANA, engine_over

T = TypeVar("T")
NOW = "2026-01-01T00:00:00+00:00"
THEME = {"kind": "theme", "slug": "tea", "display_name": "Tea", "created_at": NOW, "updated_at": NOW}
CONVERSATION = {"kind": "conversation", "id": "c", "created_at": NOW, "updated_at": NOW}
MESSAGE = {
    "kind": "message",
    "id": "m",
    "session_id": "c",
    "order": 0,
    "role": "user",
    "content": "tea?",
    "created_at": NOW,
}
MEMORY = {"kind": "memory", "id": "r", "content": "tea", "created_at": NOW, "updated_at": NOW}
LONG = "x" * (MAX_CONTENT_BYTES + 1)
KEY = "sk-proj-" + "q7XkR2vLw9TzB4nMc6HdJ1sFgY8pAe3U"
USE = {"kind": "use", "memory_id": "r", "message_id": "m", "reference": "m1", "cited": True, "at": NOW}
SCORES = {"relevance": 0.5, "recency": 0.5, "importance": 0.5, "total": 0.5, "computed_at": NOW}


async def exported(engine: Engine, kind: str = "") -> list[dict[str, Any]]:
    return [line async for line in engine.export(ANA) if kind in ("", line["kind"])]


class Counting:
    """A store that counts how often it is read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        self.count += 1
        return await self._store.read(scope, work)


async def filled(engine: Engine) -> list[dict[str, Any]]:
    await engine.remember(
        ANA, {"content": "The standup is at 9", "key": "standup", "value": {"hour": 9, "days": ["一"]}}
    )
    await engine.remember(ANA, {"content": "The standup is at 10", "key": "standup", "tags": ["work"], "theme": "Team"})
    await engine.remember(ANA, {"content": "我喜欢喝茶 🍵", "type": "preference", "expires_at": "2090-01-01T00:00:00Z"})
    await engine.add_turns(ANA, "s", [{"role": "user", "content": f"line {n}"} for n in range(450)])
    await engine.add_turns(ANA, "short", [{"role": "Bo", "content": "hello", "created_at": "2024-01-01"}])
    return [line async for line in engine.export(ANA)]


async def test_round_trip_is_equal(engine: Engine) -> None:
    lines = await filled(engine)
    other = engine_over(ReferenceStore())
    receipt = await other.import_lines(ANA, lines)
    assert (receipt.memories, receipt.messages, receipt.conversations, receipt.refused) == (3, 451, 2, 0)
    assert [line async for line in other.export(ANA)] == lines
    back = Scope("acme", "ana", "copy")
    await engine.import_lines(back, [line async for line in other.export(ANA)])
    assert [line async for line in engine.export(back)][1:] == lines[1:]
    assert next(hit.content for hit in await engine.recall(back, Query(text="standup"))) == "The standup is at 10"


async def test_importing_twice_changes_nothing(engine: Engine) -> None:
    lines = await filled(engine)
    receipt = await engine.import_lines(ANA, lines)
    assert (receipt.memories, receipt.messages, receipt.conversations) == (0, 0, 0)
    assert [line async for line in engine.export(ANA)] == lines


async def test_what_was_forgotten_is_not_imported_back(engine: Engine) -> None:
    receipt = await engine.remember(ANA, {"content": "my secret"})
    lines = [line async for line in engine.export(ANA)]
    await engine.forget(ANA, [receipt.id or ""])
    assert (await engine.import_lines(ANA, lines)).refused == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({"kind": "banana"}, "line 2"),
        ([], "line 2"),
        ({"kind": "memory", "id": "x"}, "line 2"),
        ({"kind": "memory", "id": "x", "content": "y", "created_at": "never", "updated_at": "never"}, "created_at"),
        ({"kind": "header", "format": "other"}, "version"),
    ],
)
async def test_a_bad_line_is_named(engine: Engine, line: Any, says: str) -> None:
    header = {"kind": "header", "format": "recollect-export", "version": 1}
    with pytest.raises(InvalidInput, match=says):
        await engine.import_lines(ANA, [header, line])


BAD: list[tuple[dict[str, Any], str, tuple[Any, ...]]] = [
    (THEME, "slug", ("", 5, None, "!")),
    (THEME, "display_name", (5, None, "a\x00b")),
    (THEME, "description", (5,)),
    (CONVERSATION, "message_count", (1.5, "x", -1, True, None, 10**9)),
    (CONVERSATION, "title", (5, "\ud800", "a\x00b", LONG)),
    (CONVERSATION, "is_summarized", ("no", 1, None)),
    (CONVERSATION, "databases", ("sales", 5, [5], None)),
    (CONVERSATION, "created_at", (None,)),
    (MESSAGE, "order", (1.5, -5, None, "0", True, 20_000_000)),
    (MESSAGE, "role", (["a"], 5, None, "", "x" * 21)),
    (MESSAGE, "name", (5, "", ["a"])),
    (MESSAGE, "tokens", (5, None, {"in": "x"}, {"in": 1.5}, {"in": -1}, ["in"])),
    (MESSAGE, "tables_used", ("orders", [None])),
    (MESSAGE, "execution_result", (float("nan"), "a\x00b", {1: object()})),
    (MESSAGE, "execution_time_ms", ("x", float("inf"), True, 10**400)),
    (MESSAGE, "dated", ("no", None)),
    (MESSAGE, "sql_query", (5, b"x")),
    (MESSAGE, "session_id", ("nobody's",)),
    (MEMORY, "id", (None, 5, "", "x" * 300)),
    (MEMORY, "content", (None, 5, " ", LONG)),
    (MEMORY, "confidence", ("high", None, 2, True)),
    (MEMORY, "importance", ("high", None, 1e9, -0.1, float("nan"))),
    (MEMORY, "base_importance", ("x", None, 7)),
    (MEMORY, "metadata_confidence", ("x", 2)),
    (MEMORY, "access_count", ("x", -1, 1.5, 2**31, None)),
    (MEMORY, "repeat_count", ("x", -1)),
    (MEMORY, "pinned", ("no", 0, None)),
    (MEMORY, "key", (5, "")),
    (MEMORY, "theme", (5, "!!!")),
    (MEMORY, "value", ("a\x00b", float("inf"))),
    (MEMORY, "tags", ("work", 5, [5], None)),
    (MEMORY, "source_ids", ("abc", {"a": 1})),
    (MEMORY, "type", ("opinion", [], None)),
    (MEMORY, "status", ("lost", None)),
    (MEMORY, "supersedes", (5, "")),
    (MEMORY, "last_scores", (5, {}, {**SCORES, "total": "x"}, {**SCORES, "computed_at": 1})),
    (MEMORY, "last_accessed", (5, "yesterday")),
    (USE, "reference", ("", "x" * 21)),
    (USE, "cited", (None, "yes")),
]


@pytest.mark.parametrize(
    ("line", "field", "value"), [(line, field, value) for line, field, values in BAD for value in values]
)
async def test_a_bad_field_is_named_and_nothing_of_its_batch_is_stored(line: Any, field: str, value: Any) -> None:
    engine = engine_over(ReferenceStore())
    good = [{**MEMORY, "id": "good"}, CONVERSATION] if line is MESSAGE else [{**MEMORY, "id": "good"}]
    with pytest.raises(InvalidInput, match=rf"line {len(good) + 1}: .*{field}"):
        await engine.import_lines(ANA, [*good, {**line, field: value}])
    assert len(await exported(engine)) == 1, "the header alone"


@pytest.mark.parametrize("lines", [None, 5, "text", {"kind": "memory"}, b"x"])
async def test_lines_come_as_a_series_of_objects(lines: Any) -> None:
    with pytest.raises(InvalidInput, match="lines"):
        await engine_over(ReferenceStore()).import_lines(ANA, lines)


@pytest.mark.parametrize("kind", [[], {}, None, 5])
async def test_a_kind_is_text(kind: Any) -> None:
    with pytest.raises(InvalidInput, match="line 1: kind must be"):
        await engine_over(ReferenceStore()).import_lines(ANA, [{"kind": kind}])


async def test_what_can_be_worked_out_is_not_believed(engine: Engine) -> None:
    said = await engine.remember(ANA, {"content": "We met at the pier"})
    copied = Scope("acme", "ana", "copy")
    own = {"simhash": 2**70, "theme": "My Theme"}
    await engine.import_lines(copied, [{**MEMORY, "content": "We met at the pier", **own}])
    memory = await engine.get(copied, "r")
    assert memory.simhash == (await engine.get(ANA, said.id or "")).simhash
    assert memory.theme == "my-theme"
    assert [(theme.slug, theme.count) for theme in await engine.themes(copied)] == [("my-theme", 1)]


async def test_gaps_in_a_conversation_cost_nothing_and_lose_nothing(engine: Engine) -> None:
    orders = [*range(0, 900, 2), 5_000, 9_999_999]
    lines = [{**MESSAGE, "id": f"m{order:07}", "order": order} for order in orders]
    await engine.import_lines(ANA, [CONVERSATION, *reversed(lines)])
    reads = engine.store = Counting(engine.store)
    assert [line["order"] for line in await exported(engine, "message")] == orders
    assert reads.count < 20


async def test_two_messages_in_one_place_are_both_kept(engine: Engine) -> None:
    lines: list[dict[str, Any]] = [CONVERSATION]
    lines += [*({**MESSAGE, "id": f"m{n:03}"} for n in range(401)), {**MESSAGE, "id": "z", "order": 1}]
    assert (await engine.import_lines(ANA, lines)).messages == 402
    found = [(line["id"], line["order"]) for line in await exported(engine, "message")]
    assert found == [(f"m{n:03}", n) for n in range(401)] + [("z", 401)]


async def test_what_repeats_have_gathered_comes_back(engine: Engine) -> None:
    for start in (0, 60):
        tags = [f"t{n}" for n in range(start, start + 60)]
        await engine.remember(ANA, {"content": "The standup is at 9", "tags": tags})
    await engine.add_turns(ANA, "s", [{"role": "user", "content": " " * 90 + "so"}])
    lines = await exported(engine)
    other = engine_over(ReferenceStore())
    await other.import_lines(ANA, lines)
    assert await exported(other) == lines


async def test_secrets_of_an_import_are_masked_or_refused_like_any_others(store: Store) -> None:
    lines: list[dict[str, Any]] = [
        CONVERSATION,
        {**MESSAGE, "content": f"my key is {KEY}"},
        {**MEMORY, "content": f"the key is {KEY}"},
    ]
    for rules, refused in ((Rules(secrets="mask"), 0), (Rules(secrets="refuse"), 1)):
        engine = engine_over(store, config=EngineConfig(screening=rules))
        scope = ANA.within(rules.secrets)
        receipt = await engine.import_lines(scope, lines)
        assert (receipt.messages, receipt.memories, receipt.refused) == (1, 1 - refused, refused)
        kept = str([line async for line in engine.export(scope)])
        assert KEY not in kept
        assert "my key is [API key removed]" in kept


async def test_secrets_of_an_imported_telling_are_masked_too(store: Store) -> None:
    told = {"key": KEY, "value": {"password": "hunter2"}, "tags": [KEY], "created_at": MEMORY["created_at"]}
    told["updated_at"] = told["created_at"]
    repeat = {"kind": "repeat", "memory_id": MEMORY["id"], "id": "r1", "place": 1, "content": MEMORY["content"]}
    lines = [{**MEMORY, "repeat_count": 1}, {**repeat, "fields": told, "at": told["created_at"]}]
    engine = engine_over(store)
    await engine.import_lines(ANA, lines)
    kept = str(await exported(engine, "repeat"))
    assert "[API key removed]" in kept
    assert KEY not in kept
    assert "hunter2" not in kept


async def test_where_it_was_used_comes_along_if_both_are_there(engine: Engine) -> None:
    """The reply and the memory may stand in the same batch, in one before, or have been there already."""
    many = [{**MEMORY, "id": f"r{n:03}"} for n in range(PAGE)]
    uses = [USE, *({**USE, "memory_id": each["id"], "reference": each["id"]} for each in many)]
    astray = [{**USE, "memory_id": "nobody's"}, {**USE, "message_id": "unsaid"}]
    await engine.import_lines(ANA, [CONVERSATION, MESSAGE, MEMORY, *many, *uses, *astray])
    await engine.import_lines(ANA, [{**USE, "cited": False}])
    assert await exported(engine, "use") == uses
    other = engine_over(ReferenceStore())
    await other.import_lines(ANA, await exported(engine))
    assert [(use.reference, use.cited, said.id) for use, said in (await other.why(ANA, "r")).uses] == [
        ("m1", True, "m")
    ]
    alone = [line async for line in engine.export(ANA, "c")]
    await engine.forget_conversation(ANA, "c")
    assert not await exported(engine, "use")
    await engine.import_lines(ANA, alone)
    assert await exported(engine, "use") == uses


@pytest.mark.parametrize("version", [1, 2])
async def test_what_an_earlier_version_wrote_is_taken(engine: Engine, version: int) -> None:
    header = {"kind": "header", "format": "recollect-export", "version": version}
    receipt = await engine.import_lines(ANA, [header, THEME, CONVERSATION, MESSAGE, MEMORY])
    assert (receipt.memories, receipt.messages, receipt.conversations) == (1, 1, 1)


async def test_one_conversation_is_taken_along_with_what_was_learnt_from_it(engine: Engine) -> None:
    await engine.take_in(ANA, "one", [{"role": "user", "content": "My name is Ana Duarte."}])
    await engine.take_in(ANA, "two", [{"role": "user", "content": "My sister is called Mia."}])
    lines = [line async for line in engine.export(ANA, "one")]
    assert [line["kind"] for line in lines][:3] == ["header", "conversation", "message"]
    assert {line["source_conversation_id"] for line in lines if line["kind"] == "memory"} == {"one"}
    assert "Mia" not in str(lines)
    elsewhere = ANA.within("elsewhere")
    receipt = await engine.import_lines(elsewhere, lines)
    assert (receipt.conversations, receipt.messages, receipt.memories) == (1, 1, 1)
    await engine.forget_conversation(ANA, "one")
    with pytest.raises(NotFound):
        await anext(aiter(engine.export(ANA, "one")))
