"""HTTP APIs: r06, r07, r19."""

import json
import sys

from harness import Client, texts


def property_keys(bench):
    for config in ("gatefold.toml", "legacy.toml", "more.toml", "mcp.toml", "actions.toml"):
        for disclosure in ("flat", "intent", "typed", "gateway", "namespace"):
            done = bench.gatefold("--config", config, "surface", "--disclosure", disclosure, "--json", state=config)
            (bench.at / "surface.json").write_text(done.stdout)
            keys = bench.shell(["sh", "-c", f"'{sys.executable}' keys.py < surface.json"])
            bench.row(f"{config} {disclosure}", "refused keys: 0" in keys.stdout, keys.stdout or done.all)
    with bench.peer("api.py") as port, bench.serve(env={"PORT": port}) as gateway:
        client = Client(gateway.url + "?disclosure=flat")
        schema = next(tool for tool in client.tools() if tool["name"] == "calls__listCalls")["inputSchema"]
        description = json.loads((bench.at / "openapi.json").read_text())
        operation = next(
            item for path in description["paths"].values() for item in path.values() if item.get("operationId") == "listCalls"
        )
        own = [parameter["name"] for parameter in operation["parameters"]]
        values = {"array": [1, 2], "integer": 1, "string": "2026-01-01"}
        fitting = [values[part["type"]] for part in schema["properties"].values()]
        for kind, names in (("their own names", own), ("legal names", schema["properties"])):
            answer = client.call("calls__listCalls", **dict(zip(names, fitting)))
            said = texts(answer) or json.dumps(answer)
            arrived = json.loads(said).get("path", "") if said.startswith("{") else ""
            wanted = ("StartTime%3C=2026-01-01", "ids%5B%5D=1&ids%5B%5D=2")
            is_right = all(part in arrived or part.replace("%5B", "[").replace("%5D", "]") in arrived for part in wanted)
            bench.row(f"a call by {kind}", is_right, said)


def two_keys(bench):
    schemes = '{ apiKey = "A", appKey = "B", bearer = "T", tenant = "K", session = "S", user = { username = "u", password = "p" } }'
    for config in ("gatefold.toml", "more.toml"):
        text = (bench.at / config).read_text()
        own = {"gatefold.toml": '{ apiKey = "A", appKey = "B", bearer = "T", tenant = "K" }'}.get(config, schemes)
        (bench.at / f"own-{config}").write_text(text.replace('{ api_key = "A" }', f"{{ schemes = {own} }}"))
        done = bench.gatefold("--config", config, "check", state=f"check-{config}")
        bench.row(f"{config} check names what is missing", "appKey" in done.all, done.all)
    call = lambda config, name, port: bench.gatefold("--config", f"own-{config}", "tools", "call", name, env={"PORT": port}, state=config)
    with bench.peer("api.py") as port:
        for name in ("monitors__listMonitors", "monitors__mixed"):
            done = call("gatefold.toml", name, port)
            bench.row(name, '"ok"' in done.stdout.replace("\\", "") or "ok" in done.stdout and "missing" not in done.stdout, done.all)
    marks = {"A": "X-Api-Key", "B": "X-Application-Key", "u": "Basic ", "T": "Bearer T", "S": "sid=S", "K": "tenant_key=K"}
    with bench.peer("echo.py") as port:
        for name, wanted in (
            ("basicAndKey", ["uB"]), ("cookieAndHeader", ["SB"]), ("three", ["ABK"]), ("either", ["T", "AB"]),
            ("onlyA", ["A"]), ("onlyB", ["B"]), ("open", [""]),
        ):
            done = call("more.toml", f"m__{name}", port)
            sent = {key for key, mark in marks.items() if mark in done.stdout}
            # A value goes into its own scheme's place alone.
            crossed = '"X-Application-Key": "A"' in done.stdout.replace("\\", "")
            bench.row(name, sent in [set(one) for one in wanted] and not crossed, done.stdout or done.stderr)


def answers_unlike_their_schema(bench):
    for config, script in (("gatefold.toml", "api.py"), ("more.toml", "more.py")):
        with bench.peer(script) as port, bench.serve("--config", config, env={"PORT": port}, state=config) as gateway:
            source = gateway.url + "/source/accounts"
            names = Client(source).tools_of("")
            aliases = [(f"accounts__{name}", {}, name) for name in names]
            bench.node_calls("flat", gateway.url + "?disclosure=flat", aliases)
            bench.node_calls("source", source, [(name, {}, name) for name in names])
            for name in names:
                answer = Client(gateway.url).call("execute_tool", tool_name=f"accounts__{name}", arguments={})
                bench.row(f"{name}, execute", bool(answer.get("content")), json.dumps(answer))


CASES = {"r06": property_keys, "r07": two_keys, "r19": answers_unlike_their_schema}
