"""A server over pipes that answers at length, and tells more than anybody reads while it works."""

import json
import sys

# A result and a notice, in characters.
BIG = 8 << 20
NOTICE = 1 << 20
NOTICES = 100

TOOLS = [
    {"name": "big", "description": "Answers at length.", "inputSchema": {"type": "object"}},
    {"name": "flood", "description": "Tells a lot on its way.", "inputSchema": {"type": "object"}},
]


def write(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def called(number, name):
    if name == "flood":
        for _ in range(NOTICES):
            write({"method": "notifications/message", "params": {"level": "info", "data": "x" * NOTICE}})
    text = "x" * (BIG if name == "big" else 10)
    write({"id": number, "result": {"content": [{"type": "text", "text": text}]}})


for line in sys.stdin:
    message = json.loads(line)
    number, method = message.get("id"), message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        capabilities = {"tools": {}, "logging": {}}
        server = {"name": "loud", "version": "1"}
        write({"id": number, "result": {
            "protocolVersion": version, "capabilities": capabilities, "serverInfo": server}})
    elif method == "tools/list":
        write({"id": number, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        called(number, message["params"]["name"])
    elif method == "ping":
        write({"id": number, "result": {}})
    elif number is not None:
        write({"id": number, "error": {"code": -32601, "message": "not here"}})
