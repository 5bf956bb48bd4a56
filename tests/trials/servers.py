"""MCP servers as they are: r04, r10, r11, r13, r14, r24."""

import base64
import json
import os
import signal
import time

from harness import Client, get, is_unicode, texts

PNG, JPEG, GIF, WEBP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF"


def empty_arrays(bench):
    for config in ("gatefold.toml", "more.toml"):
        checked = bench.gatefold("--config", config, "check")
        bench.row(f"{config} check", "repaired" in checked.all, checked.stdout.strip().splitlines()[-1])
        with bench.serve("--config", config) as gateway:
            flat, arguments = gateway.url + "?disclosure=flat", {"q": "x"}
            tools = Client(flat).tools_of("trial__")
            through = [("execute_tool", {"tool_name": tool, "arguments": arguments}, tool) for tool in tools]
            bench.node_calls(f"{config} flat", flat, [(tool, arguments, tool) for tool in tools])
            bench.node_calls(f"{config} execute", gateway.url, through)
            bench.node_calls(f"{config} source", gateway.url + "/source/trial", [])


def answers_of_404(bench):
    with bench.peer("server.py") as port:
        env = {"PORT": port}
        checked = bench.gatefold("check", env=env)
        bench.row("check", checked.returncode == 0, checked.all.splitlines()[-1])
        with bench.serve(env=env) as gateway:
            client = Client(gateway.url + "?disclosure=flat")
            before = get(f"http://127.0.0.1:{port}/seen")
            said = [texts(client.call("trial__count")) for _ in range(10)]
            after = get(f"http://127.0.0.1:{port}/seen")
            calls = after["tools/call"] - before.get("tools/call", 0)
            greetings = after["initialize"] - before["initialize"]
            bench.row("ten calls", all("call number" in one for one in said) and calls == 10 and greetings <= 1, after)
            levels = after.get("logging/setLevel", 0)
            bench.row("logging/setLevel", levels - before.get("logging/setLevel", 0) <= 1, f"asked {levels} times")
    for prompts in ("", "1"):
        with bench.peer("more.py", **({"PROMPTS": prompts} if prompts else {})) as port:
            more(bench, port, " with PROMPTS" if prompts else "")


def more(bench, port, suffix):
    with bench.serve(env={"PORT": port}, state=f"more{suffix.strip()}") as gateway:
        client = Client(gateway.url + "/source/trial")
        for sibling, wanted, method, params in [
            ("gone", "Unknown tool: gone", "tools/call", {"name": "gone", "arguments": {}}),
            ("lost_row", "No such row", "tools/call", {"name": "lost_row", "arguments": {}}),
            ("resources/read docs:gone", "not found", "resources/read", {"uri": "docs:gone"}),
            ("prompts/get nobody", "", "prompts/get", {"name": "nobody"}),
            ("completion/complete", "", "completion/complete",
             {"ref": {"type": "ref/resource", "uri": "docs:there"}, "argument": {"name": "x", "value": "y"}}),
            ("resources/subscribe", "", "resources/subscribe", {"uri": "docs:there"}),
            ("logging/setLevel", None, "logging/setLevel", {"level": "info"}),
        ]:
            before = get(f"http://127.0.0.1:{port}/seen")
            answer = client.request(method, **params)
            after = get(f"http://127.0.0.1:{port}/seen")
            sent = after.get(method, 0) - before.get(method, 0)
            said = json.dumps(answer)
            is_told = wanted is None or (wanted in said and ("error" in answer or answer.get("isError")))
            once = sent <= 1 and after["initialize"] - before["initialize"] <= (sibling == "gone")
            count = client.call("count")
            bench.row(sibling + suffix, is_told and once and "call number" in texts(count), f"sent {sent} times; {said}")


