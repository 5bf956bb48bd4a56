#!/usr/bin/env bash
# Runs a command beside a scratch PostgreSQL, which asks for passwords and speaks TLS.
#
#   postgres.sh COMMAND [ARGUMENT...]
#
# Sets GATEFOLD_POSTGRES to the address of its superuser and GATEFOLD_POSTGRES_CA to the file with the
# certificate that its own is signed by. A server that GATEFOLD_POSTGRES already names is used instead.
# Everything is removed at the end. Exits 77 when PostgreSQL's server or openssl is missing (Debian:
# postgresql, openssl) and cannot be installed.
set -euo pipefail

[ $# -gt 0 ] || { printf 'usage: %s COMMAND [ARGUMENT...]\n' "$0" >&2; exit 2; }
[ -z "${GATEFOLD_POSTGRES:-}" ] || exec "$@"

bin=
have() {
    # Debian keeps the server's commands out of the path.
    bin=$(dirname "$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -1)")
    [ -x "$bin/initdb" ] && command -v openssl >/dev/null
}
have || "${BASH_SOURCE[0]%/*}/packages.sh" initdb:postgresql openssl
have || { printf "PostgreSQL's server or openssl is missing\n" >&2; exit 77; }

# The server does not run as root.
as_server() {
    if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

scratch=$(mktemp -d /tmp/gatefold-postgres.XXXXXX)
cleanup() {
    as_server "$bin/pg_ctl" -D "$scratch/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap cleanup EXIT

cd "$scratch"
# The numbers of the certificates only need to differ.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=gatefold-test-ca \
    -keyout ca.key -out ca.pem 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout server.key -out server.csr 2>/dev/null
printf 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n' >extensions
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 7 -days 2 -extfile extensions \
    -out server.pem 2>/dev/null
printf 'scratch' >password
if [ "$(id -u)" = 0 ]; then chown -R postgres "$scratch"; fi

as_server "$bin/initdb" -D "$scratch/data" -U postgres -E UTF8 --auth-local=trust \
    --auth-host=scram-sha-256 --pwfile="$scratch/password" >/dev/null
# One that nobody listens on, below those that systems give to outgoing connections.
port=$(( 20000 + RANDOM % 12000 ))
while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$(( 20000 + RANDOM % 12000 )); done
as_server "$bin/pg_ctl" -D "$scratch/data" -w -l "$scratch/log" -o "-p $port -k $scratch \
    -c listen_addresses=127.0.0.1 -c fsync=off -c ssl=on -c ssl_cert_file=$scratch/server.pem \
    -c ssl_key_file=$scratch/server.key" start >/dev/null || { cat "$scratch/log" >&2; exit 1; }
cd - >/dev/null

chmod a+rx "$scratch"
export GATEFOLD_POSTGRES=postgres://postgres:scratch@127.0.0.1:$port/postgres
export GATEFOLD_POSTGRES_CA=$scratch/ca.pem
"$@"
