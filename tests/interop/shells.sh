#!/usr/bin/env bash
# Loads the completions in bash, zsh and fish, as their users would, and completes a few lines.
#
# GATEFOLD_BIN names the binary (default: target/release/gatefold). Exits 77 when a shell is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "${GATEFOLD_BIN:-$here/../../target/release/gatefold}")
for shell in zsh fish; do
    command -v "$shell" >/dev/null || { echo "shells: $shell is missing" >&2; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/functions"
ln -s "$binary" "$work/bin/gatefold"
export PATH="$work/bin:$PATH" HOME="$work" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state"
cd "$work"
gatefold add files -- no-such-server >/dev/null
gatefold add tickets http://127.0.0.1:1/mcp >/dev/null
for shell in bash zsh fish; do gatefold completions "$shell" >"$work/completions.$shell"; done
cp completions.zsh functions/_gatefold

# bash LINE: what bash offers for the last word.
in_bash() {
    bash --norc -c '
        source "$HOME/completions.bash"
        function_of_gatefold=$(complete -p gatefold | sed "s/.*-F \([^ ]*\).*/\1/")
        read -ra COMP_WORDS <<<"$1"
        [[ $1 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        "$function_of_gatefold" gatefold "${COMP_WORDS[COMP_CWORD]}" ""
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1" 2>&1 | sed 's/ *$//'
}

# The same of zsh, in a terminal of its own: its completion works nowhere else.
in_zsh() {
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "stty cols 200; PS1=; fpath=($HOME/functions \$fpath); autoload -U compinit; compinit -u -D"
        zpty -w shell "zstyle \":completion:*\" list-prompt \"\"; setopt no_list_beep; LISTMAX=0; print READ\Y"
        zpty -r shell line "*READY*"
        zpty -w -n shell "$1"$'"'\t\t'"'
        sleep 3
        zpty -r -t shell line "*" ; print -r -- "$line"
        while zpty -r -t shell line; do print -r -- "$line"; done
        zpty -d shell' zsh "$1" 2>&1
}

in_fish() {
    fish --no-config -c 'source $HOME/completions.fish; complete -C "$argv[1]"' "$1" 2>&1
}

failed=0
# check LINE WORD...: each shell offers the words for the line.
check() {
    local line=$1 shell word offered
    shift
    for shell in bash zsh fish; do
        offered=$("in_$shell" "$line")
        for word in "$@"; do
            grep -q -- "$word" <<<"$offered" && continue
            printf 'shells: %s does not offer `%s` for `%s`:\n%s\n' "$shell" "$word" "$line" "$offered" >&2
            failed=1
        done
    done
}

check 'gatefold dis' disconnect disable
check 'gatefold remove ' files tickets
check 'gatefold connect c' claude-code claude-desktop cursor codex
check 'gatefold config explain limits.ca' limits.call_deadline limits.calls_in_flight
[ $failed -eq 0 ] && echo 'shells: bash, zsh and fish complete commands, clients, sources and keys'
exit $failed
