"""Questions about a time find what was told then, and what happened then by its own words."""

from __future__ import annotations

from datetime import UTC, datetime

from recollect.engine import Engine
from recollect.model import Query
from tests.engine.conftest import ANA

JUNE = datetime(2024, 6, 20, 12, tzinfo=UTC)


async def test_a_date_inside_the_text_counts_as_much_as_when_it_was_told(engine: Engine) -> None:
    told_in_june = "2024-06-15T10:00:00Z"
    turns = [
        {"role": "user", "content": "We moved house on 3 May, it took all day", "created_at": told_in_june},
        {"role": "user", "content": "We moved house once before, it took a week", "created_at": told_in_june},
    ]
    await engine.add_turns(ANA, "s", turns)
    recalled = await engine.recall(ANA, Query(text="What did we do in May about the house we moved?", now=JUNE))
    assert recalled.hits[0].content.startswith("We moved house on 3 May")
    assert recalled.hits[0].signals["time"] > recalled.hits[1].signals.get("time", 0.0)


async def test_a_relative_date_is_read_from_when_it_was_told(engine: Engine) -> None:
    turns = [
        {"role": "user", "content": "yesterday I met Bo for tea", "created_at": "2024-03-11T09:00:00Z"},
        {"role": "user", "content": "yesterday I met Chen for tea", "created_at": "2024-05-11T09:00:00Z"},
    ]
    await engine.add_turns(ANA, "s", turns)
    for when, who in (("10 March", "Bo"), ("10 May", "Chen")):
        recalled = await engine.recall(ANA, Query(text=f"Whom did I meet for tea on {when}?", now=JUNE))
        assert who in recalled.hits[0].content


async def test_chinese_dates_too(engine: Engine) -> None:
    turns = [
        {"role": "user", "content": "上周三我和小林去爬山", "created_at": "2024-06-10T09:00:00Z"},
        {"role": "user", "content": "上周三我和阿丽去爬山", "created_at": "2024-04-10T09:00:00Z"},
    ]
    await engine.add_turns(ANA, "s", turns)
    recalled = await engine.recall(ANA, Query(text="6月5日我和谁去爬山？", now=JUNE))
    assert "小林" in recalled.hits[0].content
