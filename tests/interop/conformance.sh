#!/usr/bin/env bash
# Runs the official conformance suite: against the reference server, alone and through Gatefold in front of it; and
# against Gatefold as a client.
#
#   conformance.sh    the reference server alone; through $GATEFOLD_BIN too, if that is set
#
# CONFORMANCE_SERVER names the server (default: target/debug/conformance-server), CONFORMANCE_CLIENT the client
# (default: target/debug/examples/conformance-client), GATEFOLD_BIN the gateway, INTEROP_DIR the scratch directory.
#
# Prints a row for each requirement set: checks passed and made, without Gatefold and with it. Below a row stand the
# checks that failed or differ. The handshake era's set is run with a server of that era alone, and with one of both,
# which is called in its client's era. A client's scenarios of authorization are a row of their own: there the client is
# `gatefold login` and `gatefold tools call`, with $GATEFOLD_BIN.
# Fails when any check failed or differs; the scratch files are then kept.
# Exits 77 when npm is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
server=${CONFORMANCE_SERVER:-$root/target/debug/conformance-server}
client=${CONFORMANCE_CLIENT:-$root/target/debug/examples/conformance-client}

readonly START_LIMIT_S=30
readonly STOP_LIMIT_S=15
readonly SUITE_LIMIT_S=600
readonly REQUIREMENTS=(2025-11-25 2026-07-28)
# Scenarios of authorization that are about what Gatefold does not do: proofs of possession, and tokens that an enterprise
# or a workload's platform gives.
readonly NOT_OURS='enterprise-managed-authorization|dpop|dpop-nonce|wif-jwt-bearer'
# Not in the requirement sets, unlike the scenarios of tasks.
readonly EXTENSIONS=(sep-2640-skills-directory sep-2640-skills-enumeration sep-2640-skills-manifest)

scratch=
node=
suite=
listening=
direct_handshake=
direct_both=
through_handshake=
through_both=
pids=()

main() {
    local failed=0 set
    [ $# = 0 ] || die "usage: $(basename "$0")"
    [ -x "$server" ] ||
        die "$server was not found: run \`cargo build --workspace --bins\` or set CONFORMANCE_SERVER"
    [ -x "$client" ] ||
        die "$client was not found: run \`cargo build --workspace --examples\` or set CONFORMANCE_CLIENT"
    "$here/setup.sh" conformance
    INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
    node=$INTEROP_DIR/conformance/node
    suite=$INTEROP_DIR/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js
    scratch=$(mktemp -d "$INTEROP_DIR/conformance-run.XXXXXX")
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    start_server handshake
    direct_handshake=$listening
    start_server both
    direct_both=$listening
    [ -z "${GATEFOLD_BIN:-}" ] || start_gateway
    printf '%-24s %-9s %s\n' requirements without 'with Gatefold'
    run_server_suite 2025-11-25 handshake --requirements=2025-11-25 || failed=1
    run_server_suite 2025-11-25-both both --requirements=2025-11-25 || failed=1
    run_server_suite 2026-07-28 both --requirements=2026-07-28 || failed=1
    run_server_suite skills both "${EXTENSIONS[@]/#/--scenario=}" || failed=1
    for set in "${REQUIREMENTS[@]}"; do
        run_suite "client-$set" client --command "$client" --requirements "$set"
        compare "client $set" - "client-$set" || failed=1
    done
    [ -z "${GATEFOLD_BIN:-}" ] || run_sign_ins || failed=1
    [ $failed = 0 ]
}

# Runs every scenario of authorization, one after another.
run_sign_ins() {
    local scenario scenarios
    scenarios=$("$node" "$suite" list | sed -n 's|^ *- \(auth/[a-z0-9-]*\).*|\1|p' | grep -vE "^auth/($NOT_OURS)\$")
    [ -n "$scenarios" ] || die "the suite lists no scenario of authorization"
    for scenario in $scenarios; do
        run_suite sign-in client --command "python3 $here/clients/sign_in.py" --scenario "$scenario"
    done
    compare 'client sign-in' - sign-in/auth
}

# Starts a reference server of one era, or of both. It says where it listens as soon as it does.
start_server() {
    local era=$1 deadline=$((SECONDS + START_LIMIT_S)) log=$scratch/server-$1.log pid
    : >"$log"
    "$server" --http 127.0.0.1:0 --era "$era" >>"$log" 2>&1 &
    pid=$!
    pids+=($pid)
    until listening=$(sed -n 's/^listening on //p' "$log") && [ -n "$listening" ]; do
        kill -0 $pid 2>/dev/null || die "the reference server ended at once: $log"
        [ $SECONDS -lt $deadline ] || die "the reference server said nothing within $START_LIMIT_S s: $log"
        sleep 0.1
    done
}

start_gateway() {
    local port
    port=$("$node" -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => {
        console.log(s.address().port); s.close(); })')
    mkdir -p "$scratch/gateway/home"
    printf '[sources.%s]\nurl = "%s"\n' handshake "$direct_handshake" both "$direct_both" \
        >"$scratch/gateway/gatefold.toml"
    HOME=$scratch/gateway/home "$GATEFOLD_BIN" serve --config "$scratch/gateway/gatefold.toml" \
        --state-dir "$scratch/gateway/state" --listen "127.0.0.1:$port" >"$scratch/gateway.log" 2>&1 &
    pids+=($!)
    through_handshake=http://127.0.0.1:$port/mcp/source/handshake
    through_both=http://127.0.0.1:$port/mcp/source/both
    wait_for_endpoint "$through_handshake"
    wait_for_endpoint "$through_both"
}

# Until the endpoint opens a session: the gateway listens before its source is there.
wait_for_endpoint() {
    "$node" - "$1" $START_LIMIT_S <<'JAVASCRIPT' || die "$1 is not served: $scratch/gateway.log"
const [url, limit] = process.argv.slice(2);
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const params = {
    protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "conformance.sh", version: "1" },
};
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });

