"""Lays out databases and queries of public text-to-SQL suites.

    text2sql.py FOLDER SCRATCH

Prints a line for each database: its kind, a name, the database or the file that makes it, the file of
its queries. Where a suite has a schema and no rows, a few are made up, the same each time.
"""

import csv
import io
import itertools
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys

FOLDER, SCRATCH = map(pathlib.Path, sys.argv[1:])

ROWS = 40
"""How many rows are made up for a table."""

MAX_QUERIES = 2_000
"""The most queries of one database."""


def read(suite, path):
    """A file of a clone, bare or not, or nothing."""
    for folder in sorted(FOLDER.glob(f"*{suite}*")):
        for place in (folder, folder / "repo"):
            if (place / path).is_file():
                return (place / path).read_bytes()
            shown = subprocess.run(
                ["git", "-C", str(place), "show", f"HEAD:{path}"], capture_output=True, check=False
            )
            if shown.returncode == 0:
                return shown.stdout
    return None


def tell(kind, name, database, queries):
    """Writes the queries of a database, each once, and names both."""
    unique = list(dict.fromkeys(queries))[:MAX_QUERIES]
    file = SCRATCH / f"{name}.json"
    file.write_text(json.dumps(unique))
    print(kind, name, database, file)


def defog():
    """PostgreSQL with schemas and rows. A query may leave open which columns it names."""
    by_database = {}
    for part in ("questions_gen", "instruct_basic", "instruct_advanced", "idk"):
        name = f"data/{part}_postgres.csv" if part != "idk" else "data/idk.csv"
        data = read("sql-eval", name)
        for row in csv.DictReader(io.StringIO((data or b"").decode())):
            for query in row["query"].split(";"):
                query = query.strip()
                # `{a,b}` stands for any of them, and `{}` for the same again.
                choice = re.search(r"\{([^{}]+)\}", query)
                if choice:
                    query = query.replace(choice.group(0), choice.group(1))
                    query = query.replace("{}", choice.group(1))
                if query:
                    by_database.setdefault(row["db_name"], []).append(query)
    for name, queries in sorted(by_database.items()):
        setup = read("defog-data", f"defog_data/{name}/{name}.sql")
        if setup:
            file = SCRATCH / f"defog-{name}.sql"
            file.write_bytes(setup)
            tell("postgres", f"defog-{name}", file, queries)


def made_up(kind, column, chance):
    """A value for a column of a type."""
    if chance.random() < 0.05:
        return None
    if kind == "number":
        return chance.randint(1, ROWS)
    if kind == "time":
        return f"20{chance.randint(10, 23)}-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}"
    return f"{column.split()[0]} {chance.randint(1, 9)}"


def spider():
    """SQLite, with schemas and no rows."""
    tables = read("taoyds+spider", "evaluation_examples/examples/tables.json")
    dev = read("taoyds+spider", "evaluation_examples/examples/dev.json")
    if not tables or not dev:
        return
    queries = {}
    for example in json.loads(dev):
        queries.setdefault(example["db_id"], []).append(example["query"])
    for schema in json.loads(tables):
        name = schema["db_id"]
        if name not in queries:
            continue
        file = SCRATCH / f"spider-{name}.db"
        connection = sqlite3.connect(file)
        chance = random.Random(name)
        for at, table in enumerate(schema["table_names_original"]):
            if table.startswith("sqlite_"):
                continue
            columns = [
                (column, kind)
                for (owner, column), kind in zip(
                    schema["column_names_original"], schema["column_types"], strict=True
                )
                if owner == at
            ]
            types = {"number": "NUMERIC", "time": "DATETIME", "boolean": "BOOLEAN"}
            declared = ", ".join(f'"{c}" {types.get(kind, "TEXT")}' for c, kind in columns)
            connection.execute(f'CREATE TABLE "{table}" ({declared})')
            marks = ", ".join("?" * len(columns))
            rows = [[made_up(kind, c, chance) for c, kind in columns] for _ in range(ROWS)]
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        connection.commit()
        connection.close()
        tell("sqlite", f"spider-{name}", file, queries[name])


def classic():
    """SQLite with rows: questions about geography and restaurants."""
    for name in ("geography", "restaurants"):
        database = read("text2sql-data", f"data/{name}-db.added-in-2020.sqlite")
        examples = read("text2sql-data", f"data/{name}.json")
        if not database or not examples:
            continue
        file = SCRATCH / f"classic-{name}.db"
        file.write_bytes(database)
        queries = []
        for example in json.loads(examples):
            for sentence, sql in itertools.product(example["sentences"], example["sql"][:1]):
                for variable, value in sentence["variables"].items():
                    sql = sql.replace(variable, value.replace('"', ""))
                queries.append(sql)
        tell("sqlite", f"classic-{name}", file, queries)


defog()
spider()
classic()
