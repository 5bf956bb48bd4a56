#!/usr/bin/env bash
# Clients come in at a gateway that wants to know who they are: the official ones, FastMCP's, and one that knows nothing but
# OAuth (`oauth4webapi`). Each finds out where its user signs in, registers there, sends the user's Chromium to the
# provider's own pages, and calls a tool with the token that comes back.
# The provider is `oidc-provider`, from npm: once with JWTs, which the gateway verifies itself, once with opaque tokens,
# about which it asks; a server behind the gateway is then called with tokens that it gives in exchange. Then it is the gateway itself: at whose page a person goes on to `oidc-provider`, which also says the
# person's groups, and at whose page a person has set a password before; the official conformance suite looks at that
# authorization server too.
#
# GATEFOLD_BIN names the binary (default: target/debug/gatefold), INTEROP_DIR the scratch directory.
# Prints a row for each and a last line `N passed, N failed`. Fails when any failed; the logs are then kept.
# Exits 77 when Python, npm or Chromium is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/debug/gatefold}

readonly START_LIMIT_S=30
readonly CLIENT_LIMIT_S=120
readonly LIFE_S=600
readonly CLIENTS=('javascript sdk 1' 'javascript client 2' 'python mcp 2' fastmcp oauth4webapi)

passed=0
failed=0
work=
started=()
# A line for the source that each client calls.
source_key=

main() {
    [ -x "$binary" ] || { echo "entrances: $binary was not found: run \`cargo build\` or set GATEFOLD_BIN" >&2; exit 1; }
    binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
    "$here/packages.sh" chromium
    command -v chromium >/dev/null || { echo 'entrances: chromium is missing' >&2; exit 77; }
    "$here/setup.sh"
    "$here/setup.sh" providers
    "$here/setup.sh" conformance
    "$here/setup.sh" fastmcp
    INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
    node=$INTEROP_DIR/providers/node
    # Beside their packages, where Node looks for them.
    rm -rf "$INTEROP_DIR/providers/own"
    cp -R "$here/providers" "$INTEROP_DIR/providers/own"
    cp "$here/clients/enter.mjs" "$here/clients/enter_oauth4webapi.mjs" "$INTEROP_DIR/npm"
    work=$(mktemp -d "$INTEROP_DIR/entrances.XXXXXX")
    trap clean_up EXIT
    printf '%-22s %-22s %s\n' 'signs in at' client result
    with_provider jwt
    with_provider opaque
    with_page_to_provider
    with_own_page
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}

clean_up() {
    stop_all
    if [ "$failed" = 0 ] && [ -n "$work" ]; then rm -rf "$work"; else echo "entrances: the logs are in $work" >&2; fi
}

