"""Calls APIs that others wrote by the descriptions that others wrote, through Gatefold.

    apis.py --gatefold BIN --npm DIR --kinto DIR --archive FILE --work DIR [--only NAME]

Prism plays ten public APIs by their descriptions and checks what it is sent against them. For each, a sample of
the tools is called through `execute_tool` with arguments that are made from the tool's input schema. Prism's log says
of each call whether its request was valid: what Prism, or Gatefold itself, refuses is a failure. Kinto is a real
server; `gatefold add` finds it by the description that it serves, and a record goes through its life in it, each step
checked by a request that does not pass through Gatefold.

Prints a row for each API, what failed below it, and a last line `N passed, N failed`.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import re
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from arguments import CannotMake, make_arguments
from mcp import Client

START_LIMIT_S = 120
CALL_LIMIT_S = 60
STOP_LIMIT_S = 10
TOOLS = 30
# Of the optional arguments, how many a call has: none, some, all.
SHARES = (0.0, 0.4, 1.0)
MIN_CALLS = 500
MAX_PAGES = 100
SHOWN_FAILURES = 5
SHOWN_CHARS = 300
SEED = "gatefold"


@dataclass(frozen=True)
class Api:
    """A public description, and how its API is signed in to."""

    name: str
    auth: dict[str, Any] | None
    # Tools that Prism cannot judge: it reads no JSON in a part of a multipart body, which is how OpenAPI 3.0 has
    # objects sent there unless a description says otherwise.
    left_out: frozenset[str] = frozenset()


TOKEN = {"bearer": "interop-token"}
KEY = {"api_key": "interop-key"}
APIS = [
    Api("asana.com", TOKEN),
    Api("box.com", TOKEN, frozenset({"post_files_content", "post_files_id_content"})),
    Api("gitea.io", KEY),
    Api("launchdarkly.com", KEY),
    Api("linode.com", TOKEN),
    Api("openai.com", None),
    Api("sendgrid.com", KEY),
    Api("slack.com", TOKEN),
    Api("spotify.com", TOKEN),
    Api("youneedabudget.com", KEY),
]


@dataclass
class Outcome:
    """What became of the calls of one API."""

    tools: int = 0
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    not_made: list[str] = field(default_factory=list)


class Mock:
    """Prism with one description. It logs before it answers, so a call's lines are there when the answer is."""

    VALID = "The request passed the validation rules"

    def __init__(self, api: Api, options: argparse.Namespace) -> None:
        self.api = api
        self.port = free_port()
        self.log = Path(options.work) / f"{api.name}.log"
        self.read = 0
        prism = [f"{options.npm}/node", f"{options.npm}/node_modules/.bin/prism", "mock", "--errors"]
        self.process = start(
            [*prism, "--port", str(self.port), str(description(api, options))],
            self.log,
            {"NO_COLOR": "1"},
        )

    def wait(self) -> None:
        wait_until(lambda: "is listening" in self.log.read_text(), self.process, self.log)
        self.read = self.log.stat().st_size

    def said(self) -> str:
        """What it has logged since it was asked last."""
        with self.log.open("rb") as file:
            file.seek(self.read)
            said = file.read()
        self.read += len(said)
        return said.decode(errors="replace")


async def call_all(client: Client, mock: Mock, tools: list[dict[str, Any]]) -> Outcome:
    tools = [tool for tool in tools if tool["name"] not in mock.api.left_out]
    rng = random.Random(f"{SEED} {mock.api.name}")
    outcome = Outcome(tools=len(tools))
    for tool in sorted(rng.sample(tools, min(TOOLS, len(tools))), key=lambda tool: tool["name"]):
        calls: list[dict[str, Any]] = []
        for share in SHARES:
            try:
                arguments = make_arguments(tool["inputSchema"], f"{SEED} {tool['name']} {share}", share)
            except CannotMake as error:
                outcome.not_made.append(f"{tool['name']}: {error}")
                continue
            if arguments in calls:
                continue
            calls.append(arguments)
            fault = await call_once(client, mock, tool["name"], arguments)
            if fault and leads_elsewhere(fault, arguments):
                outcome.not_made.append(f"{tool['name']}: its slash would call another operation")
            elif fault:
                shown = json.dumps(arguments, ensure_ascii=False)
                outcome.failed.append(f"{tool['name']} {shown[:SHOWN_CHARS]}: {fault[:SHOWN_CHARS]}")
            else:
                outcome.passed += 1
    return outcome


def leads_elsewhere(fault: str, arguments: dict[str, Any]) -> bool:
    """Whether a call was refused because a value with a slash fits the path of another operation."""
    has_slash = any(isinstance(value, str) and "/" in value for value in arguments.values())
    return has_slash and "would call another operation" in fault


