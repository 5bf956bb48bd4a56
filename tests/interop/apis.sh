#!/usr/bin/env bash
# Calls ten public APIs, which Prism plays by their descriptions and with its checks of requests on, and Kinto, a real
# server, through Gatefold.
#
#   apis.sh          all of them, with at least 500 calls
#   apis.sh NAME     one, e.g. `gitea.io` or `kinto`
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold), INTEROP_DIR the scratch directory.
# Prints a row for each API, what failed, and a last line `N passed, N failed`. Fails when any call failed.
# Exits 77 when Python or npm is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}

if [ ! -x "$binary" ]; then
    echo "apis: $binary was not found: run \`cargo build --release\` or set GATEFOLD_BIN" >&2
    exit 1
fi
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
"$here/setup.sh" apis
INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
work=$(mktemp -d "$INTEROP_DIR/apis.XXXXXX")
status=0
PYTHONDONTWRITEBYTECODE=1 "$INTEROP_DIR/python-new/bin/python" "$here/clients/apis.py" --gatefold "$binary" \
    --npm "$INTEROP_DIR/apis" --kinto "$INTEROP_DIR/kinto" --archive "$INTEROP_DIR/descriptions/package.tgz" \
    --work "$work" ${1:+--only "$1"} || status=$?
if [ $status = 0 ]; then rm -rf "$work"; else echo "apis: descriptions and logs are in $work" >&2; fi
exit $status
