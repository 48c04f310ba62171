"""What a desktop client does with `mcp_config.json`: start the server named in it, look at its tools, and use two of them.

    python -m examples.mcp_client

Needs `pip install ".[mcp]"`. To give a desktop assistant this memory, put what `mcp_config.json` says into its own
configuration, with your name in place of ana's.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp import Client, StdioServerParameters

CONFIG = Path(__file__).with_name("mcp_config.json")


async def main() -> None:
    named = json.loads(CONFIG.read_text())["mcpServers"]["recollect"]
    beside = Path(sys.executable).with_name(named["command"])  # as installed here, whatever the PATH says
    with TemporaryDirectory() as folder:
        environment = {**named["env"], "RECOLLECT_DATA_DIR": folder, "RECOLLECT_EMBEDDER": "off"}
        server = StdioServerParameters(command=str(beside), args=named["args"], env=environment)
        async with Client(server) as client:
            print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
            await client.call_tool("memory_add", {"type": "preference", "content": "Prefers uv over pip"})
            answer = await client.call_tool("query_memory", {"query": "uv or pip"})
            print("answer:", answer.structured_content["memories"][0]["content"])
            print("resources:", ", ".join(each.uri for each in (await client.list_resources()).resources))


if __name__ == "__main__":
    asyncio.run(main())
