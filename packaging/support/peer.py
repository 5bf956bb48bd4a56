"""What stands outside the image when `packaging/try-scratch` tries it, with Python's library alone.

    peer.py serve CERTIFICATE KEY   an MCP server over TLS on 127.0.0.1:8443, and a name server on
                                    127.0.0.1:53 that knows the one name `tickets.gatefold.test`
    peer.py call                    a client of the gateway on 127.0.0.1:8420: calls one tool, with the
                                    access token in TOKEN
"""

import http.client
import http.server
import json
import os
import socket
import ssl
import struct
import sys
import threading

NAME = "tickets.gatefold.test"
DEADLINE_S = 20


class Server(http.server.BaseHTTPRequestHandler):
    """An MCP server of the handshake era with one tool, which says its argument backwards."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in request:
            self.answer(202, None)
            return
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        result = self.result(request["method"], request.get("params", {}))
        if result is None:
            reply["error"] = {"code": -32601, "message": "there is no such method"}
        else:
            reply["result"] = result
        self.answer(200, reply)

    def do_GET(self):
        self.answer(405, None)

    def result(self, method, params):
        if method == "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tickets", "version": "1"},
            }
        if method == "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}}
            description = "Say a text backwards"
            return {"tools": [{"name": "turn", "description": description, "inputSchema": schema}]}
        if method == "tools/call":
            return {"content": [{"type": "text", "text": params["arguments"]["text"][::-1]}]}
        return None

    def answer(self, status, value):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def name_server(listener):
    """Answers A questions for the one name with 127.0.0.1 and says that there is nothing else."""
    while True:
        query, sender = listener.recvfrom(512)
        end = query.index(b"\0", 12)
        labels, position = [], 12
        while position < end:
            labels.append(query[position + 1 : position + 1 + query[position]].decode())
            position += 1 + query[position]
        kind = struct.unpack("!H", query[end + 1 : end + 3])[0]
        known = ".".join(labels).lower() == NAME
        answers = 1 if known and kind == 1 else 0
        flags = 0x8580 if known else 0x8583
        reply = query[:2] + struct.pack("!HHHHH", flags, 1, answers, 0, 0) + query[12 : end + 5]
        if answers:
            reply += struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton("127.0.0.1")
        listener.sendto(reply, sender)


def serve(certificate, key):
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 53))
    threading.Thread(target=name_server, args=(names,), daemon=True).start()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 8443), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print("ready", flush=True)
    server.serve_forever()


def post(host, request, token=os.environ.get("TOKEN")):
    connection = http.client.HTTPConnection("127.0.0.1", 8420, timeout=DEADLINE_S)
    headers = {
        "Host": host,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if post.session:
        headers["Mcp-Session-Id"] = post.session
    connection.request("POST", "/mcp", json.dumps(request), headers)
    response = connection.getresponse()
    post.session = response.getheader("Mcp-Session-Id") or post.session
    return response.status, response.read().decode()


post.session = None


def call():
    client = {"name": "try-scratch", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    status, text = post("localhost:8420", hello, token=None)
    assert status == 401, (status, text)
    status, text = post("localhost:8420", hello)
    assert status == 200, (status, text)
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    status, text = post("localhost:8420", ready)
    assert status == 202, (status, text)
    arguments = {"tool_name": "tickets__turn", "arguments": {"text": "dlofetag"}}
    params = {"name": "execute_tool", "arguments": arguments}
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    status, text = post("localhost:8420", request)
    assert status == 200 and "gatefold" in text, (status, text)
    # A name that nobody allowed: what another container would use without `server.allowed_hosts`.
    status, text = post("gatefold:8420", request)
    assert status == 403 and "allowed_hosts" in text, (status, text)
    print("called tickets__turn")


if __name__ == "__main__":
    {"serve": serve, "call": call}[sys.argv[1]](*sys.argv[2:])
