"""Counts the operations of OpenAPI descriptions straight from the documents, and compares.

    openapi.py FOLDER COUNTS

COUNTS is what `cargo xtask bench openapi FOLDER --counts COUNTS` wrote: a file, its tools and its
unusable operations in each line. The count here knows nothing of Gatefold: each method of each path.
"""

import json
import pathlib
import sys

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def item_at(document, item):
    """A path item, or what it refers to within the document."""
    reference = item.get("$ref") if isinstance(item, dict) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return item
    target = document
    for token in reference[2:].split("/"):
        target = target.get(token.replace("~1", "/").replace("~0", "~"), {})
    return {**target, **item}


def operations(document):
    methods = METHODS if "swagger" in document else METHODS | {"query"}
    count = 0
    for path, item in (document.get("paths") or {}).items():
        item = item_at(document, item)
        if path.startswith("x-") or not isinstance(item, dict):
            continue
        count += sum(1 for key in item if key.lower() in methods)
        more = item.get("additionalOperations")
        count += len(more) if isinstance(more, dict) else 0
    return count


def main(folder, counts):
    files = agreed = told = 0
    differ = []
    for line in pathlib.Path(counts).read_text().splitlines():
        name, tools, unusable = line.split("\t")
        document = json.loads((pathlib.Path(folder) / name).read_text(encoding="utf-8-sig"))
        expected = operations(document)
        found = int(tools) + int(unusable)
        files += 1
        told += found
        if found == expected:
            agreed += 1
        else:
            differ.append(f"{name}: {found} operations were read, the document has {expected}")
    print(f"{agreed} of {files} files agree, with {told} operations")
    print("\n".join(differ))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
