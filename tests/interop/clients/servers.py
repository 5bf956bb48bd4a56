"""Asks real servers directly and through Gatefold, and compares what they answer byte for byte.

    servers.py --npm DIR --venvs DIR --gatefold BIN --work DIR [PATTERN]

Needs only the standard library: an official SDK would parse the answers, and what it drops or writes in another
way would not be seen. Each server is started once by itself and once behind `gatefold stdio --source NAME`, in the
same folder with the same files. Compared are the texts, as received, of `instructions` and `serverInfo`, of each item
of each list in its order, and of a call's result or error; and no capability may be missing.

Gatefold asks a server that speaks both eras in the stateless one, where it may say things in another way. One whose
answers differ is asked again with `era = "handshake"`, as this client speaks to it directly.

Prints a row for each server and what differs below it. `same` is `yes`, `era` (only with the same era on both sides)
or `no`. A server that does not start is named and not counted. Fails when anything else differs, or when fewer than
`MIN_SERVERS` were compared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

VERSION = "2025-11-25"
MIN_SERVERS = 21
MAX_PAGES = 100
ANSWER_LIMIT_S = 120
EXIT_LIMIT_S = 10
SHOWN_CHARS = 160

# What a client of today can do. Gatefold says so to every server, and some list a tool for each.
CLIENT_CAPABILITIES = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}
LISTS = {
    "tools/list": ("tools", "tools"),
    "prompts/list": ("prompts", "prompts"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
}
METHOD_NOT_FOUND = -32601
NPM = "node_modules/.bin/"

# What Gatefold leaves out, as docs/protocol.md says: capabilities, and hints of lists that only the stateless era has.
LEFT_OUT = {"experimental", "tasks"}
CACHE_HINTS = {"ttlMs", "cacheScope"}


@dataclass(frozen=True)
class Case:
    """One server. `program` is a package's script below `NPM`, or a program of the server's virtual environment."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    params: dict[str, object] | None = None


