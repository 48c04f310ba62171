"""A conversation with an agent that outlives the process: the SDK's session, kept as one of our conversations.

    python -m examples.agents_sdk_session

Needs `pip install ".[agents]"`. Each half opens the memory anew, as after a restart. The model is a script
(`scripted_model.py`); give the client another `base_url` and it is a real one.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
from openai import AsyncOpenAI

from examples.scripted_model import ScriptedModel
from recollect import AsyncMemory
from recollect.doors.agents_sdk import RecollectSession


async def say(words: str, file: Path, script: ScriptedModel) -> str:
    async with (
        AsyncMemory(file, user="ana", embedder="off") as memory,
        AsyncOpenAI(base_url=script.url, api_key="-") as client,
    ):
        agent = Agent(name="helper", model=OpenAIChatCompletionsModel(model="any", openai_client=client))
        session = RecollectSession("our-first-chat", memory)
        result = await Runner.run(agent, words, session=session, run_config=RunConfig(tracing_disabled=True))
        return str(result.final_output)


async def main() -> None:
    answers = (
        "Nice to meet you, Ana.",
        lambda asked: f"I was told {len(asked['messages'])} things, the first: {asked['messages'][0]['content']}",
    )
    with TemporaryDirectory() as folder, ScriptedModel(*answers).running() as script:
        file = Path(folder) / "memory.db"
        print(await say("My name is Ana.", file, script))
        print(await say("What is my name?", file, script))


if __name__ == "__main__":
    asyncio.run(main())
