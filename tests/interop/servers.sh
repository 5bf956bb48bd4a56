#!/usr/bin/env bash
# Compares 28 real servers, behind Gatefold and without it, byte for byte: what each says of itself, its tools, prompts
# and resources, and one call. Run by hand, not by .ci/run: it installs 1.2 GB.
#
#   servers.sh            all of them
#   servers.sh PATTERN    those whose name has PATTERN in it
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold), INTEROP_DIR the scratch directory.
# Prints a row for each server and what differs. Fails if anything does, or if fewer than 21 could be compared.
# Exits 77 when Python, npm or git is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}

if [ ! -x "$binary" ]; then
    echo "servers: $binary was not found: run \`cargo build --release\` or set GATEFOLD_BIN" >&2
    exit 1
fi
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
"$here/setup.sh" servers
INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
work=$(mktemp -d "$INTEROP_DIR/servers.XXXXXX")
status=0
"${PYTHON:-python3}" "$here/clients/servers.py" --npm "$INTEROP_DIR/real-npm" --venvs "$INTEROP_DIR/real-python" \
    --gatefold "$binary" --work "$work" "$@" || status=$?
if [ $status = 0 ]; then rm -rf "$work"; else echo "servers: logs and files are in $work" >&2; fi
exit $status
