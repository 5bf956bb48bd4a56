"""What clients do with a server that has all of the protocol. `features.mjs` says the same in JavaScript.

The server is the reference server, seen through either endpoint; at the gateway's, server-everything too.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import anyio
from scenario import META_TOOLS, Scenario, equal, era_is_agreed, first_listing, within

NOTICE_LIMIT_S = 20
# For so long after one client took a request back, a shared server's questions are nobody's.
DOUBT_S = 2
# `matrix_wait` does not say when it begins to wait.
BEGIN_S = 0.5
USER_NAME = "Ada \u2713"
MODEL = "interop-model"
ROOT = "file:///interop/root"
WATCHED = "test://watched-resource"
STATIC_TEXT = "This is the content of the static text resource."
LEVELS = ["warning", "error", "critical", "alert", "emergency"]
PROMPTS = ["test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource"]
RESOURCES = ["test://static-text", "test://static-binary", WATCHED, "user://asking"]
LISTS = ["prompts", "resources"]


class Answers:
    """What the user and the model behind a client say, and what they were asked and told."""

    def __init__(self) -> None:
        self.action = "accept"
        self.asked: list[str] = []
        self.told: list[dict[str, Any]] = []

    def forget(self, action: str = "accept") -> None:
        self.action = action
        self.asked.clear()
        self.told.clear()

    def told_of(self, method: str) -> list[dict[str, Any]]:
        return [notice.get("params", {}) for notice in self.told if notice["method"] == f"notifications/{method}"]


class Face:
    """How one endpoint names what a source has: as the source does, or under its domain."""

    def __init__(self, scenario: Scenario, domain: str) -> None:
        self.session = scenario.session
        self.domain = domain
        self.is_gateway = scenario.options.scenario == "gateway"

    def prompt(self, name: str) -> str:
        return f"{self.domain}__{name}" if self.is_gateway else name

    def uri(self, uri: str) -> str:
        return f"gatefold://{self.domain}/{uri}" if self.is_gateway else uri

    def tool(self, name: str, arguments: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        if not self.is_gateway:
            return name, arguments or {}
        return "execute_tool", {"tool_name": f"{self.domain}__{name}", "arguments": arguments or {}}

    async def reply(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        return await self.session.call(*self.tool(name, arguments), **options)

    async def ask(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> str:
        """What a tool says."""
        reply = await self.reply(name, arguments, **options)
        assert not reply.get("isError"), f"{name} failed: {reply}"
        text = reply["content"][0]["text"]
        if not self.is_gateway:
            return text
        said = json.loads(text)["result"]
        return said if isinstance(said, str) else json.dumps(said)


def reference(scenario: Scenario) -> Face:
    return Face(scenario, "reference")


def everything(scenario: Scenario) -> Face:
    return Face(scenario, "everything")


async def tools_are_known(scenario: Scenario) -> str:
    names = [tool["name"] for tool in await scenario.session.list_tools()]
    if scenario.options.scenario == "gateway":
        equal(sorted(names), sorted(META_TOOLS))
        await first_listing(scenario)
        found = await scenario.ask("discover_tools", {"domain": "reference"})
        names = [tool["name"].removeprefix("reference__") for tool in found["tools"]]
    within(["test_simple_text", "matrix_elicit", "matrix_sample", "matrix_wait"], names)
    return f"{len(names)} tools"


async def contents_arrive_whole(scenario: Scenario) -> str:
    face = reference(scenario)
    equal(await face.ask("test_simple_text"), "This is a simple text response for testing.")
    reply = await face.reply("test_multiple_content_types")
    blocks = {block["type"]: block for block in reply["content"]}
    equal(sorted(blocks), ["image", "resource", "text"])
    equal(base64.b64decode(blocks["image"]["data"], validate=True)[:4], b"\x89PNG")
    equal(json.loads(blocks["resource"]["resource"]["text"]), {"test": "data", "value": 123})
    return f"{len(reply['content'])} blocks"


async def tool_error_is_told(scenario: Scenario) -> str:
    reply = await reference(scenario).reply("test_error_handling")
    equal(reply.get("isError"), True)
    within(["This tool intentionally returns an error for testing"], reply["content"][0]["text"])
    return "isError"


async def prompts_are_listed(scenario: Scenario) -> str:
    face = reference(scenario)
    prompts = {prompt["name"]: prompt for prompt in await scenario.session.prompts()}
    within([face.prompt(name) for name in PROMPTS], prompts)
    arguments = prompts[face.prompt("test_prompt_with_arguments")]["arguments"]
    equal([(argument["name"], argument["required"]) for argument in arguments], [("arg1", True), ("arg2", True)])
    return f"{len(prompts)} prompts"


async def prompt_is_given(scenario: Scenario) -> str:
    face = reference(scenario)
    words = {"arg1": "one", "arg2": "two \u00fc"}
    given = await scenario.session.prompt(face.prompt("test_prompt_with_arguments"), words)
    [message] = given["messages"]
    equal(message["role"], "user")
    equal(message["content"]["text"], "Prompt with arguments: arg1='one', arg2='two \u00fc'")
    given = await scenario.session.prompt(
        face.prompt("test_prompt_with_embedded_resource"), {"resourceUri": "test://anything"}
    )
    embedded = given["messages"][0]["content"]
    equal(embedded["resource"]["text"], "Embedded resource content for testing.")
    await fails(scenario.session.prompt(face.prompt("no_such_prompt"), {}), "no_such_prompt")
    return message["content"]["text"]


async def resources_are_listed(scenario: Scenario) -> str:
    face = reference(scenario)
    resources = {resource["uri"]: resource for resource in await scenario.session.resources()}
    within([face.uri(uri) for uri in RESOURCES], resources)
    equal(resources[face.uri("test://static-binary")]["mimeType"], "image/png")
    templates = {template["uriTemplate"]: template for template in await scenario.session.templates()}
    equal(templates[face.uri("test://template/{id}/data")]["mimeType"], "application/json")
    return f"{len(resources)} resources, {len(templates)} templates"


async def resource_is_read(scenario: Scenario) -> str:
    face = reference(scenario)
    [text] = (await scenario.session.read(face.uri("test://static-text")))["contents"]
    equal((text["uri"], text["text"]), (face.uri("test://static-text"), STATIC_TEXT))
    [picture] = (await scenario.session.read(face.uri("test://static-binary")))["contents"]
    equal(base64.b64decode(picture["blob"], validate=True)[:4], b"\x89PNG")
    [data] = (await scenario.session.read(face.uri("test://template/42/data")))["contents"]
    equal(json.loads(data["text"])["data"], "Data for ID: 42")
    await fails(scenario.session.read(face.uri("test://no-such-resource")), "")
    return text["uri"]


async def arguments_are_completed(scenario: Scenario) -> str:
    face = reference(scenario)
    prompt = {"type": "ref/prompt", "name": face.prompt("test_prompt_with_arguments")}
    equal(await scenario.session.complete(prompt, "arg1", "par"), ["paris", "park", "party"])
    template = {"type": "ref/resource", "uri": face.uri("test://template/{id}/data")}
    equal(await scenario.session.complete(template, "id", "testV"), ["testValue1", "testValue2"])
    return "paris, park, party"


async def elicitation_is_accepted(scenario: Scenario) -> str:
    scenario.session.answers.forget()
    said = await reference(scenario).ask("matrix_elicit", {"message": "Who is there?"})
    action, content = said.split(", content=")
    equal((action, json.loads(content)), ("action=accept", {"name": USER_NAME}))
    equal(scenario.session.answers.asked, ["Who is there?"])
    return said


async def elicitation_is_declined(scenario: Scenario) -> str:
    scenario.session.answers.forget("decline")
    said = await reference(scenario).ask("matrix_elicit", {"message": "Who is there?"})
    within(["action=decline"], said)
    equal(scenario.session.answers.asked, ["Who is there?"])
    scenario.session.answers.forget()
    return said


async def model_is_sampled(scenario: Scenario) -> str:
    scenario.session.answers.forget()
    said = await reference(scenario).ask("matrix_sample", {"prompt": "Say something"})
    equal(said, f'model="{MODEL}", text=You said: Say something')
    equal(scenario.session.answers.asked, ["Say something"])
    return said


async def roots_are_told(scenario: Scenario) -> str:
    equal(await reference(scenario).ask("matrix_roots"), ROOT)
    return ROOT


async def prompt_and_resource_may_ask(scenario: Scenario) -> str:
    face = reference(scenario)
    scenario.session.answers.forget()
    given = await scenario.session.prompt(face.prompt("test_input_required_result_prompt"), {})
    equal(given["messages"][0]["content"]["text"], f"Use this context: {USER_NAME}")
    [read] = (await scenario.session.read(face.uri("user://asking")))["contents"]
    equal(read["text"], f"Read by {USER_NAME}.")
    equal(scenario.session.answers.asked, ["What context should the prompt use?", "Who is reading?"])
    return read["text"]


async def steps_are_reported(scenario: Scenario) -> str:
    seen: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    said = await reference(scenario).ask("matrix_progress", {"steps": 5}, progress=progress)
    equal(said, "took 5 steps")
    equal(seen, [(step, 5, f"{step} of 5") for step in range(1, 6)])
    return f"{len(seen)} notifications"


async def waiting_is_cancelled(scenario: Scenario) -> str:
    face = reference(scenario)
    before = int(await face.ask("matrix_cancelled"))
    stop = anyio.Event()

    async def progress(*_: Any) -> None:
        pass

    async def stop_soon() -> None:
        await anyio.sleep(BEGIN_S)
        stop.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop_soon)
        await scenario.session.call_until(stop, *face.tool("matrix_wait"), progress)
    since = time.monotonic()
    while int(await face.ask("matrix_cancelled")) == before:
        assert time.monotonic() - since < NOTICE_LIMIT_S, "the server was never told of the cancellation"
        await anyio.sleep(0.05)
    equal(int(await face.ask("matrix_cancelled")), before + 1)
    return "cancelled once"


async def log_is_heard_from_a_level(scenario: Scenario) -> str:
    answers = scenario.session.answers
    answers.forget()
    async with scenario.session.logging("warning") as options:
        equal(await reference(scenario).ask("matrix_log", **options), "logged")
        await until("the log's last message", lambda: len(answers.told_of("message")) >= len(LEVELS))
    equal([message["level"] for message in answers.told_of("message")], LEVELS)
    equal(answers.told_of("message")[0]["data"], 'at level "warning"')
    return ", ".join(LEVELS)


async def resource_is_watched(scenario: Scenario) -> str:
    face, answers = reference(scenario), scenario.session.answers
    answers.forget()
    async with scenario.session.watching(face.uri(WATCHED)):
        equal(await face.ask("matrix_touch", {"uri": WATCHED}), "told 1")
        await until("the resource's change", lambda: answers.told_of("resources/updated"))
    equal([update["uri"] for update in answers.told_of("resources/updated")], [face.uri(WATCHED)])
    since = time.monotonic()
    while await face.ask("matrix_touch", {"uri": WATCHED}) != "told 0":
        assert time.monotonic() - since < NOTICE_LIMIT_S, "the server still tells, though nobody watches"
        await anyio.sleep(0.05)
    return face.uri(WATCHED)


async def changed_lists_are_told(scenario: Scenario) -> str:
    face, answers = reference(scenario), scenario.session.answers
    lists = LISTS if face.is_gateway else ["tools", *LISTS]
    answers.forget()
    async with scenario.session.watching(face.uri(WATCHED)):
        said = await face.ask("matrix_grow")
        for name in lists:
            await until(f"the change of {name}", lambda name=name: answers.told_of(f"{name}/list_changed"))
    number = said.split(" ")[0].removeprefix("matrix_grown_")
    within([face.prompt(f"matrix_grown_prompt_{number}")], [prompt["name"] for prompt in await scenario.session.prompts()])
    within([face.uri(f"matrix://grown/{number}")], [resource["uri"] for resource in await scenario.session.resources()])
    equal(await face.ask(f"matrix_grown_{number}"), f"matrix_grown_{number} was added later")
    if not face.is_gateway:
        within([f"matrix_grown_{number}"], [tool["name"] for tool in await scenario.session.list_tools()])
    return said


async def real_prompt_is_given(scenario: Scenario) -> str:
    face = everything(scenario)
    within([face.prompt("args-prompt")], [prompt["name"] for prompt in await scenario.session.prompts()])
    given = await scenario.session.prompt(face.prompt("args-prompt"), {"city": "Lima", "state": "Peru"})
    equal(given["messages"][0]["content"]["text"], "What's weather in Lima, Peru?")
    reference = {"type": "ref/prompt", "name": face.prompt("completable-prompt")}
    equal(await scenario.session.complete(reference, "department", "S"), ["Sales", "Support"])
    return given["messages"][0]["content"]["text"]


async def real_resource_is_read(scenario: Scenario) -> str:
    face = everything(scenario)
    templates = [template["uriTemplate"] for template in await scenario.session.templates()]
    within([face.uri("demo://resource/dynamic/text/{resourceId}")], templates)
    uri = face.uri("demo://resource/dynamic/text/7")
    [read] = (await scenario.session.read(uri))["contents"]
    equal(read["uri"], uri)
    within(["Resource 7"], read["text"])
    return read["text"]


async def real_server_asks(scenario: Scenario) -> str:
    face, answers = everything(scenario), scenario.session.answers
    answers.forget()
    # The client before this one ended with a request that it took back.
    await anyio.sleep(DOUBT_S)
    within([f"Name: {USER_NAME}"], json.dumps(await face.reply("trigger-elicitation-request"), ensure_ascii=False))
    within([MODEL], await face.ask("trigger-sampling-request", {"prompt": "Say something"}))
    equal(len(answers.asked), 2)
    within(["Say something"], answers.asked[1])
    return ", ".join(answers.asked)


async def fails(request: Any, why: str) -> None:
    try:
        given = await request
    except Exception as error:
        within([why], str(error))
    else:
        raise AssertionError(f"this should have failed: {given}")


async def until(what: str, is_there: Callable[[], Any]) -> None:
    since = time.monotonic()
    while not is_there():
        assert time.monotonic() - since < NOTICE_LIMIT_S, f"{what} never came"
        await anyio.sleep(0.05)


SOURCE_STEPS = [
    era_is_agreed,
    tools_are_known,
    contents_arrive_whole,
    tool_error_is_told,
    prompts_are_listed,
    prompt_is_given,
    resources_are_listed,
    resource_is_read,
    arguments_are_completed,
    elicitation_is_accepted,
    elicitation_is_declined,
    model_is_sampled,
    roots_are_told,
    prompt_and_resource_may_ask,
    steps_are_reported,
    waiting_is_cancelled,
    log_is_heard_from_a_level,
    resource_is_watched,
    changed_lists_are_told,
]
GATEWAY_STEPS = [*SOURCE_STEPS, real_prompt_is_given, real_resource_is_read, real_server_asks]
