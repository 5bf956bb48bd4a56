#!/usr/bin/env bash
# Runs the tasks of model-tasks.jsonl through a real model under each disclosure, over two of the demonstration's servers,
# and prints the comparison. It fails when a request gets no answer; how well the model does is for a person to judge.
#
#   model.sh [OPTION...]    options of `gatefold eval agent`, such as --disclosure gateway
#
# GATEFOLD_TEST_MODEL_URL names the endpoint (the address before /chat/completions), GATEFOLD_TEST_MODEL the model,
# GATEFOLD_MODEL_KEY its key if it wants one, GATEFOLD_BIN the binary (default: target/release/gatefold).
# Exits 77 without the first two, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}

for variable in GATEFOLD_TEST_MODEL_URL GATEFOLD_TEST_MODEL; do
    [ -n "${!variable:-}" ] || { echo "model: $variable is not set" >&2; exit 77; }
done
[ -x "$binary" ] || { echo "model: $binary was not found: run \`cargo build --release\` or set GATEFOLD_BIN" >&2; exit 1; }
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for name in issues units; do
    printf '[sources.%s]\ncommand = "%s"\nargs = ["demo-server", "%s", "--scratch", "%s/data"]\n' \
        "$name" "$binary" "$name" "$work"
done >"$work/gatefold.toml"

"$binary" eval agent "$here/model-tasks.jsonl" --config "$work/gatefold.toml" --state-dir "$work/state" \
    --model-url "$GATEFOLD_TEST_MODEL_URL" --model "$GATEFOLD_TEST_MODEL" "$@"
