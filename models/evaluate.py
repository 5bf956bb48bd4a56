"""Measures a table: alone, BM25F alone, and both fused, on sets of tools and queries.

    python evaluate.py --table table.bin --sets DIR [--bfcl DIR_OF_THE_PACKAGE] [--synonyms FILE]

A set is a folder with `tools.jsonl` (`id`, `name`, `description`, ...) and `queries.jsonl`
(`id`, `text`, `relevant`). Recall is strict: the part of all relevant tools that is among the
first five. Two figures a set: recall@5 / NDCG@10, over its first 500 queries.
"""

import argparse
import hashlib
import json
import re
from pathlib import Path

import numpy as np
from lexical import Lexical, read_synonyms
from table import Table, read, unit
from words import words

MAX_QUERIES = 500
CUT = 10


def load_set(folder: Path) -> tuple[list[dict], list[dict]]:
    """A set's tools and its first queries."""
    tools, queries = ([json.loads(line) for line in (folder / name).read_text().splitlines()]
                      for name in ("tools.jsonl", "queries.jsonl"))
    return tools, queries[:MAX_QUERIES]


def load_bfcl(package: Path) -> tuple[list[dict], list[dict]]:
    """One catalogue from all single-turn questions of the Berkeley function-calling leaderboard."""
    tools, queries = {}, []
    data = package / "bfcl_eval" / "data"
    for name in ("simple_python", "multiple", "parallel_multiple", "live_simple", "live_multiple"):
        answers = {}
        for line in (data / "possible_answer" / f"BFCL_v4_{name}.json").read_text().splitlines():
            row = json.loads(line)
            answers[row["id"]] = {key for answer in row["ground_truth"] for key in answer}
        for line in (data / f"BFCL_v4_{name}.json").read_text().splitlines():
            row = json.loads(line)
            ids = []
            for function in row["function"]:
                digest = hashlib.sha256(function["description"].encode()).hexdigest()[:6]
                identity = f"{function['name']}#{digest}"
                tools[identity] = {"id": identity, "name": function["name"],
                                   "description": function["description"],
                                   "schema": function["parameters"]}
                if function["name"] in answers[row["id"]]:
                    ids.append(identity)
            text = " ".join(turn["content"] for turn in row["question"][0]
                            if turn["role"] == "user")
            if ids:
                queries.append({"id": row["id"], "text": text, "relevant": ids})
    order = np.random.default_rng(5).permutation(len(queries))[:MAX_QUERIES]
    return list(tools.values()), [queries[index] for index in order]


def dense_text(tool: dict) -> str:
    """What of a tool is embedded: its server's name, its own name, its description."""
    name = " ".join(words(tool["name"]))
    return f"{tool.get('server') or ''} {name}: {tool.get('description') or ''}"


NAME_SHARE = 0.4  # of the name's own vector, added to that of the whole


def tool_vectors(tools: list[dict], embed) -> np.ndarray:
    """A tool's vector: that of its text, drawn towards that of its server's and its own name."""
    named = [f"{tool.get('server') or ''} {' '.join(words(tool['name']))}" for tool in tools]
    return unit(embed([dense_text(tool) for tool in tools]) + NAME_SHARE * embed(named))


def clauses(query: str) -> list[str]:
    """The parts of a request that has several sentences or is joined by "and" or "then"."""
    parts = re.split(r"[.;?!]\s+|,?\s+(?:and|then|also)\s+|,\s+", query)
    return [part for part in parts if len(part.split()) >= 3] if len(parts) > 1 else []


def measures(scores: np.ndarray, relevant: np.ndarray) -> tuple[float, float]:
    """Strict recall@5 and NDCG@10 of one query; equal scores stay in the order of the tools."""
    best = np.argsort(-scores, kind="stable")[:CUT]
    hits = np.isin(best, relevant)
    gains = 1 / np.log2(np.arange(2, CUT + 2))
    ideal = gains[:min(len(relevant), CUT)].sum()
    return hits[:5].sum() / len(relevant), (hits * gains[:len(hits)]).sum() / ideal


