#!/usr/bin/env bash
# Runs a command beside a scratch PgBouncer in front of the PostgreSQL that GATEFOLD_POSTGRES names; without the
# variable, postgres.sh starts one.
#
#   pgbouncer.sh COMMAND [ARGUMENT...]
#
# Sets GATEFOLD_PGBOUNCER to the address of a pooler that gives out the server's sessions a transaction at a time, one
# for each user and database, and knows no prepared statements. Everything is removed at the end. Exits 77 when
# PgBouncer is missing (Debian: pgbouncer) and cannot be installed. POOL_MODE names another mode of its pool.
set -euo pipefail

[ $# -gt 0 ] || { printf 'usage: %s COMMAND [ARGUMENT...]\n' "$0" >&2; exit 2; }
[ -z "${GATEFOLD_PGBOUNCER:-}" ] || exec "$@"
[ -n "${GATEFOLD_POSTGRES:-}" ] || exec "${BASH_SOURCE[0]%/*}/postgres.sh" "$0" "$@"

# Debian keeps it out of a user's path.
PATH=$PATH:/usr/sbin
command -v pgbouncer >/dev/null || "${BASH_SOURCE[0]%/*}/packages.sh" pgbouncer
command -v pgbouncer >/dev/null || { printf 'PgBouncer is missing\n' >&2; exit 77; }

# postgres://USER:PASSWORD@HOST:PORT/DATABASE
server=${GATEFOLD_POSTGRES#*://}
at=${server#*@}
at=${at%%/*}
host=${at%:*} user=${server%%:*} password=${server#*:}
password=${password%%@*}

scratch=$(mktemp -d /tmp/gatefold-pgbouncer.XXXXXX)
pid=
cleanup() {
    if [ -n "$pid" ]; then
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap cleanup EXIT

# One that nobody listens on, below those that systems give to outgoing connections.
port=$(( 20000 + RANDOM % 12000 ))
while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$(( 20000 + RANDOM % 12000 )); done
# The tests' roles are not known before they run, so PgBouncer asks the server for what their passwords are kept as.
cat >"$scratch/pgbouncer.ini" <<END
[databases]
* = host=$host port=${at##*:} auth_user=$user
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $scratch/users
auth_query = SELECT usename, passwd FROM pg_shadow WHERE usename = \$1
pool_mode = ${POOL_MODE:-transaction}
default_pool_size = 1
max_client_conn = 200
server_reset_query =
END
printf '"%s" "%s"\n' "$user" "$password" >"$scratch/users"
as_user=()
# It does not run as root.
if [ "$(id -u)" = 0 ]; then chown -R postgres "$scratch"; as_user=(runuser -u postgres --); fi
"${as_user[@]}" "$(command -v pgbouncer)" "$scratch/pgbouncer.ini" >"$scratch.log" 2>&1 &
pid=$!
trap 'cleanup; rm -f "$scratch.log"' EXIT
for _ in {1..100}; do
    (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    kill -0 "$pid" 2>/dev/null || { cat "$scratch.log" >&2; exit 1; }
    sleep 0.1
done

export GATEFOLD_PGBOUNCER=postgres://$user:$password@127.0.0.1:$port/postgres
"$@"
