"""An agent of the OpenAI Agents SDK that remembers: it stores a preference in one run and finds it in the next.

    python -m examples.agents_sdk_tools

Needs `pip install ".[agents]"`. The model is a script (`scripted_model.py`), and the memory lives in this process. Whose
memory an agent sees is said by the run's context, so one agent serves everybody.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
from openai import AsyncOpenAI

from examples.scripted_model import ScriptedModel, ToolCall
from recollect import AsyncMemory
from recollect.doors.agents_sdk import guided, memory_tools


@dataclass
class Visitor:
    user_id: str


def from_memory(asked: Mapping[str, Any]) -> str:
    """What a model would make of the tool's answer, which is the last message it got."""
    memories = json.loads(asked["messages"][-1]["content"])["memories"]
    return f"You told me: {memories[0]['content']}" if memories else "I know nothing about that."


SCRIPT = (
    ToolCall("memory_add", {"type": "preference", "content": "Prefers uv over pip", "theme": "Tooling"}),
    "Noted.",
    ToolCall("query_memory", {"query": "uv or pip"}),
    from_memory,
    ToolCall("query_memory", {"query": "uv or pip"}),
    from_memory,
)


async def main() -> None:
    with ScriptedModel(*SCRIPT).running() as script:
        async with (
            AsyncMemory("memory://", embedder="off") as memory,
            AsyncOpenAI(base_url=script.url, api_key="-") as client,
        ):
            # Whose memory it is: decided here, by the context of each run. No model has a say in it.
            whose = lambda run: memory.at(user=run.context.user_id)  # noqa: E731
            agent = Agent[Visitor](
                name="helper",
                instructions=guided(whose, "You help with Python projects."),
                tools=[*memory_tools(whose)],
                model=OpenAIChatCompletionsModel(model="any", openai_client=client),
            )
            for user, said in (
                ("ana", "I prefer uv over pip."),
                ("ana", "Which package manager should I use?"),
                ("eva", "Which package manager should I use?"),
            ):
                result = await Runner.run(
                    agent, said, context=Visitor(user), run_config=RunConfig(tracing_disabled=True)
                )
                print(f"{user}: {said}\n  -> {result.final_output}")


if __name__ == "__main__":
    asyncio.run(main())
