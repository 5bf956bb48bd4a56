#!/usr/bin/env bash
# Runs Gatefold with a system clock before 1970, and with one that jumps 40 days ahead while it runs and before it
# starts: it starts, answers and stops, nothing panics, and no record is erased. Takes most of a minute, because old
# records are looked for half a minute after a start.
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold). Exits 77 when faketime, curl, openssl or
# Python is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "${GATEFOLD_BIN:-$here/../../target/release/gatefold}")
for program in faketime curl openssl python3; do
    command -v "$program" >/dev/null || { echo "clock: $program is missing (Debian: $program)" >&2; exit 77; }
done
# The library that faketime preloads. Only when it is preloaded directly can the clock jump during a run.
# shellcheck disable=SC2016 # for the inner shell
library=$(faketime -m -f '+0' sh -c 'echo "$LD_PRELOAD"')

readonly OLD='@1965-03-01 12:00:00'
readonly START_LIMIT_S=30
readonly ROUND_LIMIT_S=90
readonly STOP_LIMIT_S=15
# The ages of the records, in days. The default keeps thirty.
readonly AGES=(27 23 19 15 11 7 3 0)

work=$(mktemp -d)
gateways=()
clean_up() {
    local process
    for process in "${gateways[@]}"; do
        kill -KILL "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
export HOME=$work/home TZ=UTC
mkdir "$HOME"

die() {
    echo "clock: $1" >&2
    tail -n 20 "$work"/*.log >&2
    exit 1
}

# at DATE COMMAND...: runs the command with another date. The monotonic clock stays as it is.
at() {
    local date=$1
    shift
    env LD_PRELOAD="$library" FAKETIME="$date" FAKETIME_DONT_FAKE_MONOTONIC=1 "$@"
}

# await SECONDS WHAT COMMAND...: waits until the command succeeds.
await() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $deadline ] || die "$what"
        sleep 0.2
    done
}

# serve NAME [VARIABLE=VALUE...]: a gateway with its state in NAME, and its log in NAME.log.
serve() {
    local name=$1
    shift
    env "$@" "$binary" serve --listen 127.0.0.1:0 --config "$work/$name.toml" --state-dir "$work/$name" \
        2>"$work/$name.log" &
    gateways+=($!)
    await $START_LIMIT_S "$name: no gateway listens" grep -q 'listening' "$work/$name.log"
}

# stop NAME PROCESS
stop() {
    kill -TERM "$2"
    await $STOP_LIMIT_S "$1: the gateway does not end" is_gone "$2"
    wait "$2" || die "$1: the gateway ended with $?"
    no_panic "$1"
}

is_gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }

no_panic() {
    if grep -q 'panicked' "$work/$1.log"; then die "$1: something panicked"; fi
}

# call_at DATE NAME: a call over the socket of the gateway with that state.
call_at() {
    local date=$1
    shift
    at "$date" "$binary" tools call issues__count_issues --arg by=state --config "$work/$1.toml" --state-dir "$work/$1" \
        >"$work/answer" 2>"$work/answer.log" || die "$1: a call failed"
    grep -q 'counts' "$work/answer" || die "$1: a call gave $(cat "$work/answer")"
}

call() { call_at +0 "$1"; }

records() { "$binary" calls --limit 100 --state-dir "$work/$1" | tail -n +2 | wc -l; }

# configure NAME [LINE...]
configure() {
    local name=$1
    shift
    {
        printf '[sources.issues]\ncommand = "%s"\n' "$binary"
        printf 'args = ["demo-server", "issues", "--scratch", "%s"]\n' "$work/data"
        printf '%s\n' "$@"
    } >"$work/$name.toml"
}

# The date at which a machine without a clock battery starts.
in_1970() {
    at '@1970-01-01 00:00:01' timeout 60 "$binary" demo --once --fresh --listen 127.0.0.1:0 \
        --state-dir "$work/demo" >"$work/demo.log" 2>&1 || die "the demo ended with $?"
    no_panic demo
    echo 'clock: in the first minute of 1970, the demo runs'
}

before_1970() {
    [ "$(at "$OLD" date +%Y)" = 1965 ] || die 'this system cannot have a date before 1970'
    # The demo's API and its endpoint use HTTP, which cannot express such dates.
    if at "$OLD" timeout 60 "$binary" demo --once --fresh --listen 127.0.0.1:0 --state-dir "$work/demo" \
        >"$work/demo.log" 2>&1; then die 'the demo does not say what is wrong'; fi
    grep -q 'set the clock' "$work/demo.log" || die 'the demo does not say what is wrong'
    no_panic demo

    # A source behind TLS, where dates count: nobody's certificate is valid then.
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/certificate.pem" -days 3650 \
        -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>"$work/openssl.log"
    : >"$work/tls.log"
    openssl s_server -accept 127.0.0.1:0 -key "$work/key.pem" -cert "$work/certificate.pem" -www \
        >"$work/tls.log" 2>&1 &
    gateways+=($!)
    await $START_LIMIT_S 'no TLS server' grep -q '^ACCEPT 127' "$work/tls.log"
    local port
    port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' "$work/tls.log")
    configure old '[sources.tls]' "url = \"https://localhost:$port/mcp\""
    serve old LD_PRELOAD="$library" FAKETIME="$OLD" FAKETIME_DONT_FAKE_MONOTONIC=1
    local gateway=${gateways[-1]} url status
    call_at "$OLD" old
    url=$(sed -n 's/.*url=\([^ ]*\).*/\1/p' "$work/old.log" | head -n 1)
    status=$(curl -sS -o "$work/answer" -w '%{http_code}' -m 20 "$url" -H 'content-type: application/json' \
        -H 'accept: application/json, text/event-stream' -H 'mcp-protocol-version: 2025-11-25' \
        -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"clock","version":"1"}}}') \
        || die 'no answer over HTTP'
    [ "$status" = 503 ] || die "over HTTP: $status $(cat "$work/answer")"
    grep -q 'set the clock' "$work/answer" || die "over HTTP: $(cat "$work/answer")"
    await $START_LIMIT_S 'the source behind TLS is not given up' grep -q 'connecting failed.*domain=tls' "$work/old.log"
    "$binary" calls --limit 1 --json --state-dir "$work/old" >"$work/answer"
    grep -q '"closed_at": 0' "$work/answer" || die "the record is $(cat "$work/answer")"
    stop old "$gateway"
    echo 'clock: in 1965, a gateway starts, answers and stops, and over HTTP it says what is wrong'
}

