"""Every operation the server has, with a request that would store or find something if it were let.

`Walk` knows two words: one that was remembered before, and one that is said now. What an operation is for decides what it may do
while memory is silent.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from recollect.model import Scope, Use, WorkingMemory
from recollect.testing import ScriptedAnswerer
from tests.doors.serving import Served

BEFORE = "pelagicword"
NOW = "quixoticword"

TOLD = f"{BEFORE} albatross harbour lantern compass rigging anchor"
ASKED = f"{TOLD} {NOW}"
"""Near enough to what was told to find it, with a word that nobody has said before."""

Kind = Literal["write", "recall", "look", "control"]
"""`write` and `recall` never do anything while memory is off or the session incognito. `look` shows what is kept to its
owner, but not inside an incognito session. `control` is always open: forgetting, settings, taking one's data along."""


@dataclass(frozen=True)
class Known:
    """What was there before the walk."""

    memory: str
    repeat: str
    """Another telling of `memory`."""
    disputed: str
    """A memory of which it is open whether it replaces another one."""
    archived: str
    set_aside: str
    """Archived as well: what one operation brings back, another can't."""
    session: str = "before"
    user: str = "ana"


Body = Callable[[Known], dict[str, Any]]


@dataclass(frozen=True)
class Operation:
    kind: Kind
    method: str
    path: str
    json: Body | None = None
    params: dict[str, Any] = field(default_factory=dict)
    lines: Body | None = None
    of: Literal["memory", "disputed", "archived", "set_aside"] = "memory"
    """Which of the known memories `{id}` is."""
    removes: bool = False
    """It takes something away for good, so it comes when everything else has been tried."""

    def request(self, known: Known) -> dict[str, Any]:
        path = self.path
        names = {
            "id": getattr(known, self.of),
            "repeat_id": known.repeat,
            "session_id": known.session,
            "name": "default",
        }
        for name, value in names.items():
            path = path.replace("{" + name + "}", value)
        sent: dict[str, Any] = {"method": self.method, "url": path, "params": self.params}
        if self.json is not None:
            sent["json"] = self.json(known)
        if self.lines is not None:
            sent["content"] = json.dumps(self.lines(known))
            sent["headers"] = {"Content-Type": "application/x-ndjson"}
        return sent


async def prepared(served: Served, user: str = "ana") -> Known:
    """Memories, a conversation and a session, all of which hold the word of before, with their vectors."""
    person, scope = served.client(user), Scope("default", user)

    async def told(text: str, **fields: Any) -> dict[str, Any]:
        answer = await person.post("/v1/memories", json={"text": text, **fields})
        assert answer.is_success, answer.text
        receipt: dict[str, Any] = answer.json()
        return receipt

    memory = (await told(TOLD, theme=BEFORE, tags=[BEFORE]))["id"]
    repeat = (await told(TOLD.replace(" ", "  ")))["repeat"]
    await told(f"I like {BEFORE}")
    disputed = (await told("I like tea"))["id"]
    archived = [(await told(f"{BEFORE} in box {number}"))["id"] for number in range(2)]
    for id in archived:
        assert (await person.post(f"/v1/memories/{id}/archive")).status_code == 200
    known = Known(memory, repeat, disputed, *archived)
    turns = {"messages": [{"content": f"{BEFORE} in a conversation"}, {"role": "assistant", "content": "Noted [m1]."}]}
    answer = await person.post(f"/v1/conversations/{known.session}/messages", json=turns)
    assert answer.status_code == 201
    served.engine.desk.answerer = ScriptedAnswerer()
    question = {"question": f"How many {TOLD}?", "session_id": known.session}
    assert (await person.post("/memoryChat", json=question)).status_code == 200
    at = served.engine.clock.now()
    working = WorkingMemory(session_id=known.session, current_topic=BEFORE, created_at=at, updated_at=at)
    await served.engine.store.write(scope, lambda tx: tx.space.save_working(working))
    use = Use(memory_id=memory, message_id=answer.json()["ids"][1], reference="m1", cited=True, at=at)
    await served.engine.store.write(scope, lambda tx: tx.links.use([use]))
    await served.engine.flush(scope, 120)
    return known


def _says(**fields: Any) -> Body:
    return lambda _: fields


def _about(name: str, **fields: Any) -> Body:
    return lambda known: {name: known.memory, **fields}


MEMORY_LINE = {
    "kind": "memory",
    "id": "brought-along",
    "content": f"{NOW} was brought along",
    "created_at": "2026-01-01T00:00:00+00:00",
    "updated_at": "2026-01-01T00:00:00+00:00",
}

