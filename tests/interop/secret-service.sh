#!/usr/bin/env bash
# Runs a command in a D-Bus session of its own with an unlocked GNOME Keyring and a scratch home.
#
#   secret-service.sh COMMAND [ARGUMENT...]
#
# Sets GATEFOLD_SECRET_SERVICE for the command, which keeps its own HOME: only the keyring lives in
# the scratch home, which is removed at the end. Exits 77 when dbus-run-session or
# gnome-keyring-daemon is missing (Debian: dbus, gnome-keyring) and cannot be installed.
set -euo pipefail

if [ "${1:-}" = --inside ]; then
    shift
    # The password of the scratch keyring; the daemon makes the keyring with it.
    printf 'scratch' | HOME=$SCRATCH_HOME XDG_DATA_HOME=$SCRATCH_HOME/.local/share \
        XDG_RUNTIME_DIR=$SCRATCH_HOME/run \
        gnome-keyring-daemon --unlock --components=secrets >/dev/null
    export GATEFOLD_SECRET_SERVICE=1
    exec "$@"
fi

[ $# -gt 0 ] || { printf 'usage: %s COMMAND [ARGUMENT...]\n' "$0" >&2; exit 2; }
have() { command -v dbus-run-session >/dev/null && command -v gnome-keyring-daemon >/dev/null; }
have || "${BASH_SOURCE[0]%/*}/packages.sh" dbus-run-session:dbus gnome-keyring-daemon:gnome-keyring
have || { printf 'dbus-run-session or gnome-keyring-daemon is missing\n' >&2; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 -p "$scratch/run" "$scratch/.local/share/keyrings"
# A session's bus ends with its command, and the daemon with the bus.
SCRATCH_HOME=$scratch dbus-run-session -- "${BASH_SOURCE[0]}" --inside "$@"
