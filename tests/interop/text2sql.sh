#!/usr/bin/env bash
# Replays the gold queries of public text-to-SQL suites as a model's, beside a direct run. By hand, not in
# the continuous integration: their data are not ours to keep.
#
#   text2sql.sh FOLDER
#
# FOLDER holds clones, each of which may be missing: `defog-data` and `sql-eval` of github.com/defog-ai,
# `spider` of github.com/taoyds, `text2sql-data` of github.com/jkkummerfeld. What a bare one holds counts.
# The queries of Defog run on PostgreSQL, at the address in GATEFOLD_POSTGRES; use postgres.sh for a scratch
# one. Needs python3, psql for those, and cargo.
set -euo pipefail

[ $# -eq 1 ] || { printf 'usage: %s FOLDER\n' "$0" >&2; exit 2; }
folder=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d /tmp/gatefold-text2sql.XXXXXX)
trap 'rm -rf "$scratch"' EXIT

cd "$root"
cargo build -q -p gatefold-sql --example replay
replay=${CARGO_TARGET_DIR:-target}/debug/examples/replay

run() { # SUITE ADDRESS FILE
    printf '%s: ' "$1"
    "$replay" "$2" "$3" 2>>"$scratch/log" | tee -a "$scratch/$1.out" || {
        tail -3 "$scratch/log" >&2
        exit 1
    }
}

files=$(python3 tests/interop/text2sql.py "$folder" "$scratch")
sqlite=$(grep '^sqlite ' <<<"$files" || true)
postgres=$(grep '^postgres ' <<<"$files" || true)

while read -r _ suite database queries; do
    [ -z "$database" ] || run "$suite" "sqlite:$database" "$queries"
done <<<"$sqlite"

while read -r _ suite setup queries; do
    [ -n "$setup" ] && [ -n "${GATEFOLD_POSTGRES:-}" ] || continue
    name=gatefold_text2sql
    psql -q "$GATEFOLD_POSTGRES" -c "DROP DATABASE IF EXISTS $name" -c "CREATE DATABASE $name" 2>/dev/null
    address=${GATEFOLD_POSTGRES%/*}/$name
    psql -q -v ON_ERROR_STOP=1 "$address" -f "$setup" >/dev/null
    run "$suite" "$address" "$queries"
    psql -q "$GATEFOLD_POSTGRES" -c "DROP DATABASE $name"
done <<<"$postgres"

for suite in defog spider classic; do
    cat "$scratch/$suite"-*.out 2>/dev/null | awk -v suite="$suite" '
        / statements: / { all += $1; broken += $3; refused += $8; run += $12; same += $14 }
        END { if (all) print suite " in all: " all " statements, " broken " of them wrong, " \
            refused " refused here, " run " run, " same " with the same rows" }'
done
if [ -n "${LOG:-}" ]; then cp "$scratch/log" "$LOG"; fi