async def call_once(client: Client, mock: Mock, tool: str, arguments: dict[str, Any]) -> str | None:
    """Why a call failed, if it did. What the mock makes up as an answer does not matter."""
    name = f"{domain(mock.api.name)}__{tool}"
    with anyio.fail_after(CALL_LIMIT_S):
        answer = await client.call_tool("execute_tool", {"tool_name": name, "arguments": arguments})
    said = mock.said()
    if said.count(Mock.VALID) == 1 and "did not pass" not in said:
        return None
    faults = [line.split("error", 1)[1].strip() for line in said.splitlines() if " error " in line]
    if faults:
        return "; ".join(dict.fromkeys(faults))
    return said.strip() or f"nothing was sent: {answer.content[0].text}"


async def call_mocks(options: argparse.Namespace) -> list[tuple[str, Outcome]]:
    apis = [api for api in APIS if not options.only or api.name == options.only]
    unpack(apis, options)
    mocks = [Mock(api, options) for api in apis]
    gateway = None
    try:
        for mock in mocks:
            mock.wait()
        lines = []
        for mock in mocks:
            path = json.dumps(str(description(mock.api, options)))
            lines += [f"[sources.{domain(mock.api.name)}]", f"openapi = {path}"]
            lines += [f'base_url = "http://127.0.0.1:{mock.port}"', ""]
            if mock.api.auth:
                lines.insert(-1, f"auth = {inline(mock.api.auth)}")
        config = Path(options.work) / "gatefold.toml"
        config.write_text("\n".join(lines))
        gateway, url = start_gateway(options, config, {})
        results: list[tuple[str, Outcome]] = []

        async def run(mock: Mock) -> None:
            async with Client(f"{url}/source/{domain(mock.api.name)}") as client:
                tools = await list_tools(client)
            async with Client(url) as client:
                results.append((mock.api.name, await call_all(client, mock, tools)))

        async with anyio.create_task_group() as tasks:
            for mock in mocks:
                tasks.start_soon(run, mock)
        return sorted(results)
    finally:
        stop([mock.process for mock in mocks] + ([gateway] if gateway else []))


def unpack(apis: list[Api], options: argparse.Namespace) -> None:
    with tarfile.open(options.archive) as archive:
        for api in apis:
            member = archive.extractfile(f"package/api/{api.name}.json")
            assert member
            description(api, options).write_bytes(member.read())


def description(api: Api, options: argparse.Namespace) -> Path:
    return Path(options.work) / f"{api.name}.json"


async def list_tools(client: Client) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


