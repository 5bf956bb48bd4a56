#!/usr/bin/env bash
# Runs a command beside a scratch MariaDB, which asks for passwords and speaks TLS.
#
#   mariadb.sh COMMAND [ARGUMENT...]
#
# Sets GATEFOLD_MARIADB to the address of an administrator and GATEFOLD_MARIADB_CA to the file with the
# certificate that its own is signed by. A server that GATEFOLD_MARIADB already names is used instead.
# Everything is removed at the end. Exits 77 when MariaDB's server or openssl is missing (Debian:
# mariadb-server, openssl) and cannot be installed.
set -euo pipefail

[ $# -gt 0 ] || { printf 'usage: %s COMMAND [ARGUMENT...]\n' "$0" >&2; exit 2; }
[ -z "${GATEFOLD_MARIADB:-}" ] || exec "$@"

server=
have() {
    # Debian keeps the server out of a user's path.
    server=$(command -v mariadbd || ls /usr/sbin/mariadbd 2>/dev/null)
    [ -x "$server" ] && command -v mariadb-install-db >/dev/null && command -v openssl >/dev/null
}
have || "${BASH_SOURCE[0]%/*}/packages.sh" mariadbd:mariadb-server openssl
have || { printf "MariaDB's server or openssl is missing\n" >&2; exit 77; }

scratch=$(mktemp -d /tmp/gatefold-mariadb.XXXXXX)
pid=
cleanup() {
    if [ -n "$pid" ]; then
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
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
user=$(id -un)
# The server does not run as root.
if [ "$(id -u)" = 0 ]; then user=mysql; chown -R mysql "$scratch"; fi

mariadb-install-db --no-defaults --user="$user" --datadir="$scratch/data" --skip-test-db \
    --auth-root-authentication-method=normal >"$scratch/install.log" 2>&1 \
    || { cat "$scratch/install.log" >&2; exit 1; }
# One that nobody listens on, below those that systems give to outgoing connections.
port=$(( 20000 + RANDOM % 12000 ))
while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$(( 20000 + RANDOM % 12000 )); done
"$server" --no-defaults --user="$user" --datadir="$scratch/data" --socket="$scratch/socket" \
    --pid-file="$scratch/pid" --bind-address=127.0.0.1 --port="$port" --skip-name-resolve \
    --sync-frm=OFF --innodb-flush-log-at-trx-commit=0 --innodb-use-native-aio=OFF \
    --ssl-ca="$scratch/ca.pem" --ssl-cert="$scratch/server.pem" --ssl-key="$scratch/server.key" \
    >"$scratch/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
    [ ! -S "$scratch/socket" ] || break
    kill -0 "$pid" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
    sleep 0.1
done
mariadb --no-defaults --socket="$scratch/socket" --user=root --execute="
    CREATE USER gatefold@'%' IDENTIFIED BY 'scratch';
    GRANT ALL ON *.* TO gatefold@'%' WITH GRANT OPTION"
cd - >/dev/null

chmod a+rx "$scratch"
export GATEFOLD_MARIADB=mariadb://gatefold:scratch@127.0.0.1:$port
export GATEFOLD_MARIADB_CA=$scratch/ca.pem
"$@"