def lost_sessions(bench):
    modes = [("server.py", mode, True) for mode in ("lost-400", "lost-200", "lost-200-sse")]
    gone = "404-text 404-own-id 400-text 400-own-id 400-not-initialized 410-text 200-32001 200-32600 500-json"
    modes += [("more.py", mode, True) for mode in gone.split()]
    modes += [("more.py", mode, False) for mode in ("args-400", "busy-400", "tool-error")]
    for script, mode, is_lost in modes:
        with bench.peer(script, MODE=mode) as port, bench.serve(env={"PORT": port}, state=mode) as gateway:
            client = Client(gateway.url + "?disclosure=flat")
            client.call("trial__count")
            get(f"http://127.0.0.1:{port}/forget") if is_lost else None
            before = get(f"http://127.0.0.1:{port}/seen")
            said = client.call("trial__count")
            seen = get(f"http://127.0.0.1:{port}/seen")
            came = seen["came"] - before["came"]
            if is_lost:
                # These two may stay errors; the next call has to go on then.
                may_fail = mode in ("410-text", "500-json")
                is_right = seen["ran"] == 2 and seen["initialize"] - before["initialize"] == 1 or may_fail and came <= 2
            else:
                is_right = came == 1 and seen["initialize"] == before["initialize"]
            bench.row(mode, is_right, f"{seen} {texts(said) or said}")


def lone_surrogates(bench):
    for config, name, env in [
        ("gatefold.toml", "trial__snapshot", {}),
        ("more.toml", None, {}),
        ("more.toml", None, {"GREETING": "half"}),
    ]:
        label = config + (" GREETING" if env else "")
        checked = bench.gatefold("--config", config, "check", env=env)
        bench.row(f"{label} check", checked.returncode == 0 and "panicked" not in checked.all, checked.stderr or "ok")
        if name:
            for command in (["tools", "schema", name], ["tools", "call", name, "--json"]):
                done = bench.gatefold("--config", config, *command, env=env)
                is_right = done.returncode == 0 and "\ufffd" in done.stdout and "panicked" not in done.all
                bench.row(" ".join(command[:2]), is_right, done.all)
        with bench.serve("--config", config, env=env, state=f"state-{label}") as gateway:
            faces = {"flat": gateway.url + "?disclosure=flat", "execute": gateway.url}
            tools = Client(faces["flat"]).tools_of("trial__")
            bench.row(f"{label} tools", bool(tools), tools)
            for face, url in faces.items():
                client = Client(url)
                answers = [client.text, client.tools(), client.request("prompts/list"), client.request("resources/list")]
                bench.row(f"{label} lists, {face}", all(map(is_unicode, [json.loads(json.dumps(one)) for one in answers])))
                for tool in tools:
                    call = client.call if face == "flat" else lambda name: client.call("execute_tool", tool_name=name, arguments={})
                    answer = call(tool)
                    is_right = is_unicode(answer) and json.dumps(answer) != "{}" and ("error" not in answer or answer["error"].get("message"))
                    bench.row(f"{label} {tool}, {face}", bool(is_right), json.dumps(answer, ensure_ascii=True))
    with bench.peer("api.py") as port, bench.serve("--config", "api.toml", env={"PORT": port}, state="api") as gateway:
        answer = Client(gateway.url + "?disclosure=flat").call("web__page")
        # What a model's program reads in the text; a whole pair may stay escaped.
        said = json.loads(texts(answer))
        bench.row("api.toml", is_unicode(answer) and said == {"title": "cut \ufffd", "whole": "\U0001f600"}, json.dumps(answer))


def images(bench):
    for config, script in (("gatefold.toml", None), ("more.toml", None), ("api.toml", "api.py")):
        if script:
            with bench.peer(script) as port:
                pictures(bench, config, {"PORT": port})
        else:
            pictures(bench, config, {})


