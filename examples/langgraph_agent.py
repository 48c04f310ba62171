"""A LangGraph agent with a long-term memory: it looks up what it knows, asks a model, and keeps what was said for the next run.

    python -m examples.langgraph_agent

Needs `pip install ".[langgraph]" openai`. The store of the graph is a memory, so whatever one run puts there is found by
the next one, by the page and by every other door. The model is a script here (`scripted_model.py`); give the client another
`base_url` and it is a real one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from openai import OpenAI

from examples.scripted_model import ScriptedModel
from recollect import Memory
from recollect.doors.langgraph import RecollectStore

FACTS = ("facts", "ana")


class State(TypedDict, total=False):
    said: str
    known: list[str]
    answer: str


def recall(state: State, *, store: BaseStore) -> State:
    return {"known": [each.value["text"] for each in store.search(FACTS, query=state["said"], limit=3)]}


def keep(state: State, *, store: BaseStore) -> State:
    if not state["said"].endswith("?"):
        store.put(FACTS, f"fact-{len(store.search(FACTS))}", {"text": state["said"]})
    return {}


def answering(client: OpenAI) -> Any:
    def answer(state: State) -> State:
        known = "\n".join(state["known"])
        messages: Any = [
            {"role": "system", "content": f"What you know about this person:\n{known}"},
            {"role": "user", "content": state["said"]},
        ]
        reply = client.chat.completions.create(model="any", messages=messages)
        return {"answer": reply.choices[0].message.content or ""}

    return answer


def from_what_it_knows(asked: Mapping[str, Any]) -> str:
    """What a model would make of the prompt it got."""
    first_known = asked["messages"][0]["content"].splitlines()[1]
    return f"You told me: {first_known}"


def main() -> None:
    script = ScriptedModel("Noted.", "Noted, too.", from_what_it_knows)
    with script.running(), Memory("memory://", user="ana", embedder="off") as memory:
        builder = StateGraph(State)
        steps = {"recall": recall, "answer": answering(OpenAI(base_url=script.url, api_key="-")), "keep": keep}
        for name, step in steps.items():
            builder.add_node(name, step)
        for before, after in zip((START, *steps), (*steps, END), strict=True):
            builder.add_edge(before, after)
        graph = builder.compile(store=RecollectStore(memory, only_relevant=True))
        for said in ("The standup is at 9:30", "The cat is called Miso", "What is the cat called?"):
            print(f"{said} -> {graph.invoke({'said': said})['answer']}")
        print("every other door finds it, too:", memory.search("when is standup?").hits[0].content)


if __name__ == "__main__":
    main()
