"""Writes `golden.jsonl`: texts with what the table makes of them, for the Rust side's test.

    python golden.py --table table.bin --out golden.jsonl

Each line of a text: `text`, `rows` (the table's rows in the order of their finding), `head` (the
first eight values of the unit vector) and `nearest` (line numbers, from 0, of the three nearest
other texts). The last lines are tools: `tool` with `server`, `name` and `description`, and the
`head` of its vector.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from evaluate import tool_vectors
from table import read

TEXTS = [
    "send an email to a colleague", "gmail send message: Sends the message to its recipients.",
    "What's the weather like in Zürich tomorrow?", "weather getForecast: Forecast for a place.",
    "github create_pull_request: Open a pull request.", "I want to merge my branch. How do I do it?",
    "list_pull-requests.v2", "listHTTPRoutes", "delete a row from a spreadsheet",
    "sheets values.clear: Clears values from a range of cells.", "play some jazz music",
    "media player play_media: Starts playing specified media.", "convert 100 USD to euros",
    "currency exchangeRates: Latest foreign exchange rates.", "translate this text into French",
    "stock price of a company", "finance get_quote: Real-time quotes for stock symbols.",
    "turn off the lights in the kitchen", "light turn_off: Turns off one or more lights.",
    "book a hotel room near the airport", "run a SQL query against the database",
    "execute_sql: Executes a statement and returns rows.", "zxqvj blorptastic frobnicate",
    "the the the the", "naïve café résumé", "中文 search", "", "1234567890 42 3d",
    "virtual machine", "machine virtual", "S3 PutObject: Adds an object to a bucket.",
    "upload a file to cloud storage",
]


TOOLS = [
    {"server": "GitHub", "name": "create_pull_request", "description": "Open a pull request."},
    {"server": "", "name": "getForecast", "description": "Weather at a place, by hour or day."},
    {"server": "sheets", "name": "values.clear", "description": ""},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    table = read(arguments.table)
    vectors = table.embed(TEXTS)
    near = vectors @ vectors.T
    np.fill_diagonal(near, -2)
    with arguments.out.open("w") as out:
        for index, text in enumerate(TEXTS):
            line = {"text": text, "rows": table.vocabulary.rows(text),
                    "head": [round(float(value), 5) for value in vectors[index, :8]],
                    "nearest": np.argsort(-near[index], kind="stable")[:3].tolist()}
            if not line["rows"]:
                line["nearest"] = []
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
        for tool, vector in zip(TOOLS, tool_vectors(TOOLS, table.embed), strict=True):
            line = {"tool": tool, "head": [round(float(value), 5) for value in vector[:8]]}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
