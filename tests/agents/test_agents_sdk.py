"""Agents of the real SDK, with a model that follows a script, over both of its APIs: what they are told, ask and are answered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from agents import Agent, Model, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner
from openai import AsyncOpenAI

from examples.scripted_model import ScriptedModel, ToolCall
from recollect import AsyncMemory
from recollect.doors.agents_sdk import Held, RecollectSession, guided, memory_tools, query_memory_tool
from recollect.policy.budget import count_tokens
from recollect.tools import GUIDANCE, TOOLS

QUIET = RunConfig(tracing_disabled=True)
ASK = ToolCall("query_memory", {"query": "uv or pip package manager"})


@dataclass
class Person:
    user_id: str


@pytest.fixture(params=[OpenAIChatCompletionsModel, OpenAIResponsesModel], ids=["completions", "responses"])
async def brain(request: pytest.FixtureRequest, model: ScriptedModel) -> AsyncIterator[Model]:
    async with AsyncOpenAI(base_url=model.url, api_key="none", max_retries=0) as client:
        yield request.param(model="scripted", openai_client=client)


def outputs(asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the tools answered, as the model was told."""
    if "messages" in asked:
        return [json.loads(each["content"]) for each in asked["messages"] if each["role"] == "tool"]
    return [json.loads(each["output"]) for each in asked["input"] if each.get("type") == "function_call_output"]