jumps() {
    configure records
    local age all=${#AGES[@]}
    for age in "${AGES[@]}"; do
        at "-${age}d" "$binary" tools call issues__count_issues --arg by=state --config "$work/records.toml" \
            --state-dir "$work/records" >"$work/answer" 2>"$work/answer.log" || die "a call $age days ago failed"
    done
    [ "$(records records)" -eq "$all" ] || die "not $all records: $(records records)"
    # As if a gateway had run all the time. Otherwise these calls would count as jumps too.
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute("DELETE FROM aging")' \
        "$work/records/gatefold.db"
    for name in ahead later short; do cp -r "$work/records" "$work/$name"; done
    configure ahead
    configure later
    configure short '[audit]' 'retention = "20d"'

    # One whose clock jumps, one whose clock is wrong from the start, and one that shows that old records are deleted.
    local ahead later short
    echo '+0' >"$work/date"
    serve ahead LD_PRELOAD="$library" FAKETIME_TIMESTAMP_FILE="$work/date" FAKETIME_NO_CACHE=1 \
        FAKETIME_DONT_FAKE_MONOTONIC=1
    ahead=${gateways[-1]}
    call ahead
    echo '+40d' >"$work/date"
    call_at +40d ahead
    serve later LD_PRELOAD="$library" FAKETIME=+40d FAKETIME_DONT_FAKE_MONOTONIC=1
    later=${gateways[-1]}
    call_at +40d later
    serve short
    short=${gateways[-1]}
    await $ROUND_LIMIT_S 'no record is too old for 20 days' grep -q 'old records were deleted' "$work/short.log"
    # Opening the database checks the date as well.
    await $ROUND_LIMIT_S 'the jump is not noticed' looked 1 ahead
    await $ROUND_LIMIT_S 'the wrong date is not noticed' looked 2 later
    stop short "$short"
    [ "$(records short)" -eq $((all - 2)) ] || die "of $all records, $(records short) are within 20 days"
    # The date was wrong and is corrected.
    echo '+0' >"$work/date"
    call ahead
    stop ahead "$ahead"
    [ "$(records ahead)" -eq $((all + 3)) ] || die "$(records ahead) records of $((all + 3)) outlived a jump"
    stop later "$later"
    [ "$(records later)" -eq $((all + 1)) ] || die "$(records later) records of $((all + 1)) outlived a wrong clock"
    echo "clock: a jump of 40 days erased none of $all records, nor did a start 40 days ahead"
}

# looked TIMES NAME: whether housekeeping has seen a date ahead of the believed one this many times.
looked() { [ "$(grep -c 'ahead of what is believed' "$work/$2.log")" -ge "$1" ]; }

in_1970
before_1970
jumps
