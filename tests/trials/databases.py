"""Databases: r15, r16, r26."""

import os
import re
import shutil
from urllib.parse import urlsplit

from harness import ROOT, Missing

# What points a model on where its statement is refused.
ADVICE = ("list_tables", "describe_table", "did you mean", "Did you mean", "quot", "LIMIT", "query")


def behind_a_pooler(bench):
    script = ROOT / "tests/interop/pgbouncer.sh"
    if not script.is_file() or not shutil.which("pgbouncer"):
        raise Missing("tests/interop/pgbouncer.sh or PgBouncer is missing")
    done = bench.shell([script], {"GATEFOLD_BIN": bench.program}, 600)
    bench.row("tests/interop/pgbouncer.sh", done.returncode == 0, done.all[-200:])


def server():
    address = os.environ.get("GATEFOLD_POSTGRES")
    if not address or not shutil.which("psql"):
        raise Missing("run it as `tests/interop/postgres.sh tests/trials/run FOLDER`, with psql")
    return urlsplit(address)


def functions(bench):
    address = server()
    password = {"PGPASSWORD": address.password or ""}
    at = ["-h", address.hostname, "-p", address.port, "-U", address.username]
    done = bench.shell(["psql", *at, "-d", "postgres", "-f", "setup.sql"], password)
    # Without PostGIS what needs it is not there, and that is no fault of ours.
    has_postgis = 'extension "postgis"' not in done.all
    if not has_postgis:
        raise Missing("PostgreSQL has no PostGIS")
    bench.shell(["psql", *at, "-d", "postgres", "-c", "ALTER ROLE functions_reader PASSWORD 'functions'"], password)
    key = 'allow_functions = ["public.net", "public.fiscal_year", "acct.vat", "public.near"]'
    database = f'database = "postgres://functions_reader:functions@{address.hostname}:{address.port}/functions_trial"'
    (bench.at / "own.toml").write_text(f"[sources.shops]\n{database}\n{key}\n")
    for file in ("queries.sql", "more.sql"):
        must = "run"
        for line in (bench.at / file).read_text().splitlines():
            if line.startswith("--"):
                must = "be refused" if "refused" in line else "run"
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