class Run:
    """Lexical and dense scores of every query of one set, whole and by clause."""

    def __init__(self, tools: list[dict], queries: list[dict], embed, synonyms: dict) -> None:
        place = {tool["id"]: index for index, tool in enumerate(tools)}
        self.relevant = [np.array([place[i] for i in query["relevant"] if i in place])
                         for query in queries]
        self.servers = np.unique([tool.get("server") or tool["id"] for tool in tools],
                                 return_inverse=True)[1]
        lexical = Lexical(tools, synonyms)
        texts = [query["text"] for query in queries]
        parts = [clauses(text) for text in texts]
        flat = [part for group in parts for part in group]
        vectors = tool_vectors(tools, embed)
        self.lexical = np.array([lexical.scores(text) for text in texts])
        self.dense = embed(texts) @ vectors.T
        whole = [lexical.measure(text) for text, group in zip(texts, parts, strict=True)
                 for _ in group]
        clause_lexical = [lexical.scores(part) * np.sqrt(lexical.measure(part) / measure)
                          for part, measure in zip(flat, whole, strict=True)]
        clause_dense = embed(flat) @ vectors.T if flat else np.zeros((0, len(tools)))
        self.clauses, start = [], 0
        for group in parts:
            stop = start + len(group)
            self.clauses.append((np.array(clause_lexical[start:stop]), clause_dense[start:stop]))
            start = stop

    def measure(self, fused) -> tuple[float, float]:
        """Mean recall@5 and NDCG@10; `fused` gives the scores of the query at an index."""
        found = [measures(fused(self, index), relevant)
                 for index, relevant in enumerate(self.relevant) if len(relevant)]
        return tuple(np.mean(found, axis=0))


def lexical_only(run: Run, index: int) -> np.ndarray:
    """BM25F alone."""
    return run.lexical[index]


def dense_only(run: Run, index: int) -> np.ndarray:
    """The table alone."""
    return run.dense[index]


def absolute(weight: float):
    """BM25F over the query's idf, and `weight` times the cosine."""
    return lambda run, index: run.lexical[index] + weight * run.dense[index]


def min_max(weight: float):
    """Both stretched to 0..1 over the catalogue."""
    def stretched(scores: np.ndarray) -> np.ndarray:
        return (scores - scores.min()) / max(float(np.ptp(scores)), 1e-9)
    return lambda run, index: stretched(run.lexical[index]) + weight * stretched(run.dense[index])


def full(weight: float, clause: float, server: float):
    """Absolute fusion with the best clause and the mean of the server's best three."""
    def scores(run: Run, index: int) -> np.ndarray:
        total = run.lexical[index] + weight * run.dense[index]
        lexical, dense = run.clauses[index]
        if clause and len(lexical) > 1:
            total = total + clause * (lexical + weight * dense).max(axis=0)
        if server:
            total = total + server * server_best(total, run.servers)
        return total
    return scores


def server_best(scores: np.ndarray, servers: np.ndarray, count: int = 3) -> np.ndarray:
    """For each tool the mean of the best three scores of its server."""
    order = np.lexsort((-scores, servers))
    sorted_servers = servers[order]
    first = np.searchsorted(sorted_servers, sorted_servers)
    rank = np.arange(len(order)) - first
    top = rank < count
    sums = np.bincount(sorted_servers[top], scores[order][top], minlength=servers.max() + 1)
    counts = np.bincount(sorted_servers[top], minlength=servers.max() + 1)
    return (sums / counts)[servers]


WEIGHT = 1.2
CLAUSE = 0.4
SERVER = 0.5

METHODS = {"bm25f": lexical_only, "table": dense_only,
           **{f"absolute {w}": absolute(w) for w in (0.5, 0.75, 1.0, 1.5, 2.0)},
           **{f"min-max {w}": min_max(w) for w in (1.0, 1.5)},
           "full": full(WEIGHT, CLAUSE, SERVER)}


def sets(folder: Path | None, bfcl: Path | None) -> dict[str, tuple[list[dict], list[dict]]]:
    """The sets by name; the one kept aside comes last and is left out of the mean."""
    found = {}
    if folder:
        for path in sorted(folder.glob("*/queries.jsonl")):
            found[path.parent.name] = load_set(path.parent)
    if bfcl:
        found["(bfcl)"] = load_bfcl(bfcl)
    return found


def report(loaded: dict, embed, methods: dict, synonyms: dict) -> None:
    """Prints one table: methods down, sets across, the mean NDCG@10 last."""
    runs = {name: Run(*texts, embed, synonyms) for name, texts in loaded.items()}
    print(f"{'':14}" + "".join(f"{name:>15}" for name in runs) + "   mean NDCG")
    for name, method in methods.items():
        figures = {key: run.measure(method) for key, run in runs.items()}
        mean = np.mean([value[1] for key, value in figures.items() if "(" not in key])
        print(f"{name:14}" + "".join(f"{f'{r:.3f}/{n:.3f}':>15}" for r, n in figures.values())
              + f"   {mean:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--sets", type=Path)
    parser.add_argument("--bfcl", type=Path)
    parser.add_argument("--synonyms", type=Path, help="groups, a line each, or the Rust source")
    arguments = parser.parse_args()
    table: Table = read(arguments.table)
    report(sets(arguments.sets, arguments.bfcl), table.embed, METHODS,
           read_synonyms(arguments.synonyms))


if __name__ == "__main__":
    main()
