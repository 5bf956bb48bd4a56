"""Signing in as providers are, and a gateway below a path: r08, r09, r25."""

import json
import re
import subprocess
import time
import urllib.error
import urllib.request

from harness import START_LIMIT_S, free_port

# How long a refused sign-in may take to say so.
REFUSAL_LIMIT_S = 5


def login(bench, options, name, env, state):
    """What was said, and whether it signed in. The provider's page says yes at once."""
    command = [bench.program, "--state-dir", bench.state(state), *options, "login", name, "--no-browser"]
    with bench.process(command, env) as process:
        until = time.monotonic() + START_LIMIT_S
        while time.monotonic() < until and process.poll() is None:
            said = process.log.read_text()
            address = re.search(r"https?://\S+/authorize\?\S+", said)
            if address:
                try:
                    urllib.request.urlopen(address[0], timeout=START_LIMIT_S).read()
                except urllib.error.HTTPError as error:
                    # Gatefold's own page may say no too; then the terminal says why.
                    page = error.read().decode()
                    try:
                        process.wait(REFUSAL_LIMIT_S)
                    except subprocess.TimeoutExpired:
                        pass
                    return f"{process.log.read_text()} {page}", False
                except urllib.error.URLError as error:
                    return f"{said} {error}", False
                break
            time.sleep(0.05)
        process.wait(START_LIMIT_S)
        return process.log.read_text(), process.returncode == 0


def fixed_redirects(bench):
    back = free_port()
    written = {
        "exact": f"http://localhost:{back}/callback",
        "any-port": "http://localhost/callback",
        "path": "http://localhost/oauth/done",
        "ip6": "http://[::1]/callback",
        "loopback": None,
    }
    for mode, redirect in written.items():
        with bench.peer("provider.py", MODE=mode, CALLBACK=back) as port:
            env = {"PORT": port}
            key = f', redirect_url = "{redirect}"' if redirect else ""
            for config, name, call, mark in (
                ("gatefold.toml", "trial", "trial__whoami", 'client_id = "pinned"'),
                ("api.toml", "crm", None, 'client_id = "pinned"'),
            ):
                own = bench.at / f"{mode}-{config}"
                own.write_text((bench.at / config).read_text().replace(mark, mark + key))
                state = f"{mode}-{name}"
                said, is_in = login(bench, ["--config", own.name], name, env, state)
                if is_in and call:
                    done = bench.gatefold("--config", own.name, "tools", "call", call, env=env, state=state)
                    is_in, said = "ann" in done.stdout, said + done.all
                bench.row(f"{mode}, {name}", is_in, said)
            if redirect:
                said, is_in = login(bench, [], "trial", env, f"{mode}-without")
                bench.row(f"{mode}, without the key", not is_in and "redirect_url" in said, said)
    for number, vendor in enumerate(("vendor.mcp.json", "vendor-2.mcp.json")):
        text = (bench.at / vendor).read_text()
        folder = bench.at / f"home-{number}"
        folder.mkdir()
        (folder / ".cursor").mkdir()
        (folder / ".cursor/mcp.json").write_text(text)
        done = bench.gatefold("import", "cursor", "--dry-run", env={"HOME": folder})
        wanted = ["pinned", "3118"] if "callbackPort" in text else ["pinned", '"read"']
        is_right = all(word in done.stdout for word in wanted) and '"s3"' not in done.stdout
        bench.row(f"import {vendor}", is_right, done.stdout)
        done = bench.gatefold("--mcp-config", vendor, "check", state=vendor)
        bench.row(f"--mcp-config {vendor}", done.returncode is not None and "panicked" not in done.all, done.all)


def scopes_and_nulls(bench):
    modes = [("provider.py", mode) for mode in ("phantom", "nulls", "array", "openid")]
    odd = """null-prm null-scopes null-methods null-challenge null-reg null-token scope-list scope-commas scope-null no-type
             type-lower expires-text expires-null expires-float refresh-null id-number secret-empty refused-at-reg
             refused-at-token"""
    modes += [("more.py", mode) for mode in odd.split()]
    for script, mode in modes:
        with bench.peer(script, MODE=mode) as port:
            said, is_in = login(bench, [], "trial", {"PORT": port}, mode)
        # A scope that is refused is for a person to change; a challenge of null may be refused in words.
        may_tell = {"phantom", "openid", "refused-at-reg", "refused-at-token"}
        is_told = mode in may_tell and "oauth.scopes" in said or mode == "null-challenge" and "expected" not in said
        bench.row(mode, (is_in or is_told) and "expected a sequence" not in said, ("signed in " if is_in else "") + said)


def below_a_path(bench):
    public = "http://127.0.0.1:8080/gatefold"
    with bench.serve(env={"PROXY": 8080}) as gateway:
        # As the proxy's lines in the trial send it: the path goes, the well-known places stay.
        at = f"http://127.0.0.1:{gateway.port}"
        request = urllib.request.Request(at + "/mcp", b"{}", {"content-type": "application/json", "host": "127.0.0.1:8080"})
        try:
            urllib.request.urlopen(request, timeout=START_LIMIT_S)
            challenge = ""
        except urllib.error.HTTPError as error:
            challenge = error.headers.get("www-authenticate", "")
        resource = "/.well-known/oauth-protected-resource/gatefold/mcp"
        bench.row("WWW-Authenticate", f"http://127.0.0.1:8080{resource}" in challenge, challenge)
        for place, member, wanted in (
            (resource, "resource", public + "/mcp"),
            ("/.well-known/oauth-authorization-server/gatefold", "issuer", public),
        ):
            request = urllib.request.Request(at + place, headers={"host": "127.0.0.1:8080"})
            found = json.loads(urllib.request.urlopen(request, timeout=START_LIMIT_S).read())
            ends = [value for key, value in found.items() if key.endswith("_endpoint")]
            is_right = found[member] == wanted and all(end.startswith(public + "/") for end in ends)
            bench.row(place.split("/")[2], is_right, found)
    text = (bench.at / "gatefold.toml").read_text()
    for line in (bench.at / "more.txt").read_text().splitlines():
        must = "taken" if "be taken" in line else "refused" if "be refused" in line else None
        for address in re.findall(r"https://\S+", line) if must else []:
            own = re.sub(r'public_url = "[^"]*"', f'public_url = "{address}"', text)
            (bench.at / "own.toml").write_text(own)
            done = bench.gatefold("--config", "own.toml", "config", "check")
            is_right = (done.returncode == 0) == (must == "taken")
            bench.row(address, is_right and ("public_url" in done.all or must == "taken"), f"{must}: {done.all}")


CASES = {"r08": fixed_redirects, "r09": scopes_and_nulls, "r25": below_a_path}
