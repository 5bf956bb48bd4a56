#!/usr/bin/env bash
# Starts real servers through `npx` and `uvx` with empty caches, on one processor core and with a connect deadline that
# no download meets: each is left to finish, two sources with the same package do not disturb one another, and the
# caches are whole afterwards. Then a gateway is stopped in the midst of a download, and nothing of it is left.
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold), INTEROP_DIR the scratch directory.
# Exits 77 when Python, npm or taskset is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}

readonly CHECK_LIMIT_S=100
readonly START_LIMIT_S=30
readonly STOP_LIMIT_S=15
readonly CONNECT_DEADLINE=2s
readonly EVERYTHING=@modelcontextprotocol/server-everything@2026.8.31
readonly TIME=mcp-server-time@2026.10.19

command -v taskset >/dev/null || { echo 'cold: taskset was not found: install util-linux' >&2; exit 77; }
"$here/setup.sh" runners
INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
python=$INTEROP_DIR/runners/bin/python
work=$(mktemp -d "$INTEROP_DIR/cold.XXXXXX")
gateway=

clean_up() {
    local left
    [ -z "$gateway" ] || kill -KILL "$gateway" 2>/dev/null || true
    left=$(left_running)
    # shellcheck disable=SC2086 # one word for each process
    [ -z "$left" ] || kill -KILL $left 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

die() {
    echo "cold: $1" >&2
    exit 1
}

# Its servers carry the directory in their environment.
left_running() {
    grep -lsF "$work/" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx "$$" || true
}

# A gateway's configuration in the directory NAME, with caches of its own.
configure() {
    local own=$work/$1
    mkdir -p "$own/home"
    cat >"$own/gatefold.toml" <<TOML
[limits]
connect_deadline = "$CONNECT_DEADLINE"

[sources.everything]
command = "npx"
args = ["-y", "$EVERYTHING"]
env = { npm_config_cache = "$own/npm", npm_config_update_notifier = "false" }

[sources.again]
command = "sh"
args = ["-c", "exec npx -y $EVERYTHING stdio"]
env = { npm_config_cache = "$own/npm", npm_config_update_notifier = "false" }

[sources.time]
command = "$INTEROP_DIR/runners/bin/uvx"
args = ["--python", "$python", "$TIME", "--local-timezone", "UTC"]
env = { UV_CACHE_DIR = "$own/uv", UV_TOOL_DIR = "$own/tools", UV_PYTHON_DOWNLOADS = "never" }
TOML
}

check() {
    local own=$work/$1 began=$SECONDS
    HOME=$own/home GATEFOLD_STATE_DIR=$own/state timeout $CHECK_LIMIT_S taskset -c 0 "$binary" check \
        --config "$own/gatefold.toml" >"$work/check.log" 2>"$work/progress.log" || {
        cat "$work/progress.log" "$work/check.log" >&2
        die "$2: not every server was reached within $CHECK_LIMIT_S s"
    }
    cat "$work/progress.log"
    echo "cold: $2: every server was reached in $((SECONDS - began)) s"
}

configure whole
check whole 'empty caches'
[ -z "$(find "$work/whole/npm" -name concurrency.lock)" ] || die 'npm left its lock behind'
check whole 'filled caches'

# A gateway that is stopped in the midst of a download.
configure stopped
HOME=$work/stopped/home GATEFOLD_STATE_DIR=$work/stopped/state taskset -c 0 "$binary" serve --listen 127.0.0.1:0 \
    --config "$work/stopped/gatefold.toml" >"$work/serve.log" 2>&1 &
gateway=$!
deadline=$((SECONDS + START_LIMIT_S))
until [ -n "$(find "$work/stopped/npm/_npx" -mindepth 1 -maxdepth 1 2>/dev/null)" ]; do
    kill -0 "$gateway" 2>/dev/null || { cat "$work/serve.log" >&2; die 'the gateway ended'; }
    [ $SECONDS -lt $deadline ] || { cat "$work/serve.log" >&2; die 'npx began no install'; }
    sleep 0.1
done
kill -TERM "$gateway"
deadline=$((SECONDS + STOP_LIMIT_S))
while kill -0 "$gateway" 2>/dev/null; do
    [ $SECONDS -lt $deadline ] || die "the gateway did not end within $STOP_LIMIT_S s"
    sleep 0.1
done
gateway=
left=$(left_running)
[ -z "$left" ] || die "left running: $(for pid in $left; do tr '\0' ' ' <"/proc/$pid/cmdline"; done)"
echo 'cold: a gateway that was stopped left no installer behind'
check stopped 'caches that a stop has cut short'
