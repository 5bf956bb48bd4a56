"""Skills and other clients' files: r01, r02, r21, r22."""

import json
import re

from harness import Client, texts

LINKS = "follow_links_to"


def linked_skills(bench):
    for script in ("make.sh", "more.sh"):
        done = bench.shell(["sh", script])
        assert done.returncode == 0, done.all
    targets = {
        "skills": ["shared-notes", "file-link", "whole-disk"],
        "inside": ["run.py"],
        "files": ["greeting.md"],
        "chain": ["kit"],
        "many": ["group", "absolute"],
    }
    for folder in ("skills", "whole", "inside", "files", "chain", "up", "many"):
        done = bench.gatefold("skills", "check", folder, limit=30)
        named = [name for name in targets.get(folder, []) if name in done.all]
        is_right = named == targets.get(folder, []) and (LINKS in done.all or folder in ("whole", "up"))
        bench.row(f"check {folder}", is_right and "panicked" not in done.all, done.all)
    for folder, skills in (("skills", ["plain", "shared-notes", "file-link"]), ("whole", ["one", "two"]), ("chain", ["one", "two"]),
                           ("files", ["greeting"]), ("many", ["one", "two"])):
        config = bench.at / f"{folder}.toml"
        config.write_text(f'[sources.s]\nskills = "{folder}"\n{LINKS} = ["store"]\n')
        done = bench.gatefold("--config", config.name, "skills", "list", state=folder)
        bench.row(f"{folder} with the key", all(skill in done.stdout for skill in skills), done.all)
    done = bench.gatefold("--config", "new.toml", "add", "x", "--skills", "skills")
    bench.row("add", "link" in done.all and LINKS in done.all, done.all)


def yaml_of_skills(bench):
    for folder in ("skills", "more"):
        done = bench.gatefold("skills", "check", folder)
        for skill in sorted(path.name for path in (bench.at / folder).iterdir()):
            lines = [line for line in done.all.splitlines() if f"{skill}/SKILL.md" in line]
            listed = re.search(rf"\b{re.escape(skill)}\b", done.all)
            bench.row(f"{folder}/{skill}", bool(listed) and not any("no YAML" in line for line in lines), " ".join(lines) or "no warning")
    for skill, text in (("hash-cut", "#4711"), ("pay-back", "money back")):
        folder = "more" if skill == "hash-cut" else "skills"
        config = bench.at / f"{folder}.toml"
        config.write_text(f'[sources.s]\nskills = "{folder}"\n')
        done = bench.gatefold("--config", config.name, "skills", "show", skill, state=folder)
        checked = bench.gatefold("skills", "check", folder)
        bench.row(f"{skill}, its text", text in done.stdout or f"{skill}" in checked.all and "quote" in checked.all, done.all)
    done = bench.gatefold("tools", "search", "give a customer money back")
    bench.row("tools search", "pay-back" in done.stdout, done.all)


def other_clients_files(bench):
    env = {"TICKETS_TOKEN": "tok-1", "HOME": bench.at}
    (bench.at / ".secrets").mkdir()
    (bench.at / ".secrets/notes").write_text("note-1\n")
    for file, names in {
        "opencode.json": ["files", "tickets"],
        "crush.json": ["files", "tickets"],
        "continue-config.yaml": ["Time of day", "Tickets"],
        "cline_mcp_settings.json": ["tickets", "文件", "📁"],
        "copilot-mcp-config.json": ["files", "tickets"],
        "names.json": ["文件", "📁", "Файлы", "team.files/shared"],
    }.items():
        done = bench.gatefold("--mcp-config", file, "config", "check", env=env, state=file)
        listed = bench.gatefold("--mcp-config", file, "list", env=env, state=file)
        seen = listed.all + done.all
        bench.row(file, all(name in seen for name in names), " ".join(seen.split()))
    # Servers are known by their lists once they have been connected.
    bench.gatefold("--mcp-config", "tools-allowed.json", "check", env=env, state="allowed")
    with bench.serve("--mcp-config", "tools-allowed.json", env=env, state="allowed") as gateway:
        client = Client(gateway.url + "?disclosure=flat")
        client.tools_of("a__")
        tools = [tool["name"] for tool in client.tools()]
        four = ["delete_file", "env", "list_directory", "read_file"]
        for source, wanted in {
            "a": ["env", "read_file"], "b": four, "c": [], "d": ["env", "list_directory", "read_file"], "e": ["read_file"],
        }.items():
            found = sorted(name[3:] for name in tools if name.startswith(f"{source}__"))
            bench.row(f"tools-allowed.json {source}", found == wanted, found)
        said = texts(client.call("d__env"))
        # What a source was given is masked in its answers, and only that.
        bench.row("pa$word", '"PASSWORD": "[redacted]"' in said, said)
        said = texts(client.call("a__env"))
        bench.row("${TICKETS_TOKEN}", "tok-1" in said, said)


def inputs_of_vs_code(bench):
    for label, places in {
        "mcp.json": {"user": "mcp.json"},
        "more.json": {"user": "more.json"},
        "two-files": {"user": "two-files/user.json", "project": "two-files/project.json"},
    }.items():
        home = bench.at / f"home-{label}"
        at = {"user": home / ".config/Code/User/mcp.json", "project": bench.at / ".vscode/mcp.json"}
        for kind, file in places.items():
            at[kind].parent.mkdir(parents=True, exist_ok=True)
            at[kind].write_text((bench.at / file).read_text())
        done = bench.gatefold("import", "vs-code", "--project", "--dry-run", env={"HOME": home}, state=label)
        keys = re.findall(r"X-Key[^\n]*?\$\{([^}:]+)", done.stdout)
        bench.row(f"{label}: one input, one variable", len(keys) >= 2 and len(set(keys)) == len(keys), keys or done.all)
        system = {"PATH", "HOME", "_", "USER", "PWD", "SHELL"} & set(re.findall(r"\$\{([^}:]+)\}", done.stdout))
        bench.row(f"{label}: none that the system sets", not system, system or "none")
        if label == "mcp.json":
            bench.row("undeclared is named", "nobody-asks" in done.all, done.all)
            windows = done.stdout.split("windows", 1)[-1]
            bench.row("cmd /c", "Windows" in done.all and 'command = "cmd"' not in windows, windows)
            bench.row("region", "eu" in done.stdout, "")
    listed = bench.gatefold("--mcp-config", "mcp.json", "list", env={"APPDATA": "x"})
    bench.row("--mcp-config mcp.json list", listed.returncode is not None and "nobody-asks" in listed.all, listed.all)


CASES = {"r01": linked_skills, "r02": yaml_of_skills, "r21": other_clients_files, "r22": inputs_of_vs_code}
