"""A model that does what the last message says, over OpenAI's chat completions, and an MCP server with one tool.

Prints its port and ends with its standard input. What a message can ask for: `hello`, `turns N` (N calls of `echo`, one after the other), `deltas N`
(N pieces, 20 ms apart, each of which is the time at which it was sent), `children N` (N delegates at once), `wait` (an
answer after a second), `hold N` (an answer after N seconds).
"""

import asyncio
import json
import sys
import time

DELTA_EVERY_S = 0.02
CHILD_S = 1.0
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


def piece(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def texts(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def offered(request, name):
    names = [tool["function"]["name"] for tool in request.get("tools", [])]
    return [own for own in names if own == name or own.endswith(f"__{name}")]


def echo(request, turn):
    """A call of `echo`, by its own name or through the tool of its kind."""
    text = f"turn {turn}"
    if named := offered(request, "echo"):
        return named[0], {"text": text}
    inner = {"subcommand": "call", "server": "bench", "tool": "echo", "parameters": {"text": text}}
    return "mcp", inner


def delegations(request, count):
    if offered(request, "call_agent"):
        return [("call_agent", {"agent_id": "worker", "task": f"wait {n}"}) for n in range(count)]
    return [("worker", {"input": f"wait {n}"}) for n in range(count)]


def calls(made):
    shown = [
        {"index": n, "id": f"call_{time.monotonic_ns()}_{n}", "type": "function",
         "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(made)
    ]
    return [piece({"role": "assistant", "tool_calls": shown}), piece({}, "tool_calls")]


async def answer(request, write):
    messages = request["messages"]
    at = max(n for n, message in enumerate(messages) if message["role"] == "user")
    rounds = sum(message["role"] == "assistant" for message in messages[at:])
    words = texts(messages[at]).split()
    asked, count = words[0], int(words[1]) if words[1:] else 0
    if asked == "deltas":
        for _ in range(count):
            await write(piece({"content": f"<{time.time_ns()}>\n"}))
            await asyncio.sleep(DELTA_EVERY_S)
        return await write(piece({}, "stop"))
    if asked in ("wait", "hold"):
        await asyncio.sleep(count if asked == "hold" else CHILD_S)
    made = []
    if asked == "turns" and rounds < count:
        made = [echo(request, rounds)]
    elif asked == "children" and rounds == 0:
        made = delegations(request, count)
    for part in calls(made) if made else [piece({"role": "assistant", "content": "done"}), piece({}, "stop")]:
        await write(part)


def result_of(message):
    method = message["method"]
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "bench", "version": "1"}}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return {"tools": [{"name": "echo", "description": "Give a text back.", "inputSchema": schema}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]}
    return None if method == "ping" else {}


def mcp_response(body):
    message = json.loads(body)
    if "id" not in message:
        return 202, b""
    return 200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result_of(message) or {}}).encode()


async def read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    line, *headers = head.decode().split("\r\n")
    fields = dict(header.lower().split(": ", 1) for header in headers if ": " in header)
    body = await reader.readexactly(int(fields.get("content-length", 0)))
    method, path, _ = line.split()
    return method, path, body


class Served:
    asked = 0


async def serve(reader, writer):
    try:
        while True:
            method, path, body = await read_request(reader)
            if path == "/asked":
                text = str(Served.asked).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
            elif method != "POST":
                writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            elif path == "/mcp":
                status, text = mcp_response(body)
                head = f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
                writer.write(head.encode() + text)
            else:
                Served.asked += 1
                await stream(json.loads(body), writer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def respond(request, writer):
    """The whole answer at once, for who does not want it as it comes."""
    deltas = []

    async def collect(part):
        deltas.append(json.loads(part[5:])["choices"][0])

    await answer(request, collect)
    message = {"role": "assistant", "content": "".join(choice["delta"].get("content") or "" for choice in deltas)}
    made = [call for choice in deltas for call in choice["delta"].get("tool_calls", [])]
    if made:
        message |= {"content": None, "tool_calls": made}
    choice = {"index": 0, "message": message, "finish_reason": deltas[-1]["finish_reason"]}
    completion = {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice], "usage": USAGE}
    text = json.dumps(completion).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))


async def stream(request, writer):
    if not request.get("stream"):
        return await respond(request, writer)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")

    async def write(part):
        writer.write(b"%x\r\n%s\r\n" % (len(part), part))
        await writer.drain()

    await answer(request, write)
    last = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [], "usage": USAGE}
    await write(f"data: {json.dumps(last)}\n\n".encode())
    await write(b"data: [DONE]\n\n")
    writer.write(b"0\r\n\r\n")


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 26)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
