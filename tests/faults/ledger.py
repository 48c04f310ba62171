"""What a writer was promised, kept beside the database, and the proof that the database kept it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from recollect import Memory, NotFound
from tests.api.homes import Home


@dataclass
class Promises:
    """`memories` and `messages` are what must be there, by id; `forgotten` what must not be."""

    memories: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    forgotten: dict[str, str] = field(default_factory=dict)
    said: Counter[str] = field(default_factory=Counter)
    """How often each text was added."""
    open: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Announced and not acknowledged: one per hand, may have gone either way."""
    trouble: list[str] = field(default_factory=list)

    def take(self, lines: Iterable[dict[str, Any]]) -> None:
        for line in lines:
            match line["event"]:
                case "intent":
                    self.open[line["hand"]] = line
                case "done":
                    del self.open[line["hand"]]
                    self._settle(line)
                case "trouble":
                    self.trouble.append(f"{line['error']}: {line['message']}")

    def resolve(self, home: Home) -> None:
        """Look what became of the steps nobody answered: each happened wholly or not at all."""
        for step in self.open.values():
            match step["do"]:
                case "add":
                    rows = home.rows("SELECT id FROM memories WHERE content = ?", [step["text"]])
                    if rows:
                        self._settle({**step, "id": rows[0][0]})
                case "update":
                    ((content,),) = home.rows("SELECT content FROM memories WHERE id = ?", [step["id"]])
                    assert content in (step["old"], step["text"])
                    self.memories[step["id"]] = content
                case "forget":
                    if not home.count("SELECT count(*) FROM memories WHERE id = ?", [step["id"]]):
                        self._settle(step)
                case "talk":
                    there = [
                        id for id in step["texts"] if home.count("SELECT count(*) FROM messages WHERE id = ?", [id])
                    ]
                    assert len(there) in (0, len(step["texts"])), "turns of one call are stored together or not at all"
                    if there:
                        self._settle(step)
        self.open.clear()

    def _settle(self, line: dict[str, Any]) -> None:
        match line["do"]:
            case "add":
                self.memories[line["id"]] = line["text"]
                self.said[line["text"]] += 1
            case "update":
                self.memories[line["id"]] = line["text"]
            case "forget":
                self.forgotten[line["id"]] = self.memories.pop(line["id"])
            case "talk":
                self.messages |= line["texts"]

    def assert_kept(self, home: Home) -> None:
        """Exactly what was promised is stored: nothing lost, doubled or come back."""
        assert dict(home.rows("SELECT id, content FROM memories")) == self.memories
        assert dict(home.rows("SELECT id, content FROM messages")) == self.messages

    @property
    def ids(self) -> set[str]:
        return {*self.memories, *self.messages, *self.forgotten}

    def assert_findable(self, memory: Memory, ids: Iterable[str]) -> None:
        """Each is found by its text's own first word, through the public face; what was forgotten isn't."""
        texts = self.memories | self.messages
        for id in ids:
            if id in texts:
                assert id in _found(memory, texts[id]), texts[id]
            else:
                assert id not in _found(memory, self.forgotten[id])
                with pytest.raises(NotFound):
                    memory.get(id)


def _found(memory: Memory, text: str) -> set[str]:
    return {hit.target.id for hit in memory.search(text.split(maxsplit=1)[0])}
