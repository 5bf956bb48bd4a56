#!/usr/bin/env bash
# Plays a newcomer's first two minutes in a real terminal: from an empty home with a Claude Code
# configuration of five real servers to a call by the official SDK, and back to the byte.
#
#   session.sh            plays it; fails when a step does not show what it should, or when the
#                         commands take longer than two minutes
#   session.sh --write    also writes what the terminal showed to docs/session.md
#   session.sh --picture  plays the part that the README shows, and draws it as docs/session.gif
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold), INTEROP_DIR the scratch directory.
# Exits 77 when tmux, Python, npm, git or a keyring is missing and cannot be installed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export INTEROP_DIR=${INTEROP_DIR:-$root/target/interop}
binary=${GATEFOLD_BIN:-$root/target/release/gatefold}

readonly ALL_LIMIT_S=120
readonly STEP_LIMIT_S=60
readonly COLUMNS_WIDE=100
readonly SHOWN_HOME=/home/ada
# The picture's terminal, which has to be legible in a page's column.
readonly PICTURE_ROWS=26

scratch=
typed=
rows=50
frames=
took_ms=0

main() {
    if [ "${1:-}" = --inside ]; then
        if [ "${2:-}" = --picture ]; then draw; else play "${2:-}"; fi
        return
    fi
    [ -x "$binary" ] || die "$binary was not found: run \`cargo build --release\` or set GATEFOLD_BIN"
    "$here/packages.sh" tmux
    command -v tmux >/dev/null || { echo 'session: tmux is missing' >&2; exit 77; }
    "$here/setup.sh"
    # The terminal's programs find a keyring of their own, as they would on a desktop.
    GATEFOLD_BIN=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary") \
        "$here/secret-service.sh" "${BASH_SOURCE[0]}" --inside "${1:-}"
}

play() {
    scratch=$(mktemp -d)
    trap clean_up EXIT
    make_home
    open_terminal
    run 'cat ~/.claude.json' '"mcpServers"'
    run 'gatefold import' 'wrote 5 sources' 'Which servers' 'Write 5 sources'
    run 'cat ~/.config/gatefold/gatefold.toml' 'TICKETS_TOKEN = "${secret:TICKETS_TOKEN}"'
    run 'gatefold check' ' tokens if a model is shown them all'
    run 'gatefold connect claude-code' 'connected Claude Code' 'Add Gatefold to' 'Remove everything'
    run 'cat ~/.claude.json' '"gatefold"'
    run 'python first_call.py ~/.claude.json' 'has its token, and the model sees: [redacted]'
    run 'gatefold doctor' 'checks were fine'
    run 'gatefold disconnect claude-code' 'byte for byte'
    run 'cmp ~/.claude.json before.json && echo the same' 'the same'
    tmux -S "$scratch/tmux" capture-pane -p -J -S - -t session >"$scratch/shown"
    ! grep -q 'not-a-real-token' "$scratch/home/.config/gatefold/gatefold.toml" || die 'a secret is in clear'
    [ $took_ms -lt $((ALL_LIMIT_S * 1000)) ] || die "the commands took $took_ms ms"
    echo "the session's commands took $((took_ms / 1000)).$((took_ms % 1000 / 100)) s"
    if [ "$1" = --write ]; then write_page; fi
}

# The steps that the README shows, drawn by a program of its own.
draw() {
    local python=$INTEROP_DIR/picture
    [ -x "$python/bin/python" ] || python3 -m venv "$python"
    "$python/bin/pip" install --quiet 'pillow==12.*' 'rich==14.*'
    rows=$PICTURE_ROWS
    scratch=$(mktemp -d)
    trap clean_up EXIT
    make_home
    open_terminal
    frames=$scratch/frames
    mkdir "$frames"
    run 'gatefold import' 'wrote 5 sources' 'Which servers' 'Write 5 sources'
    run 'gatefold check' ' tokens if a model is shown them all'
    run 'gatefold connect claude-code' 'connected Claude Code' 'Add Gatefold to' 'Remove everything'
    run 'python first_call.py ~/.claude.json' 'called: Echo: hello'
    run 'gatefold disconnect claude-code' 'byte for byte'
    "$python/bin/python" "$here/clients/picture.py" "$frames" "$scratch/home" "$SHOWN_HOME" "$root/docs/session.gif"
}

# frame MS: keeps what the terminal shows, to be shown for so long.
frame() {
    [ -n "$frames" ] || return 0
    tmux -S "$scratch/tmux" capture-pane -p -e -t session >"$frames/$(date +%s%N).$1"
}

