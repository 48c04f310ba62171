"""A LangChain chat history that lasts, with tool calls and all: after a restart it is there, and found by what was said in it.

    python -m examples.langchain_history

Needs `pip install ".[langchain]"`, and no model.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.messages import AIMessage, HumanMessage

from recollect import Memory
from recollect.doors.langchain import RecollectChatHistory


def main() -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        with Memory(file, user="ana", embedder="off") as memory:
            history = RecollectChatHistory("our-first-chat", memory)
            history.add_messages([HumanMessage("I drink green tea."), AIMessage("Good to know.")])
        with Memory(file, user="ana", embedder="off") as memory:
            print(RecollectChatHistory("our-first-chat", memory))
            print("found:", memory.search("which tea?").hits[0].content)


if __name__ == "__main__":
    main()
