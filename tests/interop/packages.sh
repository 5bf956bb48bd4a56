#!/usr/bin/env bash
# Installs what is missing of some programs, where this is root's machine and Debian's.
#
#   packages.sh PROGRAM[:PACKAGE]...   the package is called as the program is, unless named
#
# Says nothing when all are there. An install that failed leaves its last lines on the error output;
# whether the programs are there now is for the caller to ask.
set -euo pipefail
# Debian keeps the programs of servers out of a user's path.
PATH=$PATH:/usr/sbin:/sbin
export DEBIAN_FRONTEND=noninteractive
# Another install on this machine is waited for.
readonly LOCK_LIMIT_S=120

missing=()
for program in "$@"; do
    command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
done
[ ${#missing[@]} -gt 0 ] || exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
    # An install that was cut short before would refuse every later one.
    dpkg --configure --pending \
        && apt-get -o DPkg::Lock::Timeout=$LOCK_LIMIT_S update -qq \
        && apt-get -o DPkg::Lock::Timeout=$LOCK_LIMIT_S install -qqy --no-install-recommends "${missing[@]}"
} >"$log" 2>&1 </dev/null || tail -n 5 "$log" >&2
