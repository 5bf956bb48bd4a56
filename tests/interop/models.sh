#!/usr/bin/env bash
# Chats through `gatefold chat` with aimock, a mock of models' APIs that others wrote: OpenAI's chat completions and
# Anthropic's messages, with calls, pieces of three bytes, errors that pass and that stay, and streams that break.
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold), INTEROP_DIR the scratch directory.
# Prints a line for each chat and a last line `N passed, N failed`. Fails when any failed.
# Exits 77 when npm is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}

[ -x "$binary" ] || { echo "models: $binary was not found: run \`cargo build --release\` or set GATEFOLD_BIN" >&2; exit 1; }
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
"$here/setup.sh" models
INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
work=$(mktemp -d "$INTEROP_DIR/models.XXXXXX")
status=0
# A module is looked up beside the file that wants it.
cp "$here/clients/models.mjs" "$INTEROP_DIR/models/"
node "$INTEROP_DIR/models/models.mjs" "$binary" "$work" || status=$?
if [ $status = 0 ]; then rm -rf "$work"; else echo "models: configurations and state are in $work" >&2; fi
exit $status
