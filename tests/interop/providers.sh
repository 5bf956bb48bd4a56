#!/usr/bin/env bash
# Signs in at real OAuth providers, with Chromium on their own pages, and calls a protected MCP server behind them:
# `gatefold login`, `tools call`, three `gatefold serve` that share a sign-in, and `gatefold logout`.
#
#   providers.sh             `oidc-provider` and `better-auth`, from npm
#   providers.sh PATTERN     those whose name has PATTERN in it
#   providers.sh glewlwyd    Debian's `glewlwyd`, which must be installed: its package wants `dbconfig-sqlite3` first
#
# GATEFOLD_BIN names the binary (default: target/debug/gatefold), INTEROP_DIR the scratch directory.
# Prints a row for each check and a last line `N passed, N failed`. Fails when any failed; the logs are then kept.
# Exits 77 when Python, npm or Chromium is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/debug/gatefold}

if [ ! -x "$binary" ]; then
    echo "providers: $binary was not found: run \`cargo build\` or set GATEFOLD_BIN" >&2
    exit 1
fi
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
"$here/packages.sh" chromium
command -v chromium >/dev/null || { echo "providers: chromium is missing" >&2; exit 77; }
[[ ${1:-} != glewlwyd ]] || command -v glewlwyd >/dev/null || { echo "providers: glewlwyd is missing" >&2; exit 77; }
"$here/setup.sh" providers
INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
# Beside their packages, where Node looks for them.
rm -rf "$INTEROP_DIR/providers/own"
cp -R "$here/providers" "$INTEROP_DIR/providers/own"
work=$(mktemp -d "$INTEROP_DIR/providers-run.XXXXXX")
status=0
"${PYTHON:-python3}" "$here/clients/providers.py" --npm "$INTEROP_DIR/providers" --gatefold "$binary" \
    --work "$work" "$@" || status=$?
if [ $status = 0 ]; then rm -rf "$work"; else echo "providers: the logs are in $work" >&2; fi
exit $status
