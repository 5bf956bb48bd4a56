"""Serves an HTTP API by its OpenAPI description with FastMCP, for `cargo xtask bench http --peer`.

    http_peer.py PORT DESCRIPTION
"""

import json
import sys

from fastmcp import FastMCP


def main(port, description):
    with open(description) as file:
        api = json.load(file)
    server = FastMCP.from_openapi(openapi_spec=api, name="bench")
    quiet = {"log_level": "error", "show_banner": False, "uvicorn_config": {"access_log": False}}
    server.run(transport="http", host="127.0.0.1", port=int(port), **quiet)


main(*sys.argv[1:])
