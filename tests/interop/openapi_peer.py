"""Reads OpenAPI descriptions with FastMCP's `from_openapi`, as `cargo xtask bench openapi` does with Gatefold.

    openapi_peer.py FOLDER COUNTS [FILE_LIMIT_S]

COUNTS is what `cargo xtask bench openapi FOLDER --counts COUNTS` wrote: these files are read. Each is read in a
process of its own, forked from one that has loaded FastMCP, so that a crash or the limit (60 s) costs one file.
The limit, `slowest` and `GitHub's` are of the processor, which other work on the machine does not lengthen.
An operation is lost if the document has it and the server lists no tool for it.
"""

import asyncio
import json
import logging
import multiprocessing
import os
import pathlib
import resource
import sys
import time
import warnings
from multiprocessing.connection import wait

import httpx2
from fastmcp import FastMCP
from openapi import operations

FILE_LIMIT_S = 60
# How many times the limit is waited for on a machine that does other work too.
WAITED = 8
GITHUB = "api.github.com.json"
SHOWN = 20
SHOWN_CHARS = 160


def read(path):
    """What a user does: the text becomes a server, and the server lists its tools."""
    started, used = time.perf_counter(), time.process_time()
    document = json.loads(path.read_text(encoding="utf-8-sig"))
    client = httpx2.AsyncClient(base_url="https://api.example")
    server = FastMCP.from_openapi(openapi_spec=document, client=client)
    tools = asyncio.run(server.list_tools())
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    wrong = sum(1 for tool in tools if not all_refer(tool.parameters))
    return {"tools": len({tool.name for tool in tools}), "wrong": wrong, "seconds": seconds, "cpu": cpu}


def all_refer(schema):
    """Whether each reference of a schema leads to something: the least that a valid schema must do."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        members = one.values() if isinstance(one, dict) else one
        waiting.extend(member for member in members if isinstance(member, (dict, list)))
        reference = one.get("$ref") if isinstance(one, dict) else None
        if isinstance(reference, str) and not leads_somewhere(schema, reference):
            return False
    return True


def leads_somewhere(schema, reference):
    found = schema
    for token in reference.removeprefix("#").split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and token.isdigit() and int(token) < len(found):
            found = found[int(token)]
        elif isinstance(found, dict) and token in found:
            found = found[token]
        else:
            return False
    return reference.startswith("#")


def child(path, answers, limit_s):
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
    logging.disable()
    warnings.simplefilter("ignore")
    try:
        answer = read(path)
    except BaseException as error:  # What does not load is counted, whatever the reason.
        answer = {"failed": f"{type(error).__name__}: {error}"[:SHOWN_CHARS].replace("\n", " ")}
    answers.send(answer)


def read_all(paths, limit_s):
    """Yields an answer for each path, in any order; as many are read at once as there are cores."""
    context = multiprocessing.get_context("fork")
    waiting = list(reversed(paths))
    running = {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            path = waiting.pop()
            answers, sender = context.Pipe(duplex=False)
            process = context.Process(target=child, args=(path, sender, limit_s))
            process.start()
            sender.close()
            running[answers] = (path, process, time.monotonic() + WAITED * limit_s)
        ready = wait(list(running), timeout=0.5)
        for answers, (path, process, deadline) in list(running.items()):
            if answers in ready:
                try:
                    answer = answers.recv()
                except EOFError:
                    answer = {"failed": f"the process ended, at {limit_s} s of the processor or before"}
            elif time.monotonic() > deadline:
                answer = {"failed": f"not read within {WAITED * limit_s} s"}
            else:
                continue
            process.kill()
            process.join()
            answers.close()
            del running[answers]
            yield path, answer


def main(folder, counts, limit_s=FILE_LIMIT_S):
    folder = pathlib.Path(folder)
    names = [line.split("\t")[0] for line in pathlib.Path(counts).read_text().splitlines()]
    loaded = tools = wrong = lost = expected = 0
    seconds = cpu = 0.0
    slowest = github = (0.0, "")
    failed, losses = [], []
    for path, answer in read_all([folder / name for name in names], int(limit_s)):
        name = path.relative_to(folder)
        has = operations(json.loads(path.read_text(encoding="utf-8-sig")))
        expected += has
        if "failed" in answer:
            failed.append(f"failed: {name}: {answer['failed']}")
            lost += has
            continue
        loaded += 1
        tools += answer["tools"]
        wrong += answer["wrong"]
        seconds += answer["seconds"]
        cpu += answer["cpu"]
        slowest = max(slowest, (answer["cpu"], str(name)))
        if path.name == GITHUB:
            github = (answer["cpu"], str(name))
        if answer["tools"] < has:
            lost += has - answer["tools"]
            losses.append(f"lost: {name}: {has - answer['tools']} of {has} operations")
    rows = {
        "files": len(names),
        "loaded": loaded,
        "operations": expected,
        "tools": tools,
        "lost": f"{lost} ({100 * lost / max(expected, 1):.4f} %)",
        "schemas that refer to nothing": wrong,
        "seconds": f"{seconds:.1f}",
        "processor seconds": f"{cpu:.1f}",
        "slowest": f"{slowest[0]:.3f} s, {slowest[1]}",
        "GitHub's": f"{github[0]:.3f} s, {github[1]}",
    }
    print("\n".join(f"| {name} | {value} |" for name, value in rows.items()))
    for lines in (failed, losses):
        print("\n".join(sorted(lines)[:SHOWN]))
        if len(lines) > SHOWN:
            print(f"{len(lines) - SHOWN} more")


if __name__ == "__main__":
    main(*sys.argv[1:])
