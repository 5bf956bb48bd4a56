"""Runs the interop scenario through the official Python SDK that is installed, of either generation.

    client.py --transport http --era handshake --url URL [--tap FILE] [--repository DIR] [--files DIR]
    client.py --transport stdio --era stateless ... --command PROGRAM [ARGUMENT ...]

`--scenario gateway` and `--scenario source` try all of the protocol at the endpoint of that kind.
`--scenario demo-write` and `--scenario demo-read` take `--issue FILE` and go through `gatefold demo`.
Prints one line of JSON a step, `{"step", "ok", "detail"}`, and a last step `finished`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import anyio
import anyio.lowlevel
from demo import READ_STEPS, WRITE_STEPS
from features import GATEWAY_STEPS, MODEL, ROOT, SOURCE_STEPS, USER_NAME, Answers
from mcp import StdioServerParameters, types
from scenario import STEPS, Scenario

SDK_VERSION = version("mcp")
STEP_LIMIT_S = 90
RUN_LIMIT_S = 240
STATELESS_VERSION = "2026-07-28"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SCENARIOS = {
    "servers": STEPS,
    "gateway": GATEWAY_STEPS,
    "source": SOURCE_STEPS,
    "demo-write": WRITE_STEPS,
    "demo-read": READ_STEPS,
}
# Only these have a user, a model and roots: the others are clients that offer nothing.
SCENARIOS_WITH_ANSWERS = ["gateway", "source"]

Progress = Callable[[float, "float | None", "str | None"], Awaitable[None]]


class Generation:
    """What both generations have under the same names."""

    def __init__(self, client: Any, answers: Answers) -> None:
        self._client = client
        self.answers = answers

    async def list_tools(self) -> list[dict[str, Any]]:
        return [as_sent(tool) for tool in (await self._client.list_tools()).tools]

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        progress: Progress | None = None,
        meta: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        return as_sent(await self._client.call_tool(name, arguments, progress_callback=progress, meta=meta))

    async def prompts(self) -> list[dict[str, Any]]:
        return [as_sent(prompt) for prompt in (await self._client.list_prompts()).prompts]

    async def prompt(self, name: str, arguments: dict[str, str]) -> dict[str, Any]:
        return as_sent(await self._client.get_prompt(name, arguments))

    async def resources(self) -> list[dict[str, Any]]:
        return as_sent(await self._client.list_resources())["resources"]

    async def templates(self) -> list[dict[str, Any]]:
        return as_sent(await self._client.list_resource_templates())["resourceTemplates"]

    async def read(self, uri: str) -> dict[str, Any]:
        return as_sent(await self._client.read_resource(self.address(uri)))

    async def complete(self, reference: dict[str, str], argument: str, begun: str) -> list[str]:
        kinds = {"ref/prompt": types.PromptReference, "ref/resource": types.ResourceTemplateReference}
        asked = kinds[reference["type"]].model_validate(reference)
        completed = await self._client.complete(asked, {"name": argument, "value": begun})
        return completed.completion.values

    @asynccontextmanager
    async def watching(self, uri: str) -> AsyncIterator[None]:
        """Hears of changes, those of one resource among them."""
        await self._client.subscribe_resource(self.address(uri))
        yield
        await self._client.unsubscribe_resource(self.address(uri))

    @asynccontextmanager
    async def logging(self, level: str) -> AsyncIterator[dict[str, Any]]:
        """Hears the log from a level on, in calls with these options."""
        await self._client.set_logging_level(level)
        yield {}

    @staticmethod
    def address(uri: str) -> Any:
        return uri


class OldGeneration(Generation):
    """A session of `mcp` 1.x: the handshake era only, and no cancellation of its own."""

    def __init__(self, session: Any, opened: Any, answers: Answers) -> None:
        super().__init__(session, answers)
        self.protocol_version = opened.protocolVersion
        self.instructions = opened.instructions

    @classmethod
    @asynccontextmanager
    async def open(cls, options: argparse.Namespace) -> AsyncIterator[OldGeneration]:
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        streams = streamable_http_client(options.url) if options.url else stdio_client(child(options))
        answers = Answers()
        async with streams as (read, write, *_), ClientSession(read, write, **callbacks(options, answers)) as session:
            yield cls(session, await session.initialize(), answers)

    @staticmethod
    def address(uri: str) -> Any:
        return types.AnyUrl(uri)

    async def call_until(self, stop: anyio.Event, name: str, arguments: dict[str, Any], progress: Progress) -> float:
        # The next request takes this id. Leaving the scope would abandon the call without a word.
        request_id = self._client._request_id
        params = types.CancelledNotificationParams(requestId=request_id, reason="no longer wanted")
        notice = types.ClientNotification(types.CancelledNotification(params=params))
        return await run_until(
            stop, lambda: self.call(name, arguments, progress), lambda: self._client.send_notification(notice)
        )


class NewGeneration(Generation):
    """A client of `mcp` 2.x: both eras; leaving the scope of a call cancels it on the wire."""

    def __init__(self, client: Any, answers: Answers) -> None:
        super().__init__(client, answers)
        self.protocol_version = client.protocol_version
        self.instructions = client.instructions

    @classmethod
    @asynccontextmanager
    async def open(cls, options: argparse.Namespace, mode: str | None = None) -> AsyncIterator[NewGeneration]:
        from mcp import Client

        # `auto` asks `server/discover` first, as clients that speak both eras do.
        mode = mode or {"handshake": "legacy", "stateless": "auto"}[options.era]
        answers = Answers()
        async with Client(options.url or child(options), mode=mode, **callbacks(options, answers)) as client:
            yield cls(client, answers)

    @asynccontextmanager
    async def watching(self, uri: str) -> AsyncIterator[None]:
        if self.protocol_version != STATELESS_VERSION:
            async with super().watching(uri):
                yield
            return
        wanted = {f"{name}_list_changed": True for name in ["tools", "prompts", "resources"]}
        async with self._client.listen(**wanted, resource_subscriptions=[uri]):
            yield

    @asynccontextmanager
    async def logging(self, level: str) -> AsyncIterator[dict[str, Any]]:
        if self.protocol_version != STATELESS_VERSION:
            async with super().logging(level) as options:
                yield options
            return
        yield {"meta": {LOG_LEVEL: level}}

    async def call_until(self, stop: anyio.Event, name: str, arguments: dict[str, Any], progress: Progress) -> float:
        return await run_until(stop, lambda: self.call(name, arguments, progress), anyio.lowlevel.checkpoint)


async def run_until(stop: anyio.Event, call: Callable[[], Awaitable[Any]], tell: Callable[[], Awaitable[Any]]) -> float:
    """Starts `call`, leaves it when `stop` is set, and returns the seconds that leaving took."""
    ended_by_itself: list[Any] = []

    async def start(scope: anyio.CancelScope) -> None:
        with scope:
            try:
                ended_by_itself.append(await call())
            finally:
                stop.set()

    scope = anyio.CancelScope()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(start, scope)
        await stop.wait()
        since = time.monotonic()
        await tell()
        scope.cancel()
    assert not ended_by_itself, f"the call ended before it could be cancelled: {ended_by_itself[0]}"
    return time.monotonic() - since


def callbacks(options: argparse.Namespace, answers: Answers) -> dict[str, Any]:
    """What a client does when it is asked or told something."""
    if options.scenario not in SCENARIOS_WITH_ANSWERS:
        return {}

    async def elicit(_context: Any, params: Any) -> Any:
        answers.asked.append(params.message)
        # Whatever the form asks for, it is given the name.
        schema = as_sent(params)["requestedSchema"]
        content = {name: USER_NAME for name in schema["required"]} if answers.action == "accept" else None
        return types.ElicitResult(action=answers.action, content=content)

    async def sample(_context: Any, params: Any) -> Any:
        asked = params.messages[0].content.text
        answers.asked.append(asked)
        content = types.TextContent(type="text", text=f"You said: {asked}")
        return types.CreateMessageResult(role="assistant", content=content, model=MODEL)

    async def roots(_context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri=ROOT, name="root")])

    async def notice(message: Any) -> None:
        notification = getattr(message, "root", message)
        if hasattr(notification, "method"):
            answers.told.append(as_sent(notification))

    return {
        "elicitation_callback": elicit,
        "sampling_callback": sample,
        "list_roots_callback": roots,
        "message_handler": notice,
    }


def child(options: argparse.Namespace) -> StdioServerParameters:
    return StdioServerParameters(command=options.command[0], args=options.command[1:], env=dict(os.environ))


def as_sent(model: Any) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def run(options: argparse.Namespace) -> None:
    generation = OldGeneration if SDK_VERSION.startswith("1.") else NewGeneration
    steps = list(SCENARIOS[options.scenario])
    if steps == STEPS and generation is NewGeneration and options.era == "stateless":
        steps.append(first_request_is_not_discover)
    async with generation.open(options) as session:
        scenario = Scenario(session, options)
        for step in steps:
            await report(step, scenario)
    say("finished", True, f"mcp {SDK_VERSION}, protocol {session.protocol_version}")


async def first_request_is_not_discover(scenario: Scenario) -> str:
    """The stateless era has no opening: a client that knows the server may call at once."""
    async with NewGeneration.open(scenario.options, STATELESS_VERSION) as session:
        listed = await session.list_tools()
    assert listed == scenario.tools, "another list than the first client was shown"
    return f"{len(listed)} tools"


async def report(step: Callable[[Scenario], Awaitable[str]], scenario: Scenario) -> None:
    try:
        with anyio.fail_after(STEP_LIMIT_S):
            say(step.__name__, True, await step(scenario))
    except Exception as error:
        say(step.__name__, False, explain(error))


def explain(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, AssertionError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return f"{type(error).__name__}: {error}"


def say(step: str, ok: bool, detail: str) -> None:
    print(json.dumps({"step": step, "ok": ok, "detail": detail}, separators=(",", ":")), flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--transport", choices=["stdio", "http"], required=True)
    parser.add_argument("--era", choices=["handshake", "stateless"], required=True)
    parser.add_argument("--url")
    parser.add_argument("--scenario", choices=list(SCENARIOS), default="servers")
    parser.add_argument("--issue", help="the file that tells a later client of the issue")
    parser.add_argument("--tap", help="what server-everything was sent, one message a line")
    parser.add_argument("--repository", help="the repository that mcp-server-git serves")
    parser.add_argument("--files", help="the folder that server-filesystem serves")
    parser.add_argument("--command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if (options.transport == "http") != bool(options.url) or (options.transport == "stdio") != bool(options.command):
        parser.error("give --url with http and --command with stdio")
    return options


async def main() -> None:
    with anyio.fail_after(RUN_LIMIT_S):
        await run(parse())


if __name__ == "__main__":
    try:
        anyio.run(main)
    except Exception as error:
        say("connection", False, explain(error))
        sys.exit(1)