stop_all() {
    [ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    started=()
}

# await FILE PATTERN: returns once something in the background has written that.
await() {
    local waited
    for ((waited = 0; waited < START_LIMIT_S * 10; waited++)); do
        ! grep -qE "$2" "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    cat "$1" >&2
    echo "entrances: nothing in $1 matched $2" >&2
    exit 1
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# with_provider FORMAT: a gateway that trusts `oidc-provider`, whose tokens have this format. It has a protected server as
# well, for whose tokens the provider takes those of the callers.
with_provider() {
    local format=$1 place=$work/$1 port provider tickets secret='a secret of the protected server'
    mkdir "$place"
    port=$(free_port)
    provider=$(free_port)
    tickets=$(free_port)
    "$node" "$INTEROP_DIR/providers/own/oidc_provider.mjs" "$provider" "http://127.0.0.1:$port/mcp" $LIFE_S $LIFE_S \
        "$format" >"$place/provider.log" 2>&1 &
    started+=($!)
    await "$place/provider.log" '"listening"'
    "$node" "$INTEROP_DIR/providers/own/server.mjs" "$tickets" \
        "http://127.0.0.1:$provider/.well-known/openid-configuration" mcp-server "$secret" >"$place/tickets.log" 2>&1 &
    started+=($!)
    await "$place/tickets.log" '"listening"'
    {
        echo '[server]'
        echo 'authentication = "token"'
        echo "public_url = \"http://127.0.0.1:$port\""
        echo '[[server.issuers]]'
        echo "issuer = \"http://127.0.0.1:$provider\""
        echo 'scopes = ["tools"]'
        # What `oidc_provider.mjs` knows the protected server by.
        [ "$format" = jwt ] || echo 'client_id = "mcp-server"'
        [ "$format" = jwt ] || echo "client_secret = \"$secret\""
        echo '[sources.tickets]'
        echo "url = \"http://127.0.0.1:$tickets/mcp\""
        echo 'credentials = { exchange = { client_id = "gatefold", client_secret = "a secret of the gateway", scopes = ["tools"] } }'
    } >"$place/gatefold.toml"
    each_client "oidc-provider, $format" "$place" "$port" '' "exchange $format"
}

# exchange FORMAT PLACE PORT: a client calls the protected server, which knows the person by a token of its own.
exchange() {
    local place=$2
    come_in 'javascript client 2' "exchanged, $1" "$place" "http://127.0.0.1:$3/mcp" tickets__whoami 'you are ann'
    grep -q '"type":"urn:ietf:params:oauth:grant-type:token-exchange"' "$place/provider.log" ||
        told "exchanged, $1" 'at the provider' FAILED "$place/provider.log"
}

# A gateway whose page leads to `oidc-provider`, which is another site for a browser. The source is for a group that only the
# provider names.
with_page_to_provider() {
    local place=$work/page port provider
    mkdir "$place"
    port=$(free_port)
    provider=$(free_port)
    PROVIDER_HOST=localhost "$node" "$INTEROP_DIR/providers/own/oidc_provider.mjs" "$provider" \
        "http://127.0.0.1:$port/mcp" $LIFE_S $LIFE_S >"$place/provider.log" 2>&1 &
    started+=($!)
    await "$place/provider.log" '"listening"'
    {
        echo '[server]'
        echo 'authentication = "token"'
        echo "public_url = \"http://127.0.0.1:$port\""
        echo '[server.sign_in]'
        echo 'registration = true'
        # What `oidc_provider.mjs` knows the gateway by.
        echo "provider = { issuer = \"http://localhost:$provider\", client_id = \"gatefold\", scopes = [\"groups\"], \
client_secret = \"a secret of the gateway\" }"
    } >"$place/gatefold.toml"
    source_key='visible_to = ["gardeners"]'
    each_client 'oidc-provider, by us' "$place" "$port"
    source_key=
}

# A gateway at whose own page people sign in, and whose clients register themselves.
with_own_page() {
    local place=$work/own port
    mkdir "$place"
    port=$(free_port)
    {
        echo '[server]'
        echo 'authentication = "token"'
        echo "public_url = \"http://127.0.0.1:$port\""
        echo 'sign_in = { registration = true }'
    } >"$place/gatefold.toml"
    export BROWSER_PASSWORD='gardening in the rain'
    each_client 'gatefold itself' "$place" "$port" set_password conform
}

# conform PLACE PORT: the conformance suite's command for authorization servers. It prints where its user has to sign in.
conform() {
    local place=$1 issuer=http://127.0.0.1:$2 back client log=$1/conformance.log suite profile
    suite=$INTEROP_DIR/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js
    back=$(free_port)
    client=$(python3 - "$issuer/oauth/register" "http://127.0.0.1:$back/callback" <<'PYTHON'
import json, sys, urllib.request
body = {"client_name": "conformance", "redirect_uris": [sys.argv[2]], "token_endpoint_auth_method": "none"}
asked = urllib.request.Request(sys.argv[1], json.dumps(body).encode(), {"content-type": "application/json"})
print(json.load(urllib.request.urlopen(asked))["client_id"])
PYTHON
    )
    timeout $CLIENT_LIMIT_S "$INTEROP_DIR/conformance/node" "$suite" authorization --url "$issuer" --client-id "$client" \
        --resource "$issuer/mcp" --port "$back" >"$log" 2>&1 &
    local running=$!
    await "$log" 'Callback server started'
    profile=$(mktemp -d "$work/profile.XXXXXX")
    "$node" "$INTEROP_DIR/providers/own/browser.mjs" "$profile" "$(grep -oE 'http://[^ ]*/oauth/authorize[^ ]*' "$log")" allow \
        >>"$place/browser.log" 2>&1
    wait $running || true
    local result=FAILED
    ! grep -qE 'Total: [1-9][0-9]* passed, 0 failed' "$log" || result=passed
    told 'gatefold itself' 'conformance suite' $result "$log"
}

# set_password PLACE: a person opens the link that the command prints, and sets a password.
set_password() {
    local link profile
    link=$("$binary" user link ann --config "$1/gatefold.toml" --state-dir "$1/state" 2>>"$1/serve.log" | grep -oE 'http://[^ ]+')
    profile=$(mktemp -d "$work/profile.XXXXXX")
    "$node" "$INTEROP_DIR/providers/own/browser.mjs" "$profile" "$link" allow >"$1/password.log" 2>&1
    grep -q 'The password is set' "$1/password.log"
}

# each_client WHERE PLACE PORT [BEFORE AFTER]: serves the configuration in PLACE, and has every client come in.
each_client() {
    local place=$2 port=$3 client
    {
        echo '[sources.issues]'
        echo "command = \"$binary\""
        echo "args = [\"demo-server\", \"issues\", \"--scratch\", \"$place/data\"]"
        echo "$source_key"
    } >>"$place/gatefold.toml"
    "$binary" serve --config "$place/gatefold.toml" --state-dir "$place/state" --listen "127.0.0.1:$port" \
        >"$place/serve.log" 2>&1 &
    started+=($!)
    await "$place/serve.log" 'took up a new list of tools'
    [ -z "${4:-}" ] || "$4" "$place"
    for client in "${CLIENTS[@]}"; do
        come_in "$client" "$1" "$place" "http://127.0.0.1:$port/mcp"
    done
    [ -z "${5:-}" ] || $5 "$place" "$port"
    stop_all
}

# come_in CLIENT WHERE PLACE URL [TOOL TOLD]
come_in() {
    local client=$1 place=$3 url=$4 tool=${5:-issues__count_issues} expected=${6:-counts} profile log command result=passed
    profile=$(mktemp -d "$work/profile.XXXXXX")
    log=$place/${client// /-}-$tool.log
    local asked=("$url" "$tool" "$profile" "$INTEROP_DIR/providers/own/browser.mjs")
    case $client in
        javascript*) command=("$node" "$INTEROP_DIR/npm/enter.mjs" "${client##* }" "${asked[@]}") ;;
        python*) command=("$INTEROP_DIR/python-new/bin/python" "$here/clients/enter.py" "${asked[@]}" "$node") ;;
        fastmcp) command=("$INTEROP_DIR/fastmcp/bin/python" "$here/clients/enter_fastmcp.py" "${asked[@]}" "$node") ;;
        oauth4webapi) command=("$node" "$INTEROP_DIR/npm/enter_oauth4webapi.mjs" "${asked[@]}") ;;
    esac
    timeout $CLIENT_LIMIT_S "${command[@]}" >"$log" 2>&1 && grep -q "\"told\".*$expected" "$log" || result=FAILED
    told "$2" "$client" $result "$log"
}

# told WHERE CLIENT RESULT LOG
told() {
    printf '%-22s %-22s %s\n' "$1" "$2" "$3"
    if [ "$3" = passed ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -n 20 "$4" | sed 's/^/    /'
    fi
}

main "$@"
