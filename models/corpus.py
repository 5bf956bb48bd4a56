"""The gathered texts as the training sees them, and which of them the teacher is asked about."""

import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from phrasing import request, requests_for_two
from sources import Tool
from talk import everyday, intended
from teach import sample
from words import words

# How many tools of a source take part: big sources repeat themselves.
SHARES = {"openapi": 26000, "wordnet": 27120, "botocore": 12000, "discovery": 9000, "azure": 5000}
# Of those, how many texts the teacher is asked about.
TAUGHT = {"openapi": 16000, "wordnet": 14000, "botocore": 5000, "discovery": 4000, "azure": 2500,
          "universal-mcp": 4000, "debian": 12000}
# Drawn apart, so that the draw of the others, whose vectors are kept, stays when one is added.
LATER = frozenset(["debian"])
TAUGHT_REQUESTS = 16000
EVERYDAY_REQUESTS = 20000
INTENDED_REQUESTS = 20000
SEED = 5


def load(path: Path) -> list[Tool]:
    """The tools that take part, in a fixed order."""
    by_source = defaultdict(list)
    for line in path.read_text().splitlines():
        tool = Tool(**json.loads(line))
        by_source[tool.source].append(tool)
    return [tool for source, tools in by_source.items()
            for tool in sample(tools, SHARES.get(source, len(tools)), SEED)]


def tool_text(tool: Tool) -> str:
    """A tool as one text: server, name, description. Words and programs go without their kind."""
    if tool.source in ("wordnet", "debian"):
        return f"{tool.name}: {tool.description}"
    return f"{tool.server} {' '.join(words(tool.name))}: {tool.description}"


def taught(tools: list[Tool]) -> tuple[list[int], list[tuple[str, tuple[int, ...]]]]:
    """Which tools the teacher sees, and the requests that it sees with the tools they need."""
    counted: Counter = Counter()
    order = [index for index, tool in enumerate(tools) if tool.source not in LATER]
    random.Random(SEED).shuffle(order)
    chosen = []
    for index in order:
        source = tools[index].source
        if counted[source] < TAUGHT.get(source, 1500):
            counted[source] += 1
            chosen.append(index)
    chance = random.Random(SEED + 1)
    servers = defaultdict(list)
    for index in chosen:
        servers[tools[index].server].append(index)
    requests = []
    for index in sample([i for i in chosen if tools[i].source != "wordnet" or tools[i].requests],
                        TAUGHT_REQUESTS, SEED):
        tool = tools[index]
        other = chance.choice(servers[tool.server])
        if tool.source != "wordnet" and other != index and chance.random() < 0.15:
            requests.append((requests_for_two(tool, tools[other], chance), (index, other)))
        else:
            requests.append((request(tool, chance), (index,)))
    requests += [(text, ()) for text in everyday(tools, EVERYDAY_REQUESTS, SEED)]
    requests += [(text, ()) for text in intended(tools, INTENDED_REQUESTS, SEED)]
    later = [index for index, tool in enumerate(tools) if tool.source in LATER]
    chosen += sample(later, TAUGHT["debian"], SEED)
    return chosen, requests


# Services behind a set that measures: what other packages say about them is not learnt from.
MEASURED = ("spotify", "themoviedb", "tmdb")


def lessons(path: Path) -> tuple[list[Tool], list[int], list[tuple[str, tuple[int, ...]]]]:
    """The tools to learn from with what `taught` chose, those of measured services left out.

    They go after the draw, so that a service more does not change what the teacher is asked.
    """
    tools = load(path)
    chosen, requests = taught(tools)
    kept = [index for index, tool in enumerate(tools)
            if not any(name in f"{tool.server} {tool.name}".lower() for name in MEASURED)]
    place = {index: row for row, index in enumerate(kept)}
    return ([tools[index] for index in kept],
            [place[index] for index in chosen if index in place],
            [(text, tuple(place[index] for index in needed)) for text, needed in requests
             if all(index in place for index in needed)])


def main() -> None:
    """Fills the teacher's cache and says how much it holds."""
    import argparse

    from teach import Teacher

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    tools, chosen, requests = lessons(arguments.texts)
    teacher = Teacher(arguments.cache)
    print(len(tools), "tools take part;", len(chosen), "taught, and", len(requests), "requests")
    teacher.vectors([text for text, _ in requests])
    teacher.vectors([tool_text(tools[index]) for index in chosen])


if __name__ == "__main__":
    main()
