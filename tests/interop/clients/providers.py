#!/usr/bin/env python3
"""Signs in at real OAuth providers with Gatefold, calls a protected MCP server, and counts what the providers saw.

    providers.py --npm DIR --gatefold FILE --work DIR [PATTERN]

DIR of `--npm` has the packages, `node`, and the programs of `tests/interop/providers` in `own`. Every provider has a
server and a state directory of its own, so they are gone through side by side. The browser that `gatefold login`
opens is `xdg-open`, which here is a script that drives Chromium.
"""

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

LIMIT_S = 60
LOOK_S = 0.1
# How long an access token lasts after a sign-in. The first four fifths of it nobody has to renew it.
CODE_LIFE_S = 6
# After a refresh. Longer than the checks that count refreshes.
REFRESH_LIFE_S = 60
GATEWAYS = 3
CALLS = 32
# A sign-out holds within a second everywhere.
SIGN_OUT_S = 1.5
PROVIDERS = {"oidc-provider": "oidc_provider.mjs", "better-auth": "better_auth.mjs", "glewlwyd": "glewlwyd.mjs"}
# Only if it is named: `setup.sh` cannot install it.
BY_HAND = "glewlwyd"
TOOL = "tickets__whoami"


def main():
    parser = argparse.ArgumentParser()
    for name in ("npm", "gatefold", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("pattern", nargs="?", default="")
    options = parser.parse_args()
    chosen = [name for name in PROVIDERS if options.pattern in name and (options.pattern or name != BY_HAND)]
    if not chosen:
        sys.exit(f"providers: no provider matches `{options.pattern}`")
    print(f"{'provider':<15} {'check':<62} result")
    with ThreadPoolExecutor(len(chosen)) as pool:
        rows = [row for report in pool.map(lambda name: shown(Scene(name, options).play()), chosen) for row in report]
    faults = sum(row.fault is not None for row in rows)
    print(f"{len(rows) - faults} passed, {faults} failed")
    sys.exit(faults > 0)


def shown(rows):
    """Prints what came of a provider's checks, in one piece."""
    for row in rows:
        print(f"{row.provider:<15} {row.check:<62} {'passed' if row.fault is None else 'FAILED'}", flush=True)
        if row.fault is not None:
            print("    " + row.fault.strip().replace("\n", "\n    "), flush=True)
    return rows


class Row(NamedTuple):
    provider: str
    check: str
    fault: str | None = None


class Fault(Exception):
    """What a check found wrong."""


# What ends a check, and not the others.
FAULTS = (Fault, OSError, LookupError, ValueError, subprocess.SubprocessError)


def expect(is_so, fault):
    if not is_so:
        raise Fault(fault)


class Scene:
    """One provider, with the server that it protects, and Gatefold before it."""

    def __init__(self, name, options):
        self.name = name
        self.work = options.work / name
        self.node = str(options.npm / "node")
        self.own = options.npm / "own"
        self.gatefold = str(options.gatefold)
        self.rows = []
        self.started = []
        self.gateways = []
        self.ends_at = 0

    def play(self):
        try:
            self.set_up()
            # Its page has no button for that.
            if self.name != "glewlwyd":
                self.check("a person who says no is no sign-in, and status 1", self.says_no)
            self.check("signs in through the provider's own pages", self.signs_in)
            self.check("`tools call` calls", self.calls)
            self.check(f"{CALLS} calls at {GATEWAYS} gateways after the token's end: one refresh", self.refreshes_once)
            self.check("a provider that is down costs nothing while the token is good", self.outlasts)
            self.check("after that the error says so", self.says_why)
            self.check("it goes on once the provider is back", self.recovers)
            self.check("no refresh token is used twice, and nothing else is refused", self.wastes_nothing)
            self.check("`logout` ends the sign-in at the provider", self.signs_out)
            self.check("a sign-out holds in gateways that run", self.is_signed_out)
            if self.name == "oidc-provider":
                self.check("signs in on another device, as a client that is configured", self.signs_in_on_device)
                self.check("signs in on another device, as a client that registers itself", self.registers_device)
        except FAULTS as fault:
            self.rows.append(Row(self.name, "is set up", repr(fault)))
        finally:
            self.tear_down()
        return self.rows

    def check(self, claim, act):
        try:
            act()
            fault = None
        except FAULTS as error:
            fault = str(error) if isinstance(error, Fault) else repr(error)
        self.rows.append(Row(self.name, claim, fault))

    # The checks, in the order in which they are made.

    def says_no(self):
        status, said = self.run("login", "tickets", answer="deny")
        expect(status == 1, f"status {status}: {said}")
        expect("access_denied" in said, said)

    def signs_in(self):
        before = len(self.events())
        status, said = self.run("login", "tickets")
        expect(status == 0 and "signed in at `tickets`: 1 tool" in said, f"status {status}: {said}")
        seen = [event["event"] for event in self.events()]
        # Whether it asks for consent again is for the provider to say.
        expect("login page" in seen[before:] and "consent page" in seen, f"the provider saw no person: {seen}")

    def calls(self):
        status, said = self.run("tools", "call", TOOL)
        expect(status == 0 and "you are " in said, f"status {status}: {said}")

    def refreshes_once(self):
        self.gateways = [self.start_gateway(number) for number in range(GATEWAYS)]
        for gateway in self.gateways:
            gateway.call()
        # They go on with the new sign-in, and its token ends while they run.
        self.signs_in()
        before = self.count("grant", "refresh_token")
        time.sleep(CODE_LIFE_S)
        with ThreadPoolExecutor(CALLS) as pool:
            said = list(pool.map(lambda number: self.gateways[number % GATEWAYS].call(), range(CALLS)))
        expect(all(text.startswith("you are ") for text in said), "\n".join(sorted(set(said))))
        refreshes = self.count("grant", "refresh_token") - before
        expect(refreshes == 1, f"{refreshes} refreshes")

    def outlasts(self):
        self.signs_in()
        self.ends_at = time.monotonic() + CODE_LIFE_S
        self.switch("closed")
        said = self.gateways[0].call()
        expect(said.startswith("you are "), said)

    def says_why(self):
        time.sleep(max(0, self.ends_at - time.monotonic()))
        said = self.gateways[0].call()
        # In the words that models are told.
        expect("is unreachable" in said, said)
        status, said = self.run("tools", "call", TOOL)
        expect(status == 1 and "could not be reached" in said, f"status {status}: {said}")

    def recovers(self):
        self.switch("listening")
        for gateway in self.gateways:
            said = gateway.call()
            expect(said.startswith("you are "), said)

    def signs_in_on_device(self):
        self.use_device("television", 'oauth = { client_id = "television" }')

    def registers_device(self):
        self.use_device("device", "")

    def use_device(self, name, oauth):
        options = self.configure(name, oauth)
        command = [self.gatefold, "login", "tickets", "--device", *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        with subprocess.Popen(command, text=True, env=self.environment(), **pipes) as child:
            watch = threading.Timer(LIMIT_S, child.kill)
            watch.start()
            said = ""
            for line in child.stdout:
                said += line
                address = re.search(r"open (http\S+), and", line)
                if address:
                    self.browse(address[1])
            status = child.wait()
            watch.cancel()
        expect(status == 0, f"status {status}: {said}")
        status, said = self.run("tools", "call", TOOL, options=options)
        expect(status == 0 and "you are " in said, f"status {status}: {said}")

    def wastes_nothing(self):
        refused = self.named("grant refused") + self.named("fault")
        expect(not refused, json.dumps(refused))

    def signs_out(self):
        self.gateways[0].call()
        access = self.server_events("request")[-1]["token"]
        refresh = self.named("refresh token")[-1]
        expect(self.status_of(self.url, f"Bearer {access}") != 401, "the token was refused before")
        status, said = self.run("logout", "tickets")
        expect(self.status_of(self.url, f"Bearer {access}") == 401, "the access token is good still")
        fields = {
            "grant_type": "refresh_token",
            "refresh_token": refresh["token"],
            "resource": self.url,
        }
        if refresh["client"]:
            fields["client_id"] = refresh["client"]
        answer = self.status_of(
            self.token_endpoint, refresh.get("authorization"), urllib.parse.urlencode(fields).encode()
        )
        expect(answer == 400, f"the refresh token was answered with {answer}")
        expect(status == 0 and "the provider has ended the tokens, too" in said, f"status {status}: {said}")

    def is_signed_out(self):
        time.sleep(SIGN_OUT_S)
        for gateway in self.gateways:
            said = gateway.call()
            expect("needs a sign-in" in said, said)

    # Who plays.

    def set_up(self):
        self.work.mkdir()
        ports = take_ports(2)
        self.url = f"http://127.0.0.1:{ports[1]}/mcp"
        self.options = self.configure("main", "")
        opener = self.work / "xdg-open"
        driver = " ".join(f"'{part}'" for part in (self.node, self.own / "browser.mjs"))
        opener.write_text(
            f'#!/bin/sh\nexec {driver} "$(mktemp -d \'{self.work}/profile.XXXXXX\')" "$1" "$BROWSER_ANSWER" '
            f">>'{self.work}/browser.log' 2>&1\n"
        )
        opener.chmod(0o755)
        arguments = [str(ports[0]), self.url, str(CODE_LIFE_S), str(REFRESH_LIFE_S)]
        self.provider = self.start("provider", [self.node, str(self.own / PROVIDERS[self.name]), *arguments])
        known = self.wait_for(lambda: self.named("listening"), "the provider")[0]
        with urllib.request.urlopen(known["metadata"], timeout=LIMIT_S) as answer:
            self.token_endpoint = json.load(answer)["token_endpoint"]
        arguments = [str(ports[1]), known["metadata"], known["client_id"], known["client_secret"]]
        self.start("server", [self.node, str(self.own / "server.mjs"), *arguments])
        self.wait_for(lambda: self.server_events("listening"), "the protected server")

    def configure(self, name, oauth):
        home = self.work / name
        home.mkdir()
        (home / "gatefold.toml").write_text(
            f'[sources.tickets]\nurl = "{self.url}"\nallow_private = ["127.0.0.0/8", "::1/128"]\n{oauth}\n'
        )
        return ["--config", str(home / "gatefold.toml"), "--state-dir", str(home / "state")]

    def environment(self, answer="allow"):
        return {
            **os.environ,
            "HOME": str(self.work),
            "PATH": f"{self.work}:{os.environ['PATH']}",
            # Without one, no browser is opened.
            "DISPLAY": ":0",
            "BROWSER_ANSWER": answer,
        }

    def run(self, *command, answer="allow", options=None):
        """Runs a command of Gatefold's. What it says is one text."""
        done = subprocess.run(
            [self.gatefold, *command, *(options or self.options)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env=self.environment(answer),
        )
        return done.returncode, done.stdout + done.stderr

    def browse(self, address):
        command = [str(self.work / "xdg-open"), address]
        subprocess.run(command, timeout=LIMIT_S, check=False, env=self.environment())

    def start(self, name, command):
        with open(self.work / f"{name}.log", "w", encoding="utf-8") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}
            child = subprocess.Popen(command, cwd=self.work, env=self.environment(), **streams)
        self.started.append(child)
        return child

    def start_gateway(self, number):
        name = f"gateway-{number}"
        self.start(name, [self.gatefold, "serve", "--listen", "127.0.0.1:0", *self.options])
        log = self.work / f"{name}.log"
        address = self.wait_for(lambda: re.search(r"http://127\.0\.0\.1:\d+", log.read_text("utf-8")), name)
        return Gateway(f"{address[0]}/mcp/source/tickets")

    def switch(self, state):
        """Closes the provider's port, or opens it again."""
        before = self.count(state)
        self.provider.send_signal(signal.SIGUSR2)
        self.wait_for(lambda: self.count(state) > before, f"the provider to be {state}")

    def tear_down(self):
        for child in self.started:
            child.terminate()
        for child in self.started:
            try:
                child.wait(timeout=LIMIT_S / 6)
            except subprocess.TimeoutExpired:
                child.kill()

    # What was seen.

    def events(self, name="provider"):
        lines = (self.work / f"{name}.log").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith('{"event"')]

    def server_events(self, kind):
        return [event for event in self.events("server") if event["event"] == kind]

    def named(self, kind):
        return [event for event in self.events() if event["event"] == kind]

    def count(self, kind, of_type=None):
        return sum(of_type in (None, event.get("type")) for event in self.named(kind))

    def wait_for(self, look, what):
        deadline = time.monotonic() + LIMIT_S
        while not (found := look()):
            expect(time.monotonic() < deadline, f"{what} did not come within {LIMIT_S} s")
            expect(all(child.poll() is None for child in self.started), f"something ended before {what} came")
            time.sleep(LOOK_S)
        return found

    @staticmethod
    def status_of(url, authorization, body=None):
        """The status of a POST: of a form, or else of an empty message."""
        headers = {} if body else {"content-type": "application/json"}
        if authorization:
            headers["authorization"] = authorization
        body = body or b"{}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=LIMIT_S) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code


class Gateway:
    """A session at a gateway that runs."""

    def __init__(self, url):
        self.url = url
        self.session = None
        own = {"name": "providers", "version": "1"}
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": own}
        self.post({"id": 0, "method": "initialize", "params": about})
        self.post({"method": "notifications/initialized"})

    def call(self):
        """What the tool said, or the error's text."""
        answer = self.post({"id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}})
        if "error" in answer:
            return answer["error"]["message"]
        return "\n".join(part.get("text", "") for part in answer["result"]["content"])

    def post(self, message):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.session:
            headers |= {"mcp-session-id": self.session, "mcp-protocol-version": "2025-11-25"}
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=LIMIT_S) as answer:
                self.session = self.session or answer.headers.get("mcp-session-id")
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            return {"error": {"message": f"{error.code}: {error.read().decode()}"}}
        found = [line.removeprefix("data:") for line in text.splitlines() if line.startswith(("data:", "{"))]
        answers = [json.loads(line) for line in found if line.strip()]
        return next((answer for answer in answers if "id" in answer), {})


def take_ports(count):
    holders = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [holder.getsockname()[1] for holder in holders]
    for holder in holders:
        holder.close()
    return ports


if __name__ == "__main__":
    main()