def functions(asked: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The tools a model was offered, by name."""
    return {each["name"]: each for each in (tool.get("function", tool) for tool in asked["tools"])}


async def test_an_agent_asks_its_memory_and_is_answered(
    memory: AsyncMemory, model: ScriptedModel, brain: Model
) -> None:
    await memory.add("User prefers uv over pip for Python dependency management", type="preference")
    model.script = [ASK, lambda asked: f"You told me: {outputs(asked)[0]['memories'][0]['content']}"]
    agent = Agent(name="helper", model=brain, tools=[query_memory_tool(memory)])
    result = await Runner.run(agent, "Which package manager should I use?", run_config=QUIET)
    assert result.final_output == "You told me: User prefers uv over pip for Python dependency management"
    (answer,) = outputs(model.asked[1])
    assert answer.keys() == {"memories", "metadata"}
    assert answer["memories"][0].keys() == {"content", "type", "relevance", "context"}
    assert answer["metadata"] == {"count": 1, "truncated": False}


async def test_the_model_is_offered_the_tools_as_they_are_written(
    memory: AsyncMemory, model: ScriptedModel, brain: Model
) -> None:
    agent = Agent(name="helper", model=brain, tools=list(memory_tools(memory)))
    await Runner.run(agent, "Hello", run_config=QUIET)
    offered = functions(model.asked[0])
    assert offered.keys() == {tool.function_name for tool in TOOLS}
    for tool in TOOLS:
        described = tool.for_openai()["function"]
        assert {key: offered[tool.function_name][key] for key in described} == described
        assert not offered[tool.function_name].get("strict")
    assert {each.name for each in memory_tools(memory, reads_only=True)} == {
        "memory_search",
        "memory_get",
        "memory_list_themes",
        "query_memory",
    }


async def test_an_agent_stores_corrects_and_forgets(memory: AsyncMemory, model: ScriptedModel, brain: Model) -> None:
    model.script = [ToolCall("memory_add", {"type": "fact", "content": "Lives in Porto", "theme": "Home"}), "Noted."]
    agent = Agent(name="helper", model=brain, tools=list(memory_tools(memory)))
    await Runner.run(agent, "I live in Porto", run_config=QUIET)
    (stored,) = await memory.list()
    assert (stored.content, stored.theme) == ("Lives in Porto", "home")
    model.script = [
        ToolCall("memory_update", {"item_id": stored.id, "content": "Lives in Lisbon"}),
        ToolCall("memory_delete", {"item_id": stored.id}),
        ToolCall("memory_get", {"item_id": stored.id}),
        "Gone.",
    ]
    await Runner.run(agent, "I moved. No, forget it.", run_config=QUIET)
    changed, deleted, missing = outputs(model.asked[-1])
    assert changed["content"] == "Lives in Lisbon"
    assert deleted == {"id": stored.id, "deleted": True}
    assert missing["error"]["code"] == "not_found"
    assert len(await memory.list()) == 0


async def test_who_asks_comes_from_the_run_and_not_from_the_model(
    memory: AsyncMemory, model: ScriptedModel, brain: Model
) -> None:
    await memory.add("User prefers uv over pip as package manager")
    await (await memory.at(user="eva")).add("User prefers pip as package manager, never uv")
    tools = memory_tools(lambda run: memory.at(user=run.context.user_id))
    agent = Agent[Person](name="helper", model=brain, tools=list(tools))
    for user, word in (("ana", "over pip"), ("eva", "never uv")):
        model.script = [ASK, "Done."]
        await Runner.run(agent, "Which one?", context=Person(user), run_config=QUIET)
        (answer,) = outputs(model.asked[-1])
        assert [word in each["content"] for each in answer["memories"]] == [True]
    model.script = [ToolCall("query_memory", {"query": "uv or pip", "user_id": "ana"}), "Done."]
    await Runner.run(agent, "Which one?", context=Person("eva"), run_config=QUIET)
    (answer,) = outputs(model.asked[-1])
    assert answer["memories"] == []
    assert answer["error"] is True
    assert "user_id" in answer["message"]


@pytest.mark.parametrize("arguments", ['{"query": ', "[]", '{"query": 7}', "", '{"types": ["fact"]}'])
async def test_wrong_arguments_are_told_and_the_run_goes_on(
    memory: AsyncMemory, model: ScriptedModel, brain: Model, arguments: str
) -> None:
    model.script = [ToolCall("query_memory", arguments), "I go on."]
    agent = Agent(name="helper", model=brain, tools=[query_memory_tool(memory)])
    assert (await Runner.run(agent, "?", run_config=QUIET)).final_output == "I go on."
    told = json.dumps(model.asked[-1], ensure_ascii=False)
    assert "error" in told or "Invalid" in told


async def test_a_failed_retrieval_is_an_empty_answer_with_an_error_flag(
    memory: AsyncMemory, model: ScriptedModel, brain: Model
) -> None:
    await memory.add("User prefers uv over pip")
    agent = Agent(name="helper", model=brain, tools=[query_memory_tool(memory)], instructions=guided(memory, "Help."))
    await (await memory._open()).engine.store.close()
    model.script = [ASK, "I go on without."]
    assert (await Runner.run(agent, "Which one?", run_config=QUIET)).final_output == "I go on without."
    (answer,) = outputs(model.asked[-1])
    assert (answer["memories"], answer["error"]) == ([], True)
    assert answer["metadata"] == {"count": 0, "truncated": False}


async def test_a_memory_that_is_closed_is_a_failed_retrieval_too(
    memory: AsyncMemory, model: ScriptedModel, brain: Model
) -> None:
    await memory.close()
    model.script = [ASK, "I go on without."]
    agent = Agent(name="helper", model=brain, tools=[query_memory_tool(memory)])
    await Runner.run(agent, "Which one?", run_config=QUIET)
    (answer,) = outputs(model.asked[-1])
    assert (answer["memories"], answer["error"]) == ([], True)


async def test_an_answer_keeps_to_the_budget(memory: AsyncMemory, model: ScriptedModel, brain: Model) -> None:
    for number in range(8):
        await memory.add(f"Note {number} on the package manager: {'uv and pip and conda ' * 60}{number}")
    model.script = [ASK, "Thanks."]
    agent = Agent(name="helper", model=brain, tools=[query_memory_tool(memory)])
    await Runner.run(agent, "Which one?", run_config=QUIET)
    (answer,) = outputs(model.asked[-1])
    assert answer["metadata"]["truncated"] is True
    assert count_tokens(json.dumps(answer, ensure_ascii=False)) <= 1000


async def test_an_agent_is_told_how_to_ask_and_never_what_is_known(
    memory: AsyncMemory, model: ScriptedModel, brain: Model
) -> None:
    await memory.add("The canary sings at noon", theme="Birds")
    agent = Agent(name="helper", model=brain, tools=[], instructions=guided(memory, "You help Ana."))
    await Runner.run(agent, "Hello", run_config=QUIET)
    asked = model.asked[0]
    told = asked["instructions"] if "instructions" in asked else asked["messages"][0]["content"]
    assert told.startswith(f"You help Ana.\n\n{GUIDANCE}")
    assert "birds" in told
    assert "memory_search" in told, "by the name that it has here"
    assert "canary" not in json.dumps(asked)


async def test_in_an_incognito_session_the_tools_know_nothing(
    memory: AsyncMemory, model: ScriptedModel, brain: Model
) -> None:
    await memory.add("User prefers uv over pip as package manager")
    engine = (await memory._open()).engine
    await engine.start_incognito(memory.scope, "hidden")
    tools = memory_tools(Held(engine, memory.scope), session_id="hidden")
    model.script = [ASK, ToolCall("memory_add", {"type": "fact", "content": "Lives in Porto"}), "Done."]
    await Runner.run(Agent(name="helper", model=brain, tools=list(tools)), "?", run_config=QUIET)
    found, added = outputs(model.asked[-1])
    assert found["memories"] == []
    assert added["status"]["reason"] == "incognito"


async def test_a_conversation_goes_on_with_its_session(memory: AsyncMemory, model: ScriptedModel, brain: Model) -> None:
    await memory.add("User prefers uv over pip as package manager")
    agent = Agent(name="helper", model=brain, tools=[query_memory_tool(memory)])
    model.script = [ASK, "Use uv."]
    await Runner.run(agent, "Which one?", session=RecollectSession("chat", memory), run_config=QUIET)
    model.script = ["Because you said so."]
    await Runner.run(agent, "Why?", session=RecollectSession("chat", memory), run_config=QUIET)
    told = json.dumps(model.asked[-1])
    assert told.index("Which one?") < told.index("call_") < told.index("Use uv.") < told.index("Why?")
    items = await RecollectSession("chat", memory).get_items()
    assert [each.get("type") or each.get("role") for each in items] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
        "user",
        "message",
    ]
    assert [hit.content for hit in await memory.search("Which one?", kinds=["message"])][:1] == ["Which one?"]


async def test_a_streamed_conversation_is_kept_as_it_was_said(memory: AsyncMemory, model: ScriptedModel) -> None:
    await memory.add("User prefers uv over pip as package manager")
    session = RecollectSession("chat", memory)
    async with AsyncOpenAI(base_url=model.url, api_key="none", max_retries=0) as client:
        brain = OpenAIChatCompletionsModel(model="scripted", openai_client=client)
        agent = Agent(name="helper", model=brain, tools=[query_memory_tool(memory)])
        model.script = [ASK, "Use uv, as you said."]
        streamed = Runner.run_streamed(agent, "Which one?", session=session, run_config=QUIET)
        events = [event async for event in streamed.stream_events()]
    assert len(events) > 5
    assert streamed.final_output == "Use uv, as you said."
    assert outputs(model.asked[-1])[0]["metadata"]["count"] == 1
    kinds = [each.get("type") or each.get("role") for each in await session.get_items()]
    assert kinds == ["user", "function_call", "function_call_output", "message"]
