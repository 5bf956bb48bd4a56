#!/usr/bin/env bash
# Installs the peer that the benchmark compares Gatefold with, `fastmcp-gateway`.
#
#   peers.sh PORT UPSTREAM_URL [DOMAIN]   prints the command that serves it at 127.0.0.1:PORT/mcp
#                                         in front of one streamable HTTP upstream (domain: `upstream`)
#   peers.sh check                        runs it in front of server-everything and calls through it
#
# The printed command is one line for a shell; `GET /readyz` answers 200 once the upstream's tools are known.
# Its meta-tools are `discover_tools(domain, group, query, format)`, `get_tool_schema(tool_name)`,
# `execute_tool(tool_name, arguments)` and `refresh_registry()`. It serves both eras: a handshake-era client
# must send the `mcp-session-id` that `initialize` answers with; a stateless one needs neither.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$(cd "$here/../.." && pwd)/target/interop}

readonly START_LIMIT_S=30
readonly CALL_LIMIT_S=10

scratch=
pids=()
url=
headers=()

main() {
    case ${1:-} in
        check) check ;;
        [0-9]*) [ $# -ge 2 ] || usage; print_command "$@" ;;
        *) usage ;;
    esac
}

print_command() {
    local port=$1 url=$2 domain=${3:-upstream}
    "$here/setup.sh" fastmcp-gateway >&2
    printf "env GATEWAY_UPSTREAMS='{\"%s\": \"%s\"}' GATEWAY_HOST=127.0.0.1 GATEWAY_PORT=%s %q\n" \
        "$domain" "$url" "$port" "$(cd "$INTEROP_DIR" && pwd)/fastmcp-gateway/bin/fastmcp-gateway"
}

check() {
    local upstream_port gateway_port command session
    "$here/setup.sh"
    INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
    scratch=$(mktemp -d "$INTEROP_DIR/peer.XXXXXX")
    trap clean_up EXIT
    upstream_port=$(free_port)
    gateway_port=$(free_port)
    PORT=$upstream_port "$INTEROP_DIR/npm/node" \
        "$INTEROP_DIR/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js" streamableHttp \
        >"$scratch/upstream.log" 2>&1 &
    pids+=($!)
    # A GET without a session is refused, which shows that it listens.
    wait_for "http://127.0.0.1:$upstream_port/mcp" 400
    command=$(print_command "$gateway_port" "http://127.0.0.1:$upstream_port/mcp" everything)
    eval "exec $command" >"$scratch/gateway.log" 2>&1 &
    pids+=($!)
    wait_for "http://127.0.0.1:$gateway_port/readyz" 200
    url=http://127.0.0.1:$gateway_port/mcp

    session=$(post -D - -o /dev/null -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":
        "2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}' |
        tr -d '\r' | sed -n 's/^mcp-session-id: //p')
    headers=(-H "mcp-session-id: $session" -H 'mcp-protocol-version: 2025-11-25')
    post -o /dev/null -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    expect '"name":"execute_tool"' '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
    expect 'Echo: handshake' '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"execute_tool",
        "arguments":{"tool_name":"echo","arguments":{"message":"handshake"}}}}'

    headers=(-H 'mcp-protocol-version: 2026-07-28' -H 'mcp-method: tools/call' -H 'mcp-name: execute_tool')
    expect 'Echo: stateless' '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"execute_tool",
        "arguments":{"tool_name":"echo","arguments":{"message":"stateless"}},"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
    echo "fastmcp-gateway answers in both eras"
}

post() {
    curl -s -m $CALL_LIMIT_S -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' \
        ${headers[@]+"${headers[@]}"} "$@" "$url"
}

expect() {
    local found
    found=$(post -d "$2")
    [[ "$found" == *"$1"* ]] || die "\`$1\` is not in the answer: ${found:0:400}"
}

wait_for() {
    local deadline=$((SECONDS + START_LIMIT_S))
    until [ "$(curl -s -m 2 -o /dev/null -w '%{http_code}' "$1")" = "$2" ]; do
        [ $SECONDS -lt $deadline ] || die "$1 does not answer $2: the logs are in $scratch"
        sleep 0.2
    done
}

free_port() {
    "$INTEROP_DIR/python-new/bin/python" -c \
        'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

clean_up() {
    local status=$? pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    [ $status != 0 ] || rm -rf "$scratch"
}

usage() {
    die "usage: peers.sh PORT UPSTREAM_URL [DOMAIN], or peers.sh check"
}

die() {
    echo "interop peers: $1" >&2
    exit 2
}

main "$@"
