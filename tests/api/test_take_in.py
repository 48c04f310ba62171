"""`Memory.take_in`: turns in, memories out; at once by rules, or in the background by a model behind a real server."""

from __future__ import annotations

import json
import time
from typing import Any

from recollect import Memory
from tests.api.homes import Home
from tests.providers.chat_wire import Act, ChatServer

ANSWER: dict[str, Any] = {
    "memory_update": {
        "should_store": True,
        "items": [
            {
                "category": "fact",
                "key": "home_city",
                "value": "Lyon",
                "content": "The user lives in Lyon",
                "confidence": 0.95,
                "source": "user_stated",
            }
        ],
    },
    "current_topic": "moving",
    "context_variables": [],
    "emotion": "joy",
}
SAID = [{"role": "user", "content": "I live in Lyon since the spring."}, {"role": "assistant", "content": "How nice!"}]


def eventually(memory: Memory, wanted: str) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if wanted in {each.content for each in memory.list()}:
            return True
        time.sleep(0.05)
    return False


def test_rules_remember_at_once(home: Home) -> None:
    with home.memory() as memory:
        taken = memory.take_in("s1", SAID)
        assert [receipt.outcome for receipt in taken.extractions[0].receipts] == ["stored"]
        assert taken.turns is not None
        assert taken.turns.stored == 2
        (found,) = memory.list()
        assert (found.content, found.source_message_id) == ("I live in Lyon since the spring", taken.turns.ids[0])


def test_a_model_reads_while_nobody_waits(home: Home) -> None:
    with ChatServer().running() as server:
        server.acts.append(Act(text=json.dumps(ANSWER)))
        with home.memory(chat_url=server.url, chat_model="tiny") as memory:
            taken = memory.take_in("s1", SAID)
            assert (taken.waiting, taken.extractions) == (1, ())
            assert eventually(memory, "The user lives in Lyon")
        assert server.asked[0]["response_format"]["type"] == "json_schema"


def test_a_model_that_is_down_costs_nothing_but_time(home: Home) -> None:
    with ChatServer().running() as server:
        server.acts.extend([Act(status=503)] * 1000)
        with home.memory(chat_url=server.url, chat_model="tiny") as memory:
            memory.take_in("s1", SAID)
            end = time.monotonic() + 60
            while len(server.asked) < 3 and time.monotonic() < end:
                time.sleep(0.05)
        server.acts.clear()
        server.acts.append(Act(text=json.dumps(ANSWER)))
        with home.memory(chat_url=server.url, chat_model="tiny") as memory:
            memory.search("anything")
            assert eventually(memory, "The user lives in Lyon")
