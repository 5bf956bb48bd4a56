"""What clients do through `gatefold demo` before its restart and after it. `demo.mjs` says the same in JavaScript."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

from scenario import Scenario, equal, era_is_agreed, first_listing, within

CREATE_ISSUE = "issues__create_issue"
GET_ISSUE = "issues__get_issue"


async def issue_tool_is_found(scenario: Scenario) -> str:
    await first_listing(scenario)
    found = await scenario.ask("discover_tools", {"query": "create an issue"})
    names = [tool["name"] for tool in found["results"]]
    within([CREATE_ISSUE], names)
    return ", ".join(names)


async def issue_schema_is_given(scenario: Scenario) -> str:
    found = await scenario.ask("get_tool_schema", {"tool_name": CREATE_ISSUE})
    equal((found["name"], found["domain"]), (CREATE_ISSUE, "issues"))
    within(["title"], found["parameters"]["required"])
    return ", ".join(found["parameters"]["properties"])


async def issue_is_created(scenario: Scenario) -> str:
    title = f"{scenario.tag} {uuid4()}"
    issue, _ = await scenario.execute(CREATE_ISSUE, {"title": title})
    equal(issue["title"], title)
    Path(scenario.options.issue).write_text(json.dumps({"id": issue["id"], "title": title}), encoding="utf-8")
    return f"{issue['id']}: {title}"


async def issue_is_read_back(scenario: Scenario) -> str:
    kept = json.loads(Path(scenario.options.issue).read_text(encoding="utf-8"))
    issue, _ = await scenario.execute(GET_ISSUE, {"id": kept["id"]})
    equal({"id": issue["id"], "title": issue["title"]}, kept)
    return f"{issue['id']}: {issue['title']}"


WRITE_STEPS = [era_is_agreed, issue_tool_is_found, issue_schema_is_given, issue_is_created]
READ_STEPS = [era_is_agreed, issue_is_read_back]