async function main() {
    const deadline = Date.now() + limit * 1000;
    let last = "no answer";
    while (Date.now() < deadline) {
        try {
            const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(5000) });
            const text = await response.text();
            if (response.ok && text.includes("protocolVersion")) return 0;
            last = `${response.status}: ${text.slice(0, 200)}`;
        } catch (error) {
            last = String(error.cause ?? error);
        }
        await new Promise((wake) => setTimeout(wake, 200));
    }
    console.error(`conformance: ${last}`);
    return 1;
}

main().then((status) => process.exit(status));
JAVASCRIPT
}

# Runs the suite for ROW against the server of ERA, once with each of the flags.
run_server_suite() {
    local row=$1 era=$2 way url flag runs=()
    shift 2
    for way in direct through; do
        url=${way}_$era
        [ -n "${!url}" ] || continue
        for flag in "$@"; do run_suite "$way-$row" server --url "${!url}" "$flag"; done
        runs+=("$way-$row")
    done
    compare "server $row" "${runs[@]}"
}

# Whether a check failed is read from the reports, as is whether there are any.
run_suite() {
    local name=$1
    shift
    bounded $SUITE_LIMIT_S "$node" "$suite" "$@" -o "$scratch/$name" >>"$scratch/$name.log" 2>&1 || true
}

# Prints a row, and under it what failed or was lost.
compare() {
    local row=$1
    shift
    (cd "$scratch" && "$node" - "$row" "$@") <<'JAVASCRIPT'
const fs = require("fs");
const [row, ...given] = process.argv.slice(2);
const runs = given.filter((run) => run !== "-");
const NOT_OURS = "auth";
// It checks streams where a server may also answer in JSON, as Gatefold does if nothing comes before the answer.
// Then the suite has nothing to check and says so (INFO).
const OF_STREAMS_ALONE = "server-sse-multiple-streams server-sse-streams-functional";

/** Status by status, how often each check of a run came out so. */
function read(run) {
    const checks = new Map();
    for (const report of fs.existsSync(run) ? fs.readdirSync(run) : []) {
        if (report === NOT_OURS) continue;
        const scenario = report.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
        for (const check of JSON.parse(fs.readFileSync(`${run}/${report}/checks.json`, "utf8"))) {
            const name = `${scenario} ${check.id}`;
            const found = checks.get(name) ?? { SUCCESS: 0, FAILURE: 0, WARNING: 0, INFO: 0, SKIPPED: 0 };
            found[check.status] += 1;
            if (check.errorMessage && check.status !== "SUCCESS") found.reason = check.errorMessage;
            checks.set(name, found);
        }
    }
    return checks;
}

const results = runs.map(read);
const cells = results.map((checks) => {
    const sum = (status) => [...checks.values()].reduce((count, check) => count + check[status], 0);
    const passed = sum("SUCCESS");
    return `${passed}/${passed + sum("FAILURE") + sum("WARNING")}`;
});
const faults = [];
results.forEach((checks, index) => {
    if (checks.size === 0) faults.push(`${runs[index]}: the suite reported nothing: ${runs[index]}.log`);
    for (const [name, { FAILURE, WARNING, reason }] of checks) {
        if (FAILURE + WARNING > 0) faults.push(`${runs[index]}: ${name}: ${reason ?? "failed"}`);
    }
});
const [direct, through] = results;
for (const name of through ? new Set([...direct.keys(), ...through.keys()]) : []) {
    const [before, after] = [direct, through].map((checks) => checks.get(name)?.SUCCESS ?? 0);
    if (name === OF_STREAMS_ALONE && through.get(name)?.INFO === before) continue;
    if (before !== after) faults.push(`${name}: passed ${before} times without Gatefold, ${after} times with it`);
}
const [without, withGatefold] = given.map((run) => (run === "-" ? "-" : cells[runs.indexOf(run)]));
console.log([row.padEnd(24), without.padEnd(9), withGatefold ?? "-"].join(" "));
for (const line of faults) console.log(`    ${line}`);
process.exit(faults.length > 0 ? 1 : 0);
JAVASCRIPT
}

# Runs a command under a limit in seconds. The suite has limits of its own; this one is for a hung suite.
bounded() {
    local deadline=$((SECONDS + $1)) pid
    shift
    "$@" &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
        [ $SECONDS -lt $deadline ] || kill -KILL $pid
        sleep 0.1
    done
    wait $pid
}

clean_up() {
    local status=$? pid deadline=$((SECONDS + STOP_LIMIT_S))
    for pid in ${pids[@]+"${pids[@]}"}; do kill "$pid" 2>/dev/null || true; done
    for pid in ${pids[@]+"${pids[@]}"}; do
        while kill -0 "$pid" 2>/dev/null; do
            [ $SECONDS -lt $deadline ] || kill -KILL "$pid" 2>/dev/null || true
            sleep 0.1
        done
    done
    if [ $status = 0 ]; then
        rm -rf "$scratch"
    else
        echo "conformance: the reports and logs are in $scratch" >&2
    fi
}

die() {
    echo "conformance: $1" >&2
    exit 2
}

main "$@"
