"""Requests through openai-agents: `peer.py PORT TOOLS WORDS [COUNT]`, where TOOLS is `function`, `mcp` or `agents`, and COUNT
is how many are made at once (1)."""

import asyncio
import sys
import time

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent


@function_tool
def echo(text: str) -> str:
    """Give a text back."""
    return text


async def run(agent, words):
    if not words.startswith("deltas"):
        return (await Runner.run(agent, words, max_turns=100)).final_output
    lateness = []
    streamed = Runner.run_streamed(agent, words)
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
            lateness.append(time.time_ns() - int(event.data.delta.strip("<>\n")))
    return " ".join(map(str, lateness))


async def main():
    port, tools, words, *count = sys.argv[1:]
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none")
    model = OpenAIChatCompletionsModel(model="scripted", openai_client=client)
    if tools == "mcp":
        async with MCPServerStreamableHttp(params={"url": f"http://127.0.0.1:{port}/mcp"}, cache_tools_list=True) as server:
            return await run_at_once(lambda: Agent(name="bench", model=model, mcp_servers=[server]), words, *count)
    worker = Agent(name="worker", model=model)
    delegate = worker.as_tool(tool_name="worker", tool_description="Has a worker do a task.")
    own = [delegate] if tools == "agents" else [echo]
    await run_at_once(lambda: Agent(name="bench", model=model, tools=own), words, *count)


async def run_at_once(new_agent, words, count="1"):
    print(*await asyncio.gather(*(run(new_agent(), words) for _ in range(int(count)))))


asyncio.run(main())