class Kinto:
    """A real server with its own description, which keeps records in memory."""

    INI = """
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = %(http_port)s

[app:main]
use = egg:kinto
kinto.userid_hmac_secret = interop
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.bucket_create_principals = system.Authenticated
multiauth.policies = basicauth
"""
    SIGN_IN = ("ann", "interop-password")
    RECORD = {"id": "first-light", "title": "Ernte & Äpfel / 50 %", "tags": ["a b", "c/d"], "weight": 2.5, "ripe": True}

    def __init__(self, options: argparse.Namespace) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        ini = Path(options.work) / "kinto.ini"
        ini.write_text(self.INI)
        self.log = Path(options.work) / "kinto.log"
        program = [f"{options.kinto}/bin/kinto", "start", "--ini", str(ini), "--port", str(self.port)]
        self.process = start(program, self.log, {})

    def wait(self) -> None:
        wait_until(lambda: self.ask("/")[0] == 200, self.process, self.log)

    def ask(self, path: str) -> tuple[int, Any]:
        """A request without Gatefold: the status and the JSON of the answer."""
        request = urllib.request.Request(self.url + path)
        pair = base64.b64encode(":".join(self.SIGN_IN).encode()).decode()
        request.add_header("Authorization", f"Basic {pair}")
        try:
            with urllib.request.urlopen(request, timeout=CALL_LIMIT_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, None
        except OSError:
            return 0, None


async def live_a_record(options: argparse.Namespace) -> Outcome:
    """Creates, reads, changes and deletes a record of Kinto, and looks each time what Kinto has."""
    outcome = Outcome()
    kinto = Kinto(options)
    gateway = None
    try:
        kinto.wait()
        config = Path(options.work) / "kinto.toml"
        config.write_text("")
        user, password = kinto.SIGN_IN
        added = subprocess.run(
            [options.gatefold, "add", "kinto", "--openapi", f"{kinto.url}/__api__"]
            + ["--auth", f"basic:{user}:${{KINTO_PASSWORD}}", "--config", str(config)],
            env=environment(options, {"KINTO_PASSWORD": password}),
            capture_output=True,
            text=True,
            timeout=START_LIMIT_S,
        )
        check(outcome, "gatefold add", added.returncode == 0, added.stdout + added.stderr)
        if outcome.failed:
            return outcome
        gateway, url = start_gateway(options, config, {"KINTO_PASSWORD": password})
        async with Client(url) as client:
            await live(client, kinto, outcome)
        outcome.tools = 7
    finally:
        stop([kinto.process] + ([gateway] if gateway else []))
    return outcome


async def live(client: Client, kinto: Kinto, outcome: Outcome) -> None:
    async def call(tool: str, **arguments: Any) -> tuple[bool, str]:
        wanted = {"tool_name": f"kinto__{tool}", "arguments": arguments}
        with anyio.fail_after(CALL_LIMIT_S):
            answer = await client.call_tool("execute_tool", wanted)
        return not answer.is_error, answer.content[0].text

    place = {"bucket_id": "garden", "collection_id": "fruit"}
    path = "/buckets/garden/collections/fruit/records"
    one = f"{path}/{kinto.RECORD['id']}"
    record = dict(kinto.RECORD)
    fine, text = await call("create_bucket", data={"id": "garden"})
    check(outcome, "create a bucket", fine and kinto.ask("/buckets/garden")[0] == 200, text)
    fine, text = await call("create_collection", bucket_id="garden", data={"id": "fruit"})
    check(outcome, "create a collection", fine and kinto.ask("/buckets/garden/collections/fruit")[0] == 200, text)
    fine, text = await call("create_record", **place, data=record)
    check(outcome, "create", fine and kept(kinto, one) == record, text)
    fine, text = await call("get_record", **place, id=record["id"])
    result = json.loads(text).get("result") if fine else {}
    read = {key: value for key, value in result.get("data", {}).items() if key != "last_modified"}
    check(outcome, "read", read == record, text)
    fine, text = await call("patch_record", **place, id=record["id"], data={"ripe": False})
    record["ripe"] = False
    check(outcome, "change a part", fine and kept(kinto, one) == record, text)
    fine, text = await call("get_records", **place, _limit=1, _sort=["-title"])
    listed = json.loads(text).get("result", {}).get("data", [])
    check(outcome, "list", [one["title"] for one in listed] == [record["title"]], text)
    record = {"id": record["id"], "title": "windfall"}
    fine, text = await call("update_record", **place, id=record["id"], data={"title": "windfall"})
    check(outcome, "replace", fine and kept(kinto, one) == record, text)
    fine, text = await call("delete_record", **place, id=record["id"])
    check(outcome, "delete", fine and kinto.ask(one)[0] == 404, text)
    fine, text = await call("get_record", **place, id=record["id"])
    check(outcome, "a missing record is an error that says so", not fine and "404" in text, text)


def kept(kinto: Kinto, path: str) -> Any:
    status, answer = kinto.ask(path)
    if status != 200:
        return None
    return {key: value for key, value in answer["data"].items() if key not in ("last_modified", "schema")}


def check(outcome: Outcome, step: str, is_right: bool, detail: str) -> None:
    if is_right:
        outcome.passed += 1
    else:
        outcome.failed.append(f"{step}: {detail[:SHOWN_CHARS]}")


def start_gateway(
    options: argparse.Namespace, config: Path, secrets: dict[str, str]
) -> tuple[subprocess.Popen[bytes], str]:
    log = config.with_suffix(".gateway.log")
    command = [options.gatefold, "serve", "--config", str(config), "--listen", "127.0.0.1:0"]
    state = {"GATEFOLD_STATE_DIR": str(config.with_suffix(".state"))}
    process = start(command, log, environment(options, {**state, **secrets}))
    pattern = re.compile(r"url=\"?(http://127\.0\.0\.1:\d+/mcp)")
    wait_until(lambda: pattern.search(log.read_text()) is not None, process, log)
    found = pattern.search(log.read_text())
    assert found
    return process, found[1]


def environment(options: argparse.Namespace, more: dict[str, str]) -> dict[str, str]:
    """So that nobody's own configuration is read or written."""
    return {**os.environ, "HOME": str(options.work), "NO_COLOR": "1", **more}


def start(command: list[str], log: Path, more: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **more})


def wait_until(is_there: Any, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not is_there():
        if process.poll() is not None:
            sys.exit(f"apis: {process.args[0]} ended at once: {log}\n{log.read_text()[-SHOWN_CHARS:]}")
        if time.monotonic() > deadline:
            sys.exit(f"apis: {process.args[0]} did not start within {START_LIMIT_S} s: {log}")
        time.sleep(0.1)


def stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def domain(name: str) -> str:
    return name.replace(".", "_")


def inline(table: dict[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"


async def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("gatefold", "npm", "kinto", "archive", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--only", help="one API, or `kinto`")
    options = parser.parse_args()
    results = [] if options.only == "kinto" else await call_mocks(options)
    calls = sum(outcome.passed + len(outcome.failed) for _, outcome in results)
    if options.only in (None, "kinto"):
        results.append(("kinto", await live_a_record(options)))
    print(f"{'API':20} {'tools':>5} {'passed':>6} {'failed':>6} {'not made':>8}")
    for name, outcome in results:
        print(f"{name:20} {outcome.tools:5} {outcome.passed:6} {len(outcome.failed):6} {len(outcome.not_made):8}")
        for line in outcome.failed[:SHOWN_FAILURES]:
            print(f"    failed: {line}")
        for line in outcome.not_made[:SHOWN_FAILURES]:
            print(f"    not made: {line}")
    passed = sum(outcome.passed for _, outcome in results)
    failed = sum(len(outcome.failed) for _, outcome in results)
    if not options.only and calls < MIN_CALLS:
        print(f"only {calls} calls were made, at least {MIN_CALLS} are wanted")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
