"""Chooses the constants of the fusion, and checks that the choice carries over.

    python tune.py --table table.bin --sets DIR [--synonyms FILE]

For each set the constants are chosen on the others and measured on it; the mean of that is what a
set never seen may expect. Last come the constants that are best on all.
"""

import argparse
import itertools
from pathlib import Path

import evaluate
import numpy as np
from lexical import read_synonyms
from table import read

WEIGHTS = (0.75, 0.9, 1.1, 1.3, 1.6)
CLAUSES = (0.0, 0.3, 0.5)
SERVERS = (0.0, 0.15, 0.3, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--sets", type=Path, required=True)
    parser.add_argument("--synonyms", type=Path)
    arguments = parser.parse_args()
    synonyms = read_synonyms(arguments.synonyms)
    embed = read(arguments.table).embed
    runs = {name: evaluate.Run(*texts, embed, synonyms)
            for name, texts in evaluate.sets(arguments.sets, None).items()}
    choices = list(itertools.product(WEIGHTS, CLAUSES, SERVERS))
    found = np.array([[run.measure(evaluate.full(*choice))[1] for run in runs.values()]
                      for choice in choices])
    apart = []
    for index, name in enumerate(runs):
        others = np.delete(found, index, axis=1).mean(axis=1)
        chosen = int(others.argmax())
        apart.append(found[chosen, index])
        print(f"{name:14} chosen without it {choices[chosen]}: {found[chosen, index]:.3f}, "
              f"its own best {found[:, index].max():.3f}")
    best = int(found.mean(axis=1).argmax())
    print(f"left out one by one {np.mean(apart):.4f}; all together {choices[best]} "
          f"{found[best].mean():.4f}")


if __name__ == "__main__":
    main()