# A home with nothing but a client's configuration, and the programs that it names.
make_home() {
    local home=$scratch/home packages=$INTEROP_DIR/npm/node_modules/.bin
    mkdir -p "$home/bin" "$home/notes" "$home/garden"
    ln -s "$GATEFOLD_BIN" "$home/bin/gatefold"
    # Python finds its packages by the path that it was started with.
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$INTEROP_DIR/python-old/bin/python" >"$home/bin/python"
    chmod +x "$home/bin/python"
    ln -s "$INTEROP_DIR/npm/node" "$home/bin/node"
    for server in mcp-server-everything mcp-server-filesystem mcp-server-memory; do
        ln -s "$packages/$server" "$home/bin/$server"
    done
    for server in mcp-server-git mcp-server-time; do ln -s "$INTEROP_DIR/servers/bin/$server" "$home/bin/$server"; done
    cp "$here/clients/first_call.py" "$home/"
    git -C "$home/garden" init -q -b main
    cat >"$home/.claude.json" <<'JSON'
{
  "numStartups": 12,
  "mcpServers": {
    "everything": {
      "command": "mcp-server-everything",
      "env": { "TICKETS_TOKEN": "not-a-real-token" }
    },
    "files": { "command": "mcp-server-filesystem", "args": ["HOME/notes"] },
    "memory": { "command": "mcp-server-memory" },
    "git": { "command": "mcp-server-git", "args": ["--repository", "HOME/garden"] },
    "time": { "command": "mcp-server-time" }
  },
  "theme": "dark"
}
JSON
    sed -i "s#HOME/#$home/#" "$home/.claude.json"
    cp "$home/.claude.json" "$home/before.json"
}

open_terminal() {
    tmux -S "$scratch/tmux" -f /dev/null new-session -d -s session -x $COLUMNS_WIDE -y $rows -c "$scratch/home" \
        env -i HOME="$scratch/home" PATH="$scratch/home/bin:/usr/bin:/bin" TERM=screen-256color LANG=C.UTF-8 \
        DBUS_SESSION_BUS_ADDRESS="$DBUS_SESSION_BUS_ADDRESS" PS1='$ ' PROMPT_COMMAND="echo \$? >'$scratch/status'" bash --norc --noprofile
    tmux -S "$scratch/tmux" set-option -t session history-limit 5000 >/dev/null
    wait_for_prompt 1
}

# run COMMAND EXPECTED [QUESTION...]: types a command, presses Enter at each of its questions, waits until
# the shell is back, and looks for a success and for a text in what is on the screen since.
run() {
    local line=$1 expected=$2 before started
    shift 2
    typed=$line
    before=$(prompts)
    started=$(date +%s%N)
    tmux -S "$scratch/tmux" send-keys -t session -l "$line"
    sleep_for_picture
    frame 900
    tmux -S "$scratch/tmux" send-keys -t session Enter
    local question
    for question; do
        wait_until "the question of \`$line\`" shows "$question"
        sleep_for_picture
        frame 1600
        tmux -S "$scratch/tmux" send-keys -t session Enter
    done
    wait_for_prompt $((before + 1))
    frame 3200
    took_ms=$((took_ms + ($(date +%s%N) - started) / 1000000))
    [ "$(cat "$scratch/status")" = 0 ] || { screen >&2; die "\`$line\` failed"; }
    shows "$expected" || { screen >&2; die "\`$line\` did not show: $expected"; }
}

# The terminal draws what is typed a little later.
sleep_for_picture() { [ -z "$frames" ] || sleep 0.3; }

screen() { tmux -S "$scratch/tmux" capture-pane -p -J -S - -t session; }
since_typed() {
    screen | awk -v line="$ $typed" 'index($0, line) == 1 { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }'
}
shows() { since_typed | grep -qF -- "$1"; }
prompts() { screen | grep -cE '^\$( |$)' || true; }
at_prompt() { [ "$(prompts)" -ge "$1" ] && screen | grep -v '^$' | tail -n 1 | grep -qE '^\$ *$'; }
wait_for_prompt() { wait_until 'the prompt' at_prompt "$1"; }

wait_until() {
    local what=$1 deadline=$((SECONDS + STEP_LIMIT_S))
    shift
    until "$@"; do
        [ $SECONDS -lt $deadline ] || { screen >&2; die "$what did not come within $STEP_LIMIT_S s"; }
        sleep 0.05
    done
}

write_page() {
    {
        cat <<'PAGE'
# The first two minutes, recorded

<!-- Written by `tests/interop/session.sh --write`: what a real terminal showed. -->

From a home with nothing but a Claude Code configuration of five real servers to a first call by the
official SDK, and back. The programs are installed already: Gatefold, the servers and Python. The questions
were answered with Enter. The token that stood in Claude Code's file goes to the keyring and reaches its
server from there. Nothing is cut; the scratch home is shown as `/home/ada`.

PAGE
        printf 'All commands together took %d.%d s.\n\n```text\n' $((took_ms / 1000)) $((took_ms % 1000 / 100))
        sed -e "s#$scratch/home#$SHOWN_HOME#g" -e 's/ *$//' "$scratch/shown" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
        printf '```\n'
    } >"$root/docs/session.md"
    echo 'wrote docs/session.md'
}

clean_up() {
    tmux -S "$scratch/tmux" kill-server 2>/dev/null || true
    # A program that the terminal's end is still ending may write once more.
    rm -rf "$scratch" 2>/dev/null || { sleep 1; rm -rf "$scratch" || true; }
}

die() {
    echo "session: $1" >&2
    exit 1
}

main "$@"
