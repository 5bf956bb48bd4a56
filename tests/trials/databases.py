"""Databases: r15, r16, r26."""

import os
import re
import shutil
from urllib.parse import urlsplit

from harness import ROOT, Missing

# What points a model on where its statement is refused.
ADVICE = ("list_tables", "describe_table", "did you mean", "Did you mean", "quot", "LIMIT", "query")


def server():
    address = os.environ.get("GATEFOLD_POSTGRES")
    if not address or not shutil.which("psql"):
        raise Missing("run it as `tests/interop/postgres.sh tests/trials/run FOLDER`, with psql")
    return urlsplit(address)


def psql(bench, *arguments):
    address = server()
    at = ["-h", address.hostname, "-p", address.port, "-U", address.username, "-d", "postgres"]
    return bench.shell(["psql", "-At", *at, *arguments], {"PGPASSWORD": address.password or ""})


def behind_a_pooler(bench):
    psql(bench, "-f", "setup.sql", "-c", "ALTER ROLE pooled_reader PASSWORD 'pooled'")
    own = 'database = "postgres://pooled_reader:pooled@127.0.0.1:${PORT}/pooled_trial"'
    (bench.at / "own.toml").write_text(f"[sources.shop]\n{own}\n")

    def pooled(mode, *command):
        """Runs a command beside a pooler of its own, whose port is in PORT."""
        port = 'PORT=${GATEFOLD_PGBOUNCER##*:}; export PORT=${PORT%%/*}; exec "$@"'
        env = {"GATEFOLD_POSTGRES": os.environ["GATEFOLD_POSTGRES"], "POOL_MODE": mode}
        done = bench.shell([ROOT / "tests/interop/pgbouncer.sh", "sh", "-c", port, "sh", *command], env, 120)
        if done.returncode == 77:
            raise Missing("PgBouncer is missing")
        return done

    gatefold = [bench.program, "--state-dir", bench.state(), "--config", "own.toml"]
    query = lambda sql: [*gatefold, "tools", "call", "shop__query", "--arg", f"sql={sql}"]
    for mode in ("transaction", "session"):
        done = pooled(mode, *query("SELECT total FROM orders"))
        bench.row(f"pool_mode = {mode}", done.returncode == 0 and "0.30000000000000004" in done.stdout, done.all)
    done = pooled("statement", *gatefold, "check")
    bench.row("pool_mode = statement", done.returncode != 0 and "pool" in done.all, done.all)
    many = 'for i in $(seq 20); do "$@" >"out-$i" 2>&1 & done; wait; grep -l 0.30000000000000004 out-* | wc -l'
    done = pooled("transaction", "sh", "-c", many, "sh", *query("SELECT total FROM orders"))
    bench.row("20 at once", done.stdout.strip() == "20", done.all)
    lock = "psql -At postgres://pooled_reader:pooled@127.0.0.1:$PORT/pooled_trial -c "
    held = f"""{lock} 'SELECT pg_advisory_lock(42)' && "$@" &&
        {lock} "SELECT 'held ' || count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42" """
    done = pooled("transaction", "sh", "-c", held, "sh", *query("SELECT 1 AS one"))
    bench.row("another's lock", "held 1" in done.stdout, done.all)


def functions(bench):
    address = server()
    setup = bench.at / "setup.sql"
    without_postgis = setup.read_text().replace("geography(Point, 4326)", "point").replace("ST_MakePoint(", "point(")
    has_postgis = "1" in psql(bench, "-c", "SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'").stdout
    if not has_postgis:
        setup.write_text(without_postgis)
    psql(bench, "-f", "setup.sql", "-c", "ALTER ROLE functions_reader PASSWORD 'functions'")
    key = 'allow_functions = ["public.net", "public.fiscal_year", "acct.vat", "public.near"]'
    database = f'database = "postgres://functions_reader:functions@{address.hostname}:{address.port}/functions_trial"'
    (bench.at / "own.toml").write_text(f"[sources.shops]\n{database}\n{key}\n")
    for file in ("queries.sql", "more.sql"):
        must = "run"
        for line in (bench.at / file).read_text().splitlines():
            if line.startswith("--"):
                must = "be refused" if "refused" in line else "run"
                continue
            if not has_postgis and must == "run" and ("ST_" in line or "place" in line):
                bench.skip(f"PostgreSQL has no PostGIS for {line}")
                continue
            done = bench.gatefold("--config", "own.toml", "tools", "call", "shops__query", "--arg", f"sql={line}")
            bench.row(line, (done.returncode == 0) == (must == "run"), f"must {must}: {done.all}")
    done = bench.gatefold("--config", "own.toml", "check", "--verbose")
    bench.row("check names the view", "shop_activity" in done.all, done.all)


def statements(text):
    """One a line; a fence goes with what is in it."""
    return [one.strip() for one in re.findall(r"```.*?```|[^\n]+", text, re.DOTALL) if one.strip()]


def first_statements(bench):
    done = bench.shell(["sh", "make.sh"])
    if done.returncode:
        raise Missing("sqlite3 is missing")
    for file in ("statements.txt", "more.txt"):
        for statement in statements((bench.at / file).read_text()):
            done = bench.gatefold("tools", "call", "shop__query", "--arg", f"sql={statement}")
            ran = done.returncode == 0
            is_right = (ran or any(word in done.all for word in ADVICE)) and "panicked" not in done.all
            bench.row(statement.replace("\n", " "), is_right, ("ran: " if ran else "refused: ") + done.all)


CASES = {"r15": behind_a_pooler, "r16": functions, "r26": first_statements}
