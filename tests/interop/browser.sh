#!/usr/bin/env bash
# Lets a page in Chromium use the endpoint: from an allowed origin it begins a session and lists the tools,
# from any other it reads nothing.
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold). Exits 77 when Chromium or Python is
# missing and cannot be installed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}
readonly START_LIMIT_S=30
readonly PAGE_LIMIT_MS=20000

"$root/tests/interop/packages.sh" chromium
for tool in chromium python3; do
    command -v $tool >/dev/null || { echo "browser: $tool is missing" >&2; exit 77; }
done

work=$(mktemp -d)
started=()
clean_up() {
    kill "${started[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
die() {
    echo "browser: $1" >&2
    exit 1
}

# await FILE PATTERN: the first match in a file that something in the background writes.
await() {
    local found waited
    for ((waited = 0; waited < START_LIMIT_S * 10; waited++)); do
        found=$(grep -oE "$2" "$1" 2>/dev/null | head -n 1) || true
        [ -z "$found" ] || { echo "$found"; return; }
        sleep 0.1
    done
    cat "$1" >&2
    die "nothing in $1 matched $2"
}

# A page of another host than the gateway's, as the browser sees it.
mkdir "$work/pages"
cat >"$work/pages/index.html" <<'PAGE'
<!doctype html><title>waiting</title><pre id="said"></pre>
<script>
const endpoint = decodeURIComponent(location.hash.slice(1))
const ask = async (session, method, params) => {
    const headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    if (session) Object.assign(headers, {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"})
    const body = JSON.stringify({jsonrpc: "2.0", id: 1, method, params})
    return fetch(endpoint, {method: "POST", headers, body})
}
const run = async () => {
    const begun = await ask(null, "initialize",
        {protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {name: "page", version: "1"}})
    const session = begun.headers.get("mcp-session-id")
    const listed = await (await ask(session, "tools/list", {})).json()
    await fetch(endpoint, {method: "DELETE", headers: {"mcp-session-id": session}})
    return listed.result.tools.map(tool => tool.name).join(" ")
}
run().catch(error => `refused: ${error.name}`).then(said => document.getElementById("said").textContent = said)
</script>
PAGE
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/pages" >"$work/pages.log" 2>&1 &
started+=($!)
port=$(await "$work/pages.log" 'port [0-9]+' | grep -oE '[0-9]+')

cat >"$work/gatefold.toml" <<CONFIG
[server]
allowed_origins = ["http://page.test:$port"]
CONFIG
"$binary" serve --config "$work/gatefold.toml" --state-dir "$work/state" --listen 127.0.0.1:0 \
    >"$work/serve.log" 2>&1 &
started+=($!)
address=$(await "$work/serve.log" 'http://127.0.0.1:[0-9]+')

# visit HOST: what the page of that host says in the end.
visit() {
    local browser=(chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
        --disable-background-networking --disable-component-update --disable-sync
        --user-data-dir="$work/profile-$1" --host-resolver-rules="MAP *.test 127.0.0.1")
    timeout 60 "${browser[@]}" --virtual-time-budget=$PAGE_LIMIT_MS \
        --dump-dom "http://$1:$port/#$address/mcp" 2>"$work/$1.log" \
        | sed -n 's#.*<pre id="said">\(.*\)</pre>.*#\1#p'
}

said=$(visit page.test)
echo "an allowed page lists: $said"
[ "$said" = 'discover_tools get_tool_schema execute_tool' ] || die 'the allowed page did not get through'
said=$(visit other.test)
echo "any other page: $said"
[ "$said" = 'refused: TypeError' ] || die 'another page got through'
echo 'browser: allowed pages get through, others do not'
