"""Starts Gatefold as a client's configuration says, and makes a first call with the official SDK.

    first_call.py CONFIG

CONFIG is a file with `mcpServers`. Prints what a model would see and what the call gives. The
process's whole environment is handed on, as clients do that are started from a shell. Gatefold masks
the token in the server's answers, so whether the server has it is read from the system.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

LIMIT_S = 60
TOKEN = "not-a-real-token"


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
            if not server_has(TOKEN):
                sys.exit("the server does not have its token")
            print("the server has its token, and the model sees:", environment["TICKETS_TOKEN"])


def server_has(token: str) -> bool:
    """Whether the environment of a running `everything` server has the token."""
    entry = f"TICKETS_TOKEN={token}".encode()
    return any(entry in environment.split(b"\0") for environment in environments())


def environments() -> Iterator[bytes]:
    for process in Path("/proc").iterdir():
        try:
            if b"mcp-server-everything" in (process / "cmdline").read_bytes():
                yield (process / "environ").read_bytes()
        except OSError:
            continue  # It has ended, or is no process.


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
