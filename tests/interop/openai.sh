#!/usr/bin/env bash
# Speaks to agents through OpenAI's chat completions with the official clients: `openai` from npm and from PyPI, and
# Vercel's `ai`. The agents' model is aimock, a mock that others wrote: whole answers, streamed ones, lists of models,
# errors, and clients that leave.
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold), INTEROP_DIR the scratch directory.
# Prints a line for each check and a last line `N passed, N failed`. Fails when any failed.
# Exits 77 when Python or npm is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}

[ -x "$binary" ] || { echo "openai: $binary was not found: run \`cargo build --release\` or set GATEFOLD_BIN" >&2; exit 1; }
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
"$here/setup.sh" openai
INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
work=$(mktemp -d "$INTEROP_DIR/openai.XXXXXX")
status=0
# A module is looked up beside the file that wants it.
cp "$here/clients/openai_clients.mjs" "$INTEROP_DIR/openai/"
"$INTEROP_DIR/openai/node" "$INTEROP_DIR/openai/openai_clients.mjs" "$binary" "$work" \
    "$INTEROP_DIR/python-openai/bin/python" "$here/clients/openai_client.py" || status=$?
if [ $status = 0 ]; then rm -rf "$work"; else echo "openai: configuration, state and log are in $work" >&2; fi
exit $status
