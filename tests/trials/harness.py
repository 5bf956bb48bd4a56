"""What the trials need: copies of their folders, the program, the other side, and a client."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND_LIMIT_S = 60
START_LIMIT_S = 20
SEEN_CHARACTERS = 110


class Missing(Exception):
    """Something that a trial needs is not on this machine."""


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.program = Path(os.environ.get("GATEFOLD_BIN", ROOT / "target/debug/gatefold")).resolve()
        if not self.program.is_file():
            sys.exit(f"{self.program} was not found: build it, or set GATEFOLD_BIN")
        self.scratch = Path(tempfile.mkdtemp(prefix="gatefold-trials-"))
        self.rows = []
        self.trial = self.at = None

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def begin(self, trial):
        self.trial = trial
        self.at = self.scratch / trial
        shutil.copytree(self.folder / trial, self.at, symlinks=True)
        for path in [self.at, *self.at.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o200)

    # The table.

    def row(self, sibling, is_right, seen=""):
        seen = " ".join(str(seen).replace(f"{self.at}/", "").split())
        self.rows.append(is_right)
        self.write(sibling, "right" if is_right else "WRONG", seen)

    def skip(self, why):
        self.write("-", "skipped", why)

    def write(self, sibling, verdict, seen):
        if len(seen) > SEEN_CHARACTERS:
            seen = seen[: SEEN_CHARACTERS - 1] + "…"
        print(f"{self.trial.split('-')[0]:<4} {sibling:<34.34} {verdict:<8} {seen}", flush=True)

    def summary(self):
        right = sum(self.rows)
        print(f"{right} of {len(self.rows)} right")
        return 0 if self.rows and right == len(self.rows) else 1

    # The program.

    def environment(self, extra):
        home = self.scratch / f"home-{self.trial}"
        home.mkdir(exist_ok=True)
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TERM") if key in os.environ}
        return {**kept, "HOME": str(home), **{key: str(value) for key, value in extra.items()}}

    def state(self, name="state"):
        return self.at / f"state-{name}"

    def gatefold(self, *arguments, env=None, state="state", limit=COMMAND_LIMIT_S):
        command = [self.program, "--state-dir", self.state(state), *arguments]
        return self.shell(command, env, limit)

    def shell(self, command, env=None, limit=COMMAND_LIMIT_S):
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.at,
            env=self.environment(env or {}),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit,
            stdin=subprocess.DEVNULL,
        )
        done.all = done.stdout + done.stderr
        return done

    @contextlib.contextmanager
    def process(self, command, env=None, port=None):
        log = open(self.at / f"process-{time.monotonic_ns()}.log", "w+")
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=self.at,
            env=self.environment(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        process.log = Path(log.name)
        try:
            if port:
                wait_for(port, process)
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(START_LIMIT_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            log.close()

    @contextlib.contextmanager
    def peer(self, script, **env):
        """The other side of a trial, on a port of its own."""
        port = free_port()
        with self.process([sys.executable, script], {"PORT": port, **env}, port):
            yield port

    @contextlib.contextmanager
    def serve(self, *arguments, env=None, state="state"):
        port = free_port()
        command = [self.program, "--state-dir", self.state(state), *arguments, "serve"]
        with self.process([*command, "--listen", f"127.0.0.1:{port}"], env, port) as process:
            process.port = port
            process.url = f"http://127.0.0.1:{port}/mcp"
            yield process

    def node_client(self, url, *calls):
        """The official client, which checks what it is given."""
        modules = sdk()
        link = self.at / "node_modules"
        if not link.exists():
            link.symlink_to(modules)
        return self.shell(["node", "client.mjs", url, *calls]).all

    def node_calls(self, label, url, calls):
        """Lists the tools with the official client and calls some: (name, its arguments, what the row is called)."""
        words = [word for name, arguments, _ in calls for word in (name, json.dumps(arguments))]
        lines = self.node_client(url, *words).strip().splitlines() or ["it said nothing"]
        self.row(f"list, {label}", lines[0].startswith("list ok"), lines[0])
        for at, (name, _, sibling) in enumerate(calls, 1):
            seen = lines[at] if at < len(lines) else "no answer"
            self.row(f"{sibling}, {label}", seen.startswith(f"{name} ->"), seen)


def sdk():
    """The folder of the official client's modules, installed once."""
    if not shutil.which("npm"):
        raise Missing("npm is missing")
    place = Path(os.environ.get("INTEROP_DIR", ROOT / "target/interop")) / "trials"
    modules = place / "node_modules"
    if not (modules / "@modelcontextprotocol/sdk").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "@modelcontextprotocol/sdk"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Missing("the official client could not be installed")
    return modules


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port, process):
    until = time.monotonic() + START_LIMIT_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            raise RuntimeError(f"it ended: {process.log.read_text()[-300:]}")
        time.sleep(0.05)
    raise RuntimeError(f"nothing listened: {process.log.read_text()[-300:]}")


def get(url):
    with urllib.request.urlopen(url, timeout=START_LIMIT_S) as answer:
        return json.loads(answer.read())


class Client:
    """A client of the handshake era that keeps each answer's text."""

    def __init__(self, url):
        self.url, self.session, self.number, self.text = url, None, 0, ""
        self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "trials", "version": "1"})
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method, **params):
        """The result, or the error as a text in `error`."""
        self.number += 1
        answer = self.post({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return answer["result"] if "result" in answer else {"error": answer["error"]}

    def call(self, name, **arguments):
        return self.request("tools/call", name=name, arguments=arguments)

    def tools_of(self, prefix):
        """The names of a source's tools, once it has listed them."""
        until = time.monotonic() + START_LIMIT_S
        while True:
            names = [tool["name"] for tool in self.tools() if tool["name"].startswith(prefix)]
            if names or time.monotonic() > until:
                return names
            time.sleep(0.5)

    def tools(self):
        found, cursor = [], {}
        while True:
            page = self.request("tools/list", **cursor)
            found += page["tools"]
            if not page.get("nextCursor"):
                return found
            cursor = {"cursor": page["nextCursor"]}

    def post(self, message):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.session:
            headers["mcp-session-id"] = self.session
            headers["mcp-protocol-version"] = "2025-06-18"
        request = urllib.request.Request(self.url, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=COMMAND_LIMIT_S) as answer:
            self.session = answer.headers.get("mcp-session-id") or self.session
            self.text = answer.read().decode()
        if "id" not in message:
            return {}
        events = [line[5:] for line in self.text.splitlines() if line.startswith("data:") and len(line) > 6]
        answers = [json.loads(event) for event in events or [self.text]]
        return next(answer for answer in answers if answer.get("id") == message["id"])


def is_unicode(value):
    """Whether no half of a surrogate pair is in it, as strict parsers of JSON want."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def texts(result):
    return " ".join(block.get("text", "") for block in result.get("content", []))