def tool(name: str, **arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": arguments}


# `{work}` is the server's folder. No key is real: these servers list their tools without asking anybody.
UNREACHABLE = "127.0.0.1:1"
CASES = [
    Case("everything", NPM + "mcp-server-everything", params=tool("echo", message="grüße ☕")),
    Case(
        "filesystem",
        NPM + "mcp-server-filesystem",
        ("{work}",),
        params=tool("read_text_file", path="{work}/note.txt"),
    ),
    Case(
        "memory",
        NPM + "mcp-server-memory",
        environment={"MEMORY_FILE_PATH": "{work}/memory.jsonl"},
        params=tool(
            "create_entities",
            entities=[{"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}],
        ),
    ),
    Case(
        "sequential_thinking",
        NPM + "mcp-server-sequential-thinking",
        params=tool("sequentialthinking", thought="one", nextThoughtNeeded=False, thoughtNumber=1, totalThoughts=1),
    ),
    Case("context7", NPM + "context7-mcp", params=tool("query-docs")),
    Case("playwright", NPM + "playwright-mcp", ("--headless",), params=tool("browser_tabs")),
    Case(
        "chrome_devtools",
        NPM + "chrome-devtools-mcp",
        ("--headless",),
        params=tool("click"),
    ),
    Case("mongodb", NPM + "mongodb-mcp-server", params=tool("count", database="a")),
    Case("ms365", NPM + "ms-365-mcp-server", ("--org-mode",), params=tool("get-chat")),
    # Its tools check nothing before they ask the service.
    Case("notion", NPM + "notion-mcp-server"),
    Case(
        "brave_search",
        NPM + "brave-search-mcp-server",
        environment={"BRAVE_API_KEY": "interop-has-no-key"},
        params=tool("brave_web_search"),
    ),
    Case(
        "tavily",
        NPM + "tavily-mcp",
        environment={"TAVILY_API_KEY": "interop-has-no-key"},
        params=tool("tavily_map"),
    ),
    Case(
        "firecrawl",
        NPM + "firecrawl-mcp",
        environment={"FIRECRAWL_API_KEY": "interop-has-no-key"},
        params=tool("firecrawl_scrape"),
    ),
    Case(
        "airtable",
        NPM + "airtable-mcp-server",
        environment={"AIRTABLE_API_KEY": "interop-has-no-key"},
        params=tool("list_records"),
    ),
    Case(
        "elasticsearch",
        NPM + "mcp-server-elasticsearch",
        environment={"ES_URL": f"http://{UNREACHABLE}", "ES_API_KEY": "interop-has-no-key"},
        params=tool("get_mappings"),
    ),
    Case(
        "sentry",
        NPM + "sentry-mcp",
        ("--access-token=interop-has-no-key", "--host=127.0.0.1"),
        params=tool("create_team"),
    ),
    Case(
        "figma",
        NPM + "figma-developer-mcp",
        ("--stdio", "--figma-api-key=interop-has-no-key"),
        params=tool("get_figma_data"),
    ),
    Case(
        "kubernetes",
        NPM + "kubernetes-mcp-server",
        ("--kubeconfig", "{work}/kubeconfig"),
        params=tool("pods_get"),
    ),
    Case(
        "time",
        "mcp-server-time",
        ("--local-timezone", "UTC"),
        params=tool("convert_time", source_timezone="UTC", time="25:00", target_timezone="Asia/Tokyo"),
    ),
    Case("git", "mcp-server-git", ("--repository", "{work}"), params=tool("git_status", repo_path="{work}")),
    Case("fetch", "mcp-server-fetch", params=tool("fetch", url="not an address")),
    Case("sqlite", "mcp-server-sqlite", ("--db-path", "{work}/t.db"), params=tool("read_query", query="SELECT 1.50, 'é'")),
    Case("duckduckgo", "duckduckgo-mcp-server", params=tool("search")),
    Case(
        "arxiv",
        "arxiv-mcp-server",
        ("--storage-path", "{work}/papers"),
        params=tool("list_papers"),
    ),
    Case("excel", "excel-mcp-server", ("stdio",), params=tool("describe_workbook", path="{work}/none.xlsx")),
    Case("word", "word_mcp_server", params=tool("get_document_info", filename="{work}/none.docx")),
    Case(
        "neo4j",
        "mcp-neo4j-cypher",
        ("--db-url", f"bolt://{UNREACHABLE}", "--username", "x", "--password", "x"),
        params=tool("read_neo4j_cypher"),
    ),
    Case(
        "clickhouse",
        "mcp-clickhouse",
        environment={"CLICKHOUSE_HOST": "127.0.0.1", "CLICKHOUSE_USER": "x", "CLICKHOUSE_PASSWORD": ""},
        params=tool("run_query"),
    ),
]


class Unusable(Exception):
    """A server that cannot be compared here, with the reason."""


def main() -> None:
    parser = argparse.ArgumentParser()
    for option in ("--npm", "--venvs", "--gatefold", "--work"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("pattern", nargs="?", default="")
    options = parser.parse_args()
    bench = Bench(options.npm, options.venvs, options.gatefold, options.work)
    chosen = [case for case in CASES if options.pattern in case.name]
    bench.work.mkdir(parents=True, exist_ok=True)
    same, by_era, different, left_out = 0, 0, 0, []
    print(f"{'server':<20} {'tools':>6} {'prompts':>8} {'resources':>10} {'call':<8} same")
    for case in chosen:
        try:
            direct = bench.asked(case, bench.command(case))
        except Unusable as why:
            left_out.append(f"{case.name}: {why}")
            continue
        differences, varying = bench.differences(case, direct, "auto")
        verdict = "yes"
        if differences:
            differences, varying = bench.differences(case, direct, "handshake")
            verdict = "no" if differences else "era"
        different += verdict == "no"
        same += verdict != "no"
        by_era += verdict == "era"
        counts = [len(direct.lists[method]) for method in LISTS]
        row = f"{case.name:<20} {counts[0]:>6} {counts[1]:>8} {counts[2] + counts[3]:>10} {direct.kind:<8}"
        print(row, verdict)
        for line in [*differences, *(f"varies without Gatefold too: {what}" for what in varying)]:
            print("  " + line)
        sys.stdout.flush()
    for reason in left_out:
        print("left out:", reason)
    print(f"{same} the same ({same - by_era} as configured, {by_era} in the same era), {different} different")
    too_few = not options.pattern and same + different < MIN_SERVERS
    if too_few:
        print(f"fewer than {MIN_SERVERS} servers were compared")
    sys.exit(1 if different or too_few else 0)


@dataclass
class Bench:
    """Where everything is."""

    npm: Path
    venvs: Path
    gatefold: Path
    work: Path

    def command(self, case: Case) -> list[str]:
        arguments = [self.filled(case, argument) for argument in case.arguments]
        if case.program.startswith(NPM):
            return [str(self.npm / "node"), str(self.npm / case.program), *arguments]
        return [str(self.venvs / case.name / "bin" / case.program), *arguments]

    def filled(self, case: Case, text: str) -> str:
        return text.replace("{work}", str(self.folder(case)))

    def folder(self, case: Case) -> Path:
        return self.work / case.name

    def environment(self, case: Case) -> dict[str, str]:
        return {name: self.filled(case, value) for name, value in case.environment.items()}

    def write_config(self, case: Case, era: str) -> Path:
        """A configuration with this server alone: `gatefold stdio` starts all that are in it."""
        limits = f'[limits]\nconnect_deadline = "{ANSWER_LIMIT_S}s"\n\n'
        config = self.work / f"{case.name}-{era}.toml"
        config.write_text(limits + self.source(case, era))
        return config

    def source(self, case: Case, era: str) -> str:
        command, *arguments = self.command(case)
        keys = {"command": command, "args": arguments, "cwd": str(self.folder(case)), "era": era}
        lines = [f"[sources.{case.name}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        lines += [f"env.{name} = {json.dumps(value)}" for name, value in self.environment(case).items()]
        return "\n".join(lines) + "\n"

    def differences(self, case: Case, direct: Answers, era: str) -> tuple[list[str], list[str]]:
        """What differs, and what the server itself says in another way when it is asked twice."""
        program = [str(self.gatefold), "stdio", "--source", case.name]
        program += ["--config", str(self.write_config(case, era)), "--state-dir", str(self.work / f"state-{era}")]
        try:
            differences = direct.differences(self.asked(case, program))
        except Unusable as why:
            return [f"through Gatefold: {why}"], []
        own: set[str] = set()
        if differences:
            own = {place(line) for line in direct.differences(self.asked(case, self.command(case)))}
        varying = sorted(own & {place(line) for line in differences})
        return [line for line in differences if place(line) not in own], varying

    def asked(self, case: Case, command: list[str]) -> Answers:
        """What a new process answers, in a new folder with the same files."""
        folder = self.folder(case)
        shutil.rmtree(folder, ignore_errors=True)
        home = folder / "home"
        home.mkdir(parents=True)
        (folder / "note.txt").write_text("one\ntwo\tzwei\n")
        (folder / "kubeconfig").write_text(KUBECONFIG)
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        if command[0] != str(self.gatefold):
            environment |= self.environment(case)
        params = json.loads(self.filled(case, json.dumps(case.params)))
        with Peer(command, environment, folder, self.work / f"{case.name}.log") as peer:
            return Answers.of(peer, params)


KUBECONFIG = f"""apiVersion: v1
kind: Config
clusters: [{{ name: none, cluster: {{ server: "http://{UNREACHABLE}" }} }}]
users: [{{ name: nobody, user: {{}} }}]
contexts: [{{ name: none, context: {{ cluster: none, user: nobody }} }}]
current-context: none
"""


@dataclass
class Answers:
    """What a server says, as texts."""

    initialize: dict[str, str]
    lists: dict[str, list[str]]
    more: dict[str, dict[str, str]]
    kind: str
    call: str

    @classmethod
    def of(cls, peer: Peer, params: dict[str, object] | None) -> Answers:
        client = {"name": "interop", "version": "1"}
        hello = {"protocolVersion": VERSION, "capabilities": CLIENT_CAPABILITIES, "clientInfo": client}
        kind, text = peer.request("initialize", hello)
        if kind == "error":
            raise Unusable(f"initialize: {text}")
        initialize = members(text)
        peer.notify("notifications/initialized")
        offered = json.loads(initialize["capabilities"])
        lists, more = {}, {}
        for listing, (capability, items) in LISTS.items():
            lists[listing], more[listing] = [], {}
            if capability in offered:
                lists[listing], more[listing] = all_pages(peer, listing, items)
        kind, text = peer.request("tools/call", params) if params else ("-", "")
        return cls(initialize, lists, more, kind, text)

    def differences(self, through: Answers) -> list[str]:
        found = []
        for member in ("instructions", "serverInfo"):
            found += difference(member, self.initialize.get(member), through.initialize.get(member))
        offered = json.loads(self.initialize["capabilities"])
        passed_on = json.loads(through.initialize["capabilities"])
        found += [f"capability missing: {path}" for path in missing(offered, passed_on) if path not in LEFT_OUT]
        for listing in LISTS:
            pairs = itertools.zip_longest(self.lists[listing], through.lists[listing])
            for number, (ours, theirs) in enumerate(pairs):
                found += difference(f"{listing} {number}", ours, theirs)
            found += difference(f"{listing}, the rest", str(self.more[listing]), str(through.more[listing]))
        return found + difference("call", f"{self.kind} {self.call}", f"{through.kind} {through.call}")


def all_pages(peer: Peer, method: str, items: str) -> tuple[list[str], dict[str, str]]:
    """The texts of all items, and those of the first page's other members."""
    found: list[str] = []
    rest: dict[str, str] = {}
    params: dict[str, object] = {}
    for page in range(MAX_PAGES):
        kind, text = peer.request(method, params)
        if kind == "error":
            # Servers announce resources and then have no templates. A gateway's list is empty.
            if json.loads(text)["code"] == METHOD_NOT_FOUND:
                return [], {}
            raise Unusable(f"{method}: {text}")
        result = members(text)
        found += elements(result.pop(items))
        cursor = json.loads(result.pop("nextCursor", "null"))
        if not page:
            rest = {name: value for name, value in result.items() if name not in CACHE_HINTS}
        if cursor is None:
            return found, rest
        params = {"cursor": cursor}
    raise Unusable(f"{method} has more than {MAX_PAGES} pages")


def place(line: str) -> str:
    """What a line about a difference is about."""
    return line.split(":", 1)[0]


def difference(what: str, direct: str | None, through: str | None) -> list[str]:
    if direct == through:
        return []
    if direct is None or through is None:
        return [f"{what}: {shown(direct)} directly, {shown(through)} through Gatefold"]
    start = next(
        (at for at, (one, other) in enumerate(zip(direct, through)) if one != other), min(len(direct), len(through))
    )
    start = max(0, start - 20)
    same = "equal as JSON, " if equal_as_json(direct, through) else ""
    return [f"{what}: {same}{shown(direct[start:])} directly, {shown(through[start:])} through Gatefold"]


def equal_as_json(one: str, other: str) -> bool:
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


def shown(text: str | None) -> str:
    if text is None:
        return "nothing"
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "..."


def missing(offered: object, passed_on: object, path: str = "") -> Iterator[str]:
    """What of the server's capabilities is not in Gatefold's, which may have more."""
    if isinstance(offered, dict):
        for key, value in offered.items():
            if not isinstance(passed_on, dict) or key not in passed_on:
                yield f"{path}{key}"
            else:
                yield from missing(value, passed_on[key], f"{path}{key}.")
    elif offered and offered != passed_on:
        yield path.rstrip(".")


class Peer:
    """A process that speaks newline-delimited JSON-RPC."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path, log: Path) -> None:
        self.log = log
        self.number = 0
        self.lines: queue.Queue[str | None] = queue.Queue()
        try:
            with log.open("ab") as errors:
                self.process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment, cwd=folder
                )
        except OSError as why:
            raise Unusable(str(why)) from why
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(EXIT_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.decode())
        self.lines.put(None)

    def request(self, method: str, params: dict[str, object]) -> tuple[str, str]:
        """`result` or `error`, and its text as it came."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        deadline = monotonic() + ANSWER_LIMIT_S
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - monotonic()))
            except queue.Empty:
                raise Unusable(f"no answer to {method} in {ANSWER_LIMIT_S} s: {self.log}") from None
            if line is None:
                raise Unusable(f"ended before it answered {method}: {self.log}")
            try:
                message = members(line)
            except ValueError:
                continue  # Some servers print a greeting.
            if "method" in message:
                self.answer(message)
            elif message.get("id") == str(self.number):
                kind = "error" if "error" in message else "result"
                return kind, message[kind]

    def answer(self, message: dict[str, str]) -> None:
        """What a server asks: this client has no folders, and no model or person to answer."""
        if "id" not in message:
            return
        method = json.loads(message["method"])
        answers = {"roots/list": {"roots": []}, "ping": {}, "elicitation/create": {"action": "decline"}}
        if method in answers:
            self.send({"id": json.loads(message["id"]), "result": answers[method]})
        else:
            error = {"code": METHOD_NOT_FOUND, "message": "not here"}
            self.send({"id": json.loads(message["id"]), "error": error})

    def notify(self, method: str) -> None:
        self.send({"method": method})

    def send(self, message: dict[str, object]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        try:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()
        except OSError as why:
            raise Unusable(f"ended: {self.log}") from why


DECODER = json.JSONDecoder()


def members(text: str) -> dict[str, str]:
    """The texts of an object's members."""
    found = {}
    at = after(text, 0, "{")
    while not text.startswith("}", at):
        key, at = DECODER.raw_decode(text, at)
        start = after(text, at, ":")
        _, end = DECODER.raw_decode(text, start)
        found[key] = text[start:end]
        at = skipped(text, end)
        at = after(text, at, ",") if text.startswith(",", at) else at
    return found


def elements(text: str) -> list[str]:
    """The texts of an array's elements."""
    found = []
    at = after(text, 0, "[")
    while not text.startswith("]", at):
        _, end = DECODER.raw_decode(text, at)
        found.append(text[at:end])
        at = skipped(text, end)
        at = after(text, at, ",") if text.startswith(",", at) else at
    return found


def after(text: str, at: int, sign: str) -> int:
    at = skipped(text, at)
    if not text.startswith(sign, at):
        raise ValueError(f"`{sign}` expected at {at}")
    return skipped(text, at + 1)


def skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


main()
