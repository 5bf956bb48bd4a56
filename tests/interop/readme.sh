#!/usr/bin/env bash
# Runs the Python of the README against the demo, as its reader would, with the official SDK.
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold), INTEROP_DIR the scratch directory.
# Exits 77 when Python is missing and cannot be installed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}
readonly START_LIMIT_S=30

"$here/setup.sh"
work=$(mktemp -d)
demo=
clean_up() {
    [ -z "$demo" ] || kill "$demo" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
die() {
    echo "readme: $1" >&2
    exit 1
}

# The only thing that is changed is the port, which may be taken here.
"$binary" demo --listen 127.0.0.1:0 --state-dir "$work/state" >"$work/demo.log" 2>&1 &
demo=$!
for ((waited = 0; ; waited++)); do
    address=$(grep -oE '"http://127.0.0.1:[0-9]+/mcp"' "$work/demo.log" | tr -d '"' | head -n 1) || true
    [ -z "$address" ] || break
    [ $waited -lt $((START_LIMIT_S * 10)) ] || { cat "$work/demo.log" >&2; die 'the demo did not start'; }
    sleep 0.1
done
awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >"$work/first.py"
grep -q 'http://127.0.0.1:8420/mcp' "$work/first.py" || die 'the README has no Python'
sed -i "s#http://127.0.0.1:8420/mcp#$address#" "$work/first.py"
"$INTEROP_DIR/python-new/bin/python" "$work/first.py" | tee "$work/said"
grep -q '"name":"issues__create_issue"' "$work/said" || die 'the tool was not found'
grep -q '"title":"Printer on fire"' "$work/said" || die 'the issue was not created'
echo 'readme: its Python works'
