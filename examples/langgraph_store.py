"""A LangGraph graph whose long-term store is a memory: what one run learns, the next one finds. No model is needed."""

from __future__ import annotations

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from recollect import Memory
from recollect.doors.langgraph import RecollectStore


class State(TypedDict):
    said: str
    answer: str


def helper(state: State, *, store: BaseStore) -> dict[str, str]:
    if state["said"].startswith("remember: "):
        fact = state["said"].removeprefix("remember: ")
        store.put(("facts", "ana"), f"fact-{len(store.search(('facts', 'ana')))}", {"text": fact})
        return {"answer": "noted"}
    found = store.search(("facts", "ana"), query=state["said"], limit=1)
    return {"answer": found[0].value["text"] if found else "I don't know"}


def main() -> None:
    with Memory("memory://", user="ana", embedder="off") as memory:
        builder = StateGraph(State)
        builder.add_node("helper", helper)
        builder.add_edge(START, "helper")
        builder.add_edge("helper", END)
        graph = builder.compile(store=RecollectStore(memory, only_relevant=True))
        for said in ("remember: the standup is at 9:30", "remember: the cat is called Miso", "what is the cat called?"):
            print(f"{said} -> {graph.invoke({'said': said, 'answer': ''})['answer']}")
        print("every other door finds it, too:", memory.search("when is standup?").hits[0].content)


if __name__ == "__main__":
    main()
