"""FastMCP's client, which signs its user in at the gateway and calls a tool there.

    enter_fastmcp.py URL TOOL PROFILE BROWSER NODE

It opens the browser and waits for its answer by itself. The person is BROWSER (`providers/browser.mjs`, run by NODE),
with PROFILE. Prints one line of JSON: what the tool said, and the client's id.
"""

import asyncio
import json
import sys
import webbrowser

from fastmcp import Client
from fastmcp.client.auth import OAuth

LIMIT_S = 60


async def main():
    url, tool, profile, browser, node = sys.argv[1:]
    person = webbrowser.BackgroundBrowser([node, browser, profile, "%s", "allow"])
    webbrowser.register("person", None, person, preferred=True)
    oauth = OAuth(client_name="Interop", callback_timeout=LIMIT_S)
    async with Client(url, auth=oauth, timeout=LIMIT_S) as client:
        asked = {"tool_name": tool, "arguments": {"by": "state"}}
        called = await client.call_tool("execute_tool", asked)
        told = "\n".join(part.text for part in called.content)
        known, tokens = oauth.context.client_info, oauth.context.current_tokens
        refreshes = tokens.refresh_token is not None
        print(json.dumps({"told": told, "client": known.client_id, "refreshes": refreshes}))


asyncio.run(main())
