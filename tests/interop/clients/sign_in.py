#!/usr/bin/env python3
"""Signs in at a server with Gatefold's own commands, as a person would, and calls its tool.

    sign_in.py URL

It is the client of the conformance suite's scenarios of authorization. GATEFOLD_BIN names the gateway;
MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT say what the scenario is and which client it knows. The browser is
a plain HTTP client that goes from page to page: the suite's provider asks nobody anything.

Exits with 0 when the tool answered.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

LIMIT_S = 60
# How often a person signs in before they give up: the server may want more rights each time.
ROUNDS = 3
METADATA_URL = "https://conformance-test.local/client-metadata.json"


def main():
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory(prefix="sign-in-") as home:
        config = os.path.join(home, "gatefold.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(configuration(sys.argv[-1], scenario, context))
        gatefold = Gatefold(["--config", config, "--state-dir", os.path.join(home, "state")])
        return use(gatefold)


def use(gatefold):
    called = gatefold.run("tools", "call", "server__test-tool")
    for _ in range(ROUNDS):
        if "gatefold login server" not in called.stdout + called.stderr:
            break
        gatefold.login()
        called = gatefold.run("tools", "call", "server__test-tool")
    return called.returncode


def configuration(url, scenario, context):
    """The source, with what a scenario's provider knows of its client."""
    keys = {"client_id": "client_id", "client_secret": "client_secret", "private_key_pem": "private_key"}
    oauth = {own: context[name] for name, own in keys.items() if name in context}
    if scenario.startswith("auth/client-credentials"):
        oauth["grant"] = "client_credentials"
    if scenario == "auth/basic-cimd":
        oauth["client_metadata_url"] = METADATA_URL
    # The provider is another server on this machine.
    lines = ["[sources.server]", f'url = "{url}"', 'allow_private = ["127.0.0.0/8", "::1/128"]']
    if oauth:
        members = ", ".join(f"{key} = {json.dumps(value)}" for key, value in oauth.items())
        lines.append(f"oauth = {{ {members} }}")
    return "\n".join(lines) + "\n"


class Gatefold:
    """The gateway's commands, with the same configuration each time."""

    def __init__(self, options):
        self.options = options
        self.binary = os.environ["GATEFOLD_BIN"]

    def run(self, *command):
        done = subprocess.run(
            [self.binary, *command, *self.options], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        print("$ gatefold", *command, done.returncode, done.stdout, done.stderr, file=sys.stderr)
        return done

    def login(self):
        """Signs in. The browser goes to each address that the command prints."""
        command = [self.binary, "login", "server", "--no-browser", *self.options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, text=True, **pipes) as child:
            for line in child.stdout:
                print(line, end="", file=sys.stderr)
                address = re.fullmatch(r"\s+(https?://\S+)\s*", line)
                if address:
                    threading.Thread(target=browse, args=(address[1],), daemon=True).start()
            return child.wait(timeout=LIMIT_S)


def browse(address):
    try:
        with urllib.request.urlopen(address, timeout=LIMIT_S) as page:
            page.read()
    except urllib.error.HTTPError as error:
        print("the browser was shown:", error, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
