"""The official Python client, which signs its user in at the gateway and calls a tool there.

    enter.py URL TOOL PROFILE BROWSER NODE

The person is BROWSER (`providers/browser.mjs`, run by NODE), with PROFILE. Prints one line of JSON: what the tool said,
and the client's id.
"""

import asyncio
import json
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx2
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

LIMIT_S = 60


class Kept:
    """Keeps in memory what a client keeps."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class Callback(BaseHTTPRequestHandler):
    """Where the browser comes back to."""

    answer: "asyncio.Future[dict[str, str]]"
    loop: asyncio.AbstractEventLoop

    def do_GET(self):
        asked = urllib.parse.urlsplit(self.path)
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Back at the client</title>Done.")
        if asked.path == "/callback":
            fields = dict(urllib.parse.parse_qsl(asked.query))
            self.loop.call_soon_threadsafe(self.answer.set_result, fields)

    def log_message(self, *_):
        pass


async def main():
    url, tool, profile, browser, node = sys.argv[1:]
    Callback.loop = asyncio.get_running_loop()
    Callback.answer = Callback.loop.create_future()
    server = HTTPServer(("127.0.0.1", 0), Callback)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    async def redirect(address):
        await asyncio.create_subprocess_exec(node, browser, profile, address, "allow", stdout=sys.stderr)

    async def arrived():
        fields = await asyncio.wait_for(Callback.answer, LIMIT_S)
        return AuthorizationCodeResult(code=fields["code"], state=fields.get("state"), iss=fields.get("iss"))

    kept = Kept()
    metadata = OAuthClientMetadata(
        client_name="Interop",
        redirect_uris=[f"http://127.0.0.1:{server.server_port}/callback"],
        token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(url, metadata, kept, redirect, arrived)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=LIMIT_S) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        asked = {"tool_name": tool, "arguments": {"by": "state"}}
        called = await session.call_tool("execute_tool", asked)
        told = "\n".join(part.text for part in called.content)
        refreshes = kept.tokens.refresh_token is not None
        print(json.dumps({"told": told, "client": kept.client.client_id, "refreshes": refreshes}))


asyncio.run(main())
