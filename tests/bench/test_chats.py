"""The chat benchmark runs, small: it would see a message that is lost, mixed up or out of order."""

from __future__ import annotations

from bench import chats


async def test_every_message_and_reply_is_accounted_for() -> None:
    (row,) = await chats.run("sqlite", 6, "off", 1)
    assert (row["turns"], row["errors"], row["lost"], row["misordered"]) == (6 * chats.TURNS, 0, 0, 0)
    assert 0 < row["first_p50_ms"] < row["whole_p50_ms"]
