"""What every client does through Gatefold, and what must come back. `scenario.mjs` says the same in JavaScript."""

from __future__ import annotations

import base64
import json
import os
import time
from typing import Any

import anyio

DOMAINS = ["everything", "filesystem", "git", "memory", "reference", "results", "time"]
META_TOOLS = {
    "discover_tools": {"domain", "group", "query"},
    "get_tool_schema": {"tool_name", "tool_names"},
    "execute_tool": {"tool_name", "arguments"},
}
VERSIONS = {"handshake": "2025-11-25", "stateless": "2026-07-28"}
COMMITS = ["Plant the first tree", "Water the first tree"]

# Some clients cut what is longer.
TEXT_LIMIT_BYTES = 2048
# A first start finds no manifests on disk and five interpreters to launch.
FIRST_LISTING_LIMIT_S = 60
CANCEL_LIMIT_S = 5
LONG_OPERATION = "everything__trigger-long-running-operation"


class Scenario:
    """One client's way through the steps: its session, and what earlier steps learnt."""

    def __init__(self, session: Any, options: Any) -> None:
        self.session = session
        self.options = options
        self.tag = f"python-{os.getpid()}"
        self.tools: list[dict[str, Any]] = []

    async def ask(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The JSON that a meta-tool answers with."""
        return answer(await self.session.call(tool, arguments), is_error=False)

    async def ask_in_vain(self, tool: str, arguments: dict[str, Any]) -> str:
        """The `error` that a meta-tool answers with."""
        return answer(await self.session.call(tool, arguments), is_error=True)["error"]

    async def execute(self, tool: str, arguments: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """What the tool gave, out of its envelope, and the whole result."""
        call = {"tool_name": tool} if arguments is None else {"tool_name": tool, "arguments": arguments}
        reply = await self.session.call("execute_tool", call)
        envelope = answer(reply, is_error=False)
        equal(list(envelope), ["tool", "result"])
        equal(envelope["tool"], tool)
        return envelope["result"], reply

    async def execute_in_vain(self, tool: str, arguments: dict[str, Any]) -> str:
        reply = await self.session.call("execute_tool", {"tool_name": tool, "arguments": arguments})
        envelope = answer(reply, is_error=True)
        equal(envelope.get("tool"), tool)
        return envelope["error"]


async def era_is_agreed(scenario: Scenario) -> str:
    equal(scenario.session.protocol_version, VERSIONS[scenario.options.era])
    return scenario.session.protocol_version


async def instructions_are_given(scenario: Scenario) -> str:
    text = scenario.session.instructions or ""
    within(list(META_TOOLS) + DOMAINS, text)
    at_most(len(text.encode()), TEXT_LIMIT_BYTES)
    return f"{len(text.encode())} bytes"


async def only_meta_tools_are_listed(scenario: Scenario) -> str:
    scenario.tools = await scenario.session.list_tools()
    equal({tool["name"] for tool in scenario.tools}, set(META_TOOLS))
    equal(len(scenario.tools), len(META_TOOLS))
    for tool in scenario.tools:
        within(META_TOOLS[tool["name"]], tool["inputSchema"]["properties"])
        at_most(len(tool["description"].encode()), TEXT_LIMIT_BYTES)
        equal(tool["annotations"]["readOnlyHint"], tool["name"] != "execute_tool")
    within(DOMAINS, next(tool["description"] for tool in scenario.tools if tool["name"] == "discover_tools"))
    return ", ".join(tool["name"] for tool in scenario.tools)


async def domains_are_discovered(scenario: Scenario) -> str:
    found, waited = await first_listing(scenario)
    counts = {domain["name"]: domain["tool_count"] for domain in found["domains"]}
    equal(sorted(counts), DOMAINS)
    equal(found["total_tools"], sum(counts.values()))
    assert all(domain["groups"] for domain in found["domains"]), f"a domain without groups: {found}"
    return f"{found['total_tools']} tools after {waited:.1f} s"


async def first_listing(scenario: Scenario) -> tuple[dict[str, Any], float]:
    """The domains, once each has its tools, and the seconds that took."""
    since = time.monotonic()
    while True:
        found = await scenario.ask("discover_tools", {})
        counts = {domain["name"]: domain["tool_count"] for domain in found["domains"]}
        waited = time.monotonic() - since
        if all(counts.values()):
            return found, waited
        assert waited <= FIRST_LISTING_LIMIT_S, f"after {waited:.0f} s still no tools: {counts}"
        await anyio.sleep(0.2)


async def domain_is_browsed(scenario: Scenario) -> str:
    found = await scenario.ask("discover_tools", {"domain": "filesystem"})
    equal(found["domain"], "filesystem")
    names = [tool["name"] for tool in found["tools"]]
    within(["filesystem__read_text_file", "filesystem__write_file"], names)
    assert all(tool["group"] and tool["description"] for tool in found["tools"]), f"a bare tool: {found}"
    return f"{len(names)} tools"


async def group_is_browsed(scenario: Scenario) -> str:
    whole = await scenario.ask("discover_tools", {"domain": "git"})
    group = next(tool["group"] for tool in whole["tools"] if tool["name"] == "git_log")
    found = await scenario.ask("discover_tools", {"domain": "git", "group": group})
    equal((found["domain"], found["group"]), ("git", group))
    expected = [tool["name"] for tool in whole["tools"] if tool["group"] == group]
    equal([tool["name"] for tool in found["tools"]], expected)
    return f"{group}: {len(expected)} of {len(whole['tools'])} tools"


async def tools_are_searched(scenario: Scenario) -> str:
    firsts = []
    for query, wanted in [("convert time between timezones", "time__convert_time"), ("commit logs", "git_log")]:
        found = await scenario.ask("discover_tools", {"query": query})
        equal(found["query"], query)
        within([wanted], [tool["name"] for tool in found["results"]])
        assert all(tool["domain"] and tool["description"] for tool in found["results"]), f"a bare tool: {found}"
        firsts.append(found["results"][0]["name"])
    return ", ".join(firsts)


async def schema_is_given(scenario: Scenario) -> str:
    found = await scenario.ask("get_tool_schema", {"tool_name": "filesystem__write_file"})
    equal((found["name"], found["domain"]), ("filesystem__write_file", "filesystem"))
    within(["group", "description", "parameters", "output_schema"], found)
    equal(sorted(found["parameters"]["properties"]), ["content", "path"])
    equal(sorted(found["parameters"]["required"]), ["content", "path"])
    return ", ".join(found)


async def schemas_are_given_together(scenario: Scenario) -> str:
    wanted = ["memory__create_entities", "time__convert_time", "git_log"]
    found = await scenario.ask("get_tool_schema", {"tool_names": wanted})
    schemas = next((value for value in found.values() if isinstance(value, list)), [])
    equal([schema["name"] for schema in schemas], wanted)
    assert all(schema["parameters"]["properties"] for schema in schemas), f"a schema without properties: {found}"
    return ", ".join(wanted)


async def memory_keeps_an_entity(scenario: Scenario) -> str:
    entity = {"name": scenario.tag, "entityType": "client", "observations": ["writes", "reads \u2713"]}
    made, _ = await scenario.execute("memory__create_entities", {"entities": [entity]})
    within([scenario.tag], json.dumps(made))
    graph, reply = await scenario.execute("memory__read_graph")
    kept = next(known for known in graph["entities"] if known["name"] == scenario.tag)
    equal(kept["observations"], entity["observations"])
    within([kept], reply["structuredContent"]["entities"])
    return f"{len(graph['entities'])} entities"


async def file_is_written_and_read(scenario: Scenario) -> str:
    path = os.path.join(scenario.options.files, f"{scenario.tag}.txt")
    content = "one line\n\ttwo \u00fcml\u00e4uts, \u201cquotes\u201d and a \U0001f333\n"
    await scenario.execute("filesystem__write_file", {"path": path, "content": content})
    read, reply = await scenario.execute("filesystem__read_text_file", {"path": path})
    equal(read, content)
    equal(reply["structuredContent"]["content"], content)
    return f"{len(content.encode())} bytes"


async def history_is_read(scenario: Scenario) -> str:
    log, _ = await scenario.execute("git_log", {"repo_path": scenario.options.repository, "max_count": 5})
    within(COMMITS, log if isinstance(log, str) else json.dumps(log))
    return f"{len(COMMITS)} commits"


async def time_is_converted(scenario: Scenario) -> str:
    question = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    converted, reply = await scenario.execute("time__convert_time", question)
    equal(converted["time_difference"], "+9.0h")
    equal(reply["structuredContent"], converted)
    return converted["target"]["datetime"]


async def image_arrives_as_image(scenario: Scenario) -> str:
    _, reply = await scenario.execute("everything__get-tiny-image")
    images = [block for block in reply["content"] if block["type"] == "image"]
    equal(len(images), 1)
    equal(images[0]["mimeType"], "image/png")
    picture = base64.b64decode(images[0]["data"], validate=True)
    equal(picture[:8], b"\x89PNG\r\n\x1a\n")
    return f"{len(picture)} bytes of PNG"


async def upstream_error_is_told(scenario: Scenario) -> str:
    missing = os.path.join(scenario.options.files, "missing.txt")
    error = await scenario.execute_in_vain("filesystem__read_text_file", {"path": missing})
    within(["ENOENT"], error)
    await scenario.execute_in_vain("everything__get-sum", {"a": "a word", "b": 2})
    return error


async def unknown_tool_is_suggested_for(scenario: Scenario) -> str:
    for meta_tool in ["get_tool_schema", "execute_tool"]:
        error = await scenario.ask_in_vain(meta_tool, {"tool_name": "memory__read_grph"})
        within(["memory__read_grph", "memory__read_graph"], error)
    return error


async def unknown_domain_is_mended(scenario: Scenario) -> str:
    within(DOMAINS, await scenario.ask_in_vain("discover_tools", {"domain": "gitt"}))
    error = await scenario.ask_in_vain("discover_tools", {"domain": "git", "group": "no such group"})
    whole = await scenario.ask("discover_tools", {"domain": "git"})
    within({tool["group"] for tool in whole["tools"]}, error)
    return error


async def calls_run_side_by_side(scenario: Scenario) -> str:
    answers: dict[str, Any] = {}

    async def echo(message: str) -> None:
        answers[message], _ = await scenario.execute("everything__echo", {"message": message})

    async def ask_the_time(zone: str) -> None:
        answers[zone] = (await scenario.execute("time__get_current_time", {"timezone": zone}))[0]["timezone"]

    async def status() -> None:
        answers["status"], _ = await scenario.execute("git_status", {"repo_path": scenario.options.repository})

    messages = [f"{scenario.tag} {number}" for number in range(16)]
    zones = ["UTC", "Asia/Tokyo", "Europe/Berlin", "America/Lima"]
    async with anyio.create_task_group() as tasks:
        for message in messages:
            tasks.start_soon(echo, message)
        for zone in zones:
            tasks.start_soon(ask_the_time, zone)
        tasks.start_soon(status)
    for message in messages:
        equal(answers[message], f"Echo: {message}")
    for zone in zones:
        equal(answers[zone], zone)
    within(["main"], answers["status"])
    return f"{len(answers)} calls"


async def progress_arrives(scenario: Scenario) -> str:
    seen: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, _message: str | None) -> None:
        seen.append((done, total))

    call = {"tool_name": LONG_OPERATION, "arguments": {"duration": 2, "steps": 4}}
    answer(await scenario.session.call("execute_tool", call, progress), is_error=False)
    equal(seen, [(step, 4) for step in (1, 2, 3, 4)])
    return f"{len(seen)} notifications"


async def call_is_cancelled(scenario: Scenario) -> str:
    """Cancels a call that has begun, and then asks the same upstream for something else."""
    begun = anyio.Event()
    told_before = len(cancellations(scenario.options.tap))

    async def progress(_done: float, _total: float | None, _message: str | None) -> None:
        begun.set()

    call = {"tool_name": LONG_OPERATION, "arguments": {"duration": 20, "steps": 40}}
    left_s = await scenario.session.call_until(begun, "execute_tool", call, progress)
    since = time.monotonic()
    result, _ = await scenario.execute("everything__echo", {"message": "still there"})
    equal(result, "Echo: still there")
    at_most(left_s, CANCEL_LIMIT_S)
    at_most(time.monotonic() - since, CANCEL_LIMIT_S)
    while len(cancellations(scenario.options.tap)) == told_before:
        assert time.monotonic() - since < CANCEL_LIMIT_S, "the upstream was never told of the cancellation"
        await anyio.sleep(0.1)
    return f"left after {left_s * 1000:.0f} ms"


def cancellations(tap: str) -> list[Any]:
    """The ids that server-everything was told to cancel, each of which it must have been asked before."""
    with open(tap, encoding="utf-8") as lines:
        messages = [json.loads(line) for line in lines if line.endswith("\n")]
    asked = [message.get("id") for message in messages if message.get("method") == "tools/call"]
    told = [
        message["params"]["requestId"] for message in messages if message.get("method") == "notifications/cancelled"
    ]
    within(told, asked)
    return told


def answer(reply: dict[str, Any], *, is_error: bool) -> dict[str, Any]:
    first = reply["content"][0]
    equal(first["type"], "text")
    assert bool(reply.get("isError")) == is_error, f"isError is not {is_error}: {first['text'][:400]}"
    try:
        return json.loads(first["text"])
    except ValueError:
        raise AssertionError(f"not JSON: {first['text'][:400]}") from None


def equal(found: Any, wanted: Any) -> None:
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"


def within(wanted: Any, found: Any) -> None:
    missing = [item for item in wanted if item not in found]
    assert not missing, f"missing {missing!r} in {str(found)[:400]}"


def at_most(found: float, limit: float) -> None:
    assert found <= limit, f"found {found}, at most {limit}"


STEPS = [
    era_is_agreed,
    instructions_are_given,
    only_meta_tools_are_listed,
    domains_are_discovered,
    domain_is_browsed,
    group_is_browsed,
    tools_are_searched,
    schema_is_given,
    schemas_are_given_together,
    memory_keeps_an_entity,
    file_is_written_and_read,
    history_is_read,
    time_is_converted,
    image_arrives_as_image,
    upstream_error_is_told,
    unknown_tool_is_suggested_for,
    unknown_domain_is_mended,
    calls_run_side_by_side,
    progress_arrives,
    call_is_cancelled,
]