def pictures(bench, config, env):
    with bench.serve("--config", config, env=env, state=config) as gateway:
        flat, whole = Client(gateway.url + "?disclosure=flat"), Client(gateway.url)
        for name in flat.tools_of("web__" if config == "api.toml" else "trial__"):
            answers = {"flat": flat.call(name), "execute": whole.call("execute_tool", tool_name=name, arguments={})}
            for face, answer in answers.items():
                blocks = answer.get("content", [])
                # A picture's type is what its bytes say; nothing is left that a provider refuses.
                is_right = bool(blocks) and all(is_sound(block) for block in blocks)
                if config != "api.toml":
                    is_right &= "here it is" in texts(answer) or name.split("__")[1].startswith("fine_")
                kinds = [block["type"] + ":" + str(block.get("mimeType", "")) for block in blocks]
                bench.row(f"{name.split('__')[1]}, {face}", is_right, f"{kinds} {texts(answer)}")


def is_sound(block):
    if block["type"] != "image":
        return True
    try:
        data = base64.b64decode(block["data"], validate=True)
    except (ValueError, TypeError):
        return False
    magic = {"image/png": PNG, "image/jpeg": JPEG, "image/gif": GIF, "image/webp": WEBP}.get(block.get("mimeType"))
    return magic is not None and data.startswith(magic)


def containers(bench):
    path = f"{bench.at / 'bin'}:{os.environ['PATH']}"
    folder = bench.at / "box"
    env = {"PATH": path, "FAKE_DOCKER": folder}
    running = lambda: bench.shell([bench.at / "bin/docker", "ps"], env).stdout.split()

    def row(sibling, wait_s=5):
        until = time.monotonic() + wait_s
        while running() and time.monotonic() < until:
            time.sleep(0.2)
        left = running()
        bench.row(sibling, not left, f"left: {left}" if left else "none left")
        for name in left:
            bench.shell([bench.at / "bin/docker", "kill", name], env)

    bench.gatefold("check", env=env)
    row("check")
    done = bench.gatefold("tools", "call", "boxed__hello", env=env)
    row("tools call") if "hello" in done.stdout else bench.row("tools call", False, done.all)
    with bench.serve(env=env) as gateway:
        Client(gateway.url + "?disclosure=flat").call("boxed__hello")
    row("serve and Ctrl-C")
    with bench.serve(env=env) as gateway:
        client = Client(gateway.url + "?disclosure=flat")
        client.call("boxed__hello")
        time.sleep(12)
        row("12 s of idling")
        client.call("boxed__hello")
        config = bench.at / "gatefold.toml"
        whole = config.read_text()
        config.write_text("")
        row("a reload that drops the source", 15)
        config.write_text(whole)
    with bench.serve(env=env) as gateway:
        Client(gateway.url + "?disclosure=flat").call("boxed__hello")
        os.kill(gateway.pid, signal.SIGKILL)
        gateway.wait()
    left = running()
    examined = bench.gatefold("doctor", "--offline", env=env)
    named = bool(left) and all(name in examined.stdout for name in left) or "container" in examined.stdout
    bench.row("doctor after kill -9", named, f"left: {left}")
    with bench.serve(env=env):
        row("kill -9 and a new start", 15)
    text = (bench.at / "more.toml").read_text()
    for source in ("named", "cidfile", "long", "podman"):
        # Each by itself: a container's name says nothing of the others.
        section = text[text.index(f"[sources.{source}]") :].split("\n[sources.")[0]
        section = section.replace("/tmp/mine.cid", str(bench.at / "mine.cid"))
        (bench.at / f"{source}.toml").write_text(section)
        bench.gatefold("--config", f"{source}.toml", "check", env={**env, "TOKEN": "x"}, state=source)
        row(f"more.toml {source}")
    with bench.process(["sleep", "60"]) as other:
        stranger = folder / "stranger"
        stranger.parent.mkdir(exist_ok=True)
        stranger.write_text(str(other.pid))
        bench.gatefold("check", env=env)
        bench.row("another's container", other.poll() is None and running() == ["stranger"], running())
        stranger.unlink()


CASES = {
    "r04": empty_arrays,
    "r10": answers_of_404,
    "r11": lost_sessions,
    "r13": lone_surrogates,
    "r14": images,
    "r24": containers,
}
