"""Starts Gatefold as a client's configuration says, and makes a first call with the official SDK.

    first_call.py CONFIG

CONFIG is a file with `mcpServers`. Prints what a model would see and what the call gives. The
process's whole environment is handed on, as clients do that are started from a shell.
"""

from __future__ import annotations

import json
import os
import sys

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

LIMIT_S = 60


async def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        entry = json.load(file)["mcpServers"]["gatefold"]
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=dict(os.environ))
    with anyio.fail_after(LIMIT_S):
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            print("tools:", ", ".join(tool.name for tool in tools))
            found = await call(session, "discover_tools", {"query": "echo back a message"})
            print("found:", json.loads(found)["results"][0]["name"])
            print("called:", await execute(session, "everything__echo", {"message": "hello"}))
            environment = json.loads(await execute(session, "everything__get-env", {}))
            print("the server has its token:", environment.get("TICKETS_TOKEN") == "not-a-real-token")


async def execute(session: ClientSession, name: str, arguments: dict[str, object]) -> str:
    answer = await call(session, "execute_tool", {"tool_name": name, "arguments": arguments})
    result = json.loads(answer)["result"]
    return result if isinstance(result, str) else json.dumps(result)


async def call(session: ClientSession, name: str, arguments: dict[str, object]) -> str:
    answer = await session.call_tool(name, arguments)
    text = answer.content[0].text
    if getattr(answer, "isError", False):
        sys.exit(text)
    return text


anyio.run(main, sys.argv[1])