OPERATIONS: tuple[Operation, ...] = (
    # native: memories
    Operation("write", "POST", "/v1/memories", _says(text=f"{NOW} through the native door", tags=[NOW], theme=NOW)),
    Operation("look", "GET", "/v1/memories"),
    Operation("recall", "POST", "/v1/memories/search", _says(query=ASKED)),
    Operation("recall", "POST", "/v1/memories/context", _says(query=ASKED)),
    Operation("look", "GET", "/v1/memories/{id}"),
    Operation("look", "GET", "/v1/memories/{id}/why"),
    Operation("look", "GET", "/v1/memories/conflicts"),
    Operation("write", "POST", "/v1/memories/{id}/resolve", _says(keep="both"), of="disputed"),
    Operation("look", "GET", "/v1/memories/{id}/repeats"),
    Operation("write", "POST", "/v1/memories/{id}/repeats/{repeat_id}/undo"),
    Operation("write", "POST", "/v1/memories/{id}/archive", of="disputed"),
    Operation("write", "POST", "/v1/memories/{id}/restore", of="archived"),
    Operation("write", "PATCH", "/v1/memories/{id}", _says(text=f"{NOW} instead")),
    Operation("write", "POST", "/v1/memories/{id}/pin"),
    Operation("write", "DELETE", "/v1/memories/{id}/pin"),
    Operation("look", "GET", "/v1/themes"),
    Operation("control", "DELETE", "/v1/memories/{id}", removes=True),
    Operation("control", "POST", "/v1/memories/forget", lambda known: {"ids": [known.memory]}, removes=True),
    Operation("control", "POST", "/v1/memories/clear", _says(confirm="default"), removes=True),
    # native: conversations
    Operation("look", "GET", "/v1/conversations"),
    Operation("look", "GET", "/v1/conversations/{session_id}"),
    Operation("look", "GET", "/v1/uses", params={"session_id": "before"}),
    Operation(
        "write", "POST", "/v1/conversations/{session_id}/messages", _says(messages=[{"content": f"{NOW} was said"}])
    ),
    Operation("control", "DELETE", "/v1/conversations/{session_id}", removes=True),
    # native: what belongs to the caller
    Operation("write", "POST", "/v1/import", lines=lambda _: MEMORY_LINE),
    Operation("control", "GET", "/v1/export"),
    Operation("control", "GET", "/v1/me"),
    Operation("control", "GET", "/v1/health"),
    Operation("control", "DELETE", "/v1/me", lambda known: {"confirm": known.user}, removes=True),
    Operation("control", "GET", "/v1/spaces"),
    Operation("control", "GET", "/v1/spaces/{name}/settings"),
    Operation("control", "PATCH", "/v1/spaces/{name}/settings", _says(soft_cap=150)),
    Operation("control", "GET", "/v1/audit"),
    # companion
    Operation("look", "GET", "/v1/memory/summary"),
    Operation("look", "GET", "/v1/memory/entries"),
    Operation("write", "POST", "/v1/memory/entries", _says(text=f"{NOW} through the companion", tags=[NOW])),
    Operation("write", "POST", "/v1/memory/entries/{id}/pin"),
    Operation("write", "DELETE", "/v1/memory/entries/{id}/pin"),
    Operation("write", "POST", "/v1/memory/entries/{id}/restore", of="set_aside"),
    Operation("control", "DELETE", "/v1/memory/entries/{id}", removes=True),
    Operation("control", "GET", "/v1/memory/settings"),
    Operation("control", "POST", "/v1/memory/settings", _says(soft_cap=160)),
    Operation("control", "POST", "/v1/memory/incognito/start", _says(session_id="another")),
    Operation("control", "POST", "/v1/memory/incognito/end", _says(session_id="another")),
    # long-term
    Operation("look", "GET", "/memory/long-term"),
    Operation("look", "GET", "/memory/long-term/{id}"),
    Operation("look", "GET", "/memory/working/{session_id}"),
    Operation("control", "DELETE", "/memory/long-term/{id}", removes=True),
    Operation("control", "DELETE", "/memory/long-term", removes=True),
    # recall
    Operation("recall", "POST", "/v1/recall", _says(query=ASKED, min_score=0.0)),
    # chat
    Operation("recall", "POST", "/v1/chat", _says(message=ASKED)),
    # data chat
    Operation("recall", "POST", "/memoryChat", _says(question=ASKED)),
    Operation("look", "GET", "/memoryChat/conversations"),
    Operation("look", "GET", "/memoryChat/conversations/{session_id}"),
    Operation("control", "GET", "/memoryChat/export"),
    Operation("control", "DELETE", "/memoryChat/conversations/{session_id}", removes=True),
    Operation("control", "DELETE", "/memoryChat/memory", lambda known: {"confirm": known.user}, removes=True),
    # agents
    Operation("recall", "POST", "/v1/tools/memory.search", _says(query=ASKED)),
    Operation("recall", "POST", "/v1/tools/query_memory", _says(query=ASKED)),
    Operation("write", "POST", "/v1/tools/memory.add", _says(type="fact", content=f"{NOW} through a tool", theme=NOW)),
    Operation("look", "POST", "/v1/tools/memory.get", _about("item_id")),
    Operation("write", "POST", "/v1/tools/memory.update", _about("item_id", content=f"{NOW} by a tool")),
    Operation("look", "POST", "/v1/tools/memory.list_themes", _says()),
    Operation("control", "POST", "/v1/tools/memory.delete", _about("item_id"), removes=True),
    Operation("look", "GET", "/v1/items"),
    Operation("control", "GET", "/v1/tools"),
    Operation("look", "GET", "/v1/tools/prompt"),
    # for administrators, and for whoever keeps the server running: no memory of anyone's
    Operation("control", "GET", "/v1/embedding-provider"),
    Operation("control", "PUT", "/v1/embedding-provider", _says(provider_type="local")),
    Operation("control", "DELETE", "/v1/embedding-provider"),
    Operation("control", "GET", "/healthz"),
    Operation("control", "GET", "/readyz"),
    Operation("control", "GET", "/metrics"),
    Operation("control", "GET", "/v1/operations"),
)
