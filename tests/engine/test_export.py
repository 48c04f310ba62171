"""What is exported can be taken back, whole and unchanged, on any store."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.engine import Engine
from recollect.errors import InvalidInput
from recollect.model import Query, Scope
from recollect.testing import ReferenceStore
from tests.engine.conftest import ANA, engine_over


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
