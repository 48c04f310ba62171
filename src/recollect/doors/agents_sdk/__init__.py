"""The door for the OpenAI Agents SDK: memory tools for an agent, what to tell it about them, and a session that lasts.

    memory = AsyncMemory(user="ana")
    agent = Agent(name="helper", instructions=guided(memory, "You help Ana."), tools=memory_tools(memory))
    await Runner.run(agent, "Which package manager should I use?", session=RecollectSession("chat-1", memory))

Whose memory it is comes from whoever builds the agent, or from the context of the run; a model has no say in it.
"""

from recollect.doors.agents_sdk.session import RecollectSession
from recollect.doors.agents_sdk.tools import guided, memory_tools, query_memory_tool
from recollect.tools.holding import Held

__all__ = ["Held", "RecollectSession", "guided", "memory_tools", "query_memory_tool"]
