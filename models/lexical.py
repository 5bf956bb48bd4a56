"""BM25F over a catalogue of tools, as the measure to fuse the table with."""

import re
from pathlib import Path

import numpy as np
from scipy import sparse
from words import words

# Fields: weight and length normalisation. K1 and these were tuned on the development sets.
FIELDS = {"name": (4.0, 0.9), "server": (2.5, 0.9), "description": (0.75, 0.6),
          "parameters": (1.0, 0.25), "parameter_texts": (0.4, 0.25)}
K1 = 1.0
MAX_REPEATS = 2  # a query's term counts at most so often
SYNONYM = 0.25  # what a synonym of a query's term counts, compared with the term itself
TELLING = 3  # a score is over the idf of so many of the query's rarest terms

STOP = frozenset("""a about all am an and any are as at be been but by can could did do does for
from had has have he her hers him his how i if in into is it its just like me my need no not of on
or our out please she should so some such than thank thanks that the their them then there these
they this those to too up us use using want was we were what when where which who whom why will
with would you your also additionally help provide let""".split())


def stem(word: str) -> str:
    """Light stemming: plurals, -ing and -ed, and a final e or doubled consonant after them."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed"):
        if word.endswith(suffix) and re.search("[aeiouy]", word[:-len(suffix)]) \
                and len(word) - len(suffix) >= 3:
            word = word[:-len(suffix)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word


def terms(text: str) -> list[str]:
    """Stemmed words without stop words."""
    return [stem(word) for word in words(text) if word not in STOP]


def fields(tool: dict) -> dict[str, str]:
    """A tool's texts by field."""
    properties = (tool.get("schema") or {}).get("properties") or {}
    texts = [str(value.get("description", "")) for value in properties.values()
             if isinstance(value, dict)]
    server = " ".join(str(tool.get(key) or "") for key in ("server", "category"))
    return {"name": tool["name"], "server": server, "description": tool.get("description") or "",
            "parameters": " ".join(properties), "parameter_texts": " ".join(texts)}


class Lexical:
    """A catalogue indexed for BM25F (Robertson, Zaragoza and Taylor, 2004)."""

    def __init__(self, tools: list[dict], synonyms: dict[str, set[str]]) -> None:
        self.synonyms = synonyms
        split = [{name: terms(text) for name, text in fields(tool).items()} for tool in tools]
        self.index: dict[str, int] = {}
        weighted = sparse.csr_matrix((len(tools), 0))
        for name, (weight, b) in FIELDS.items():
            rows, columns, values = [], [], []
            mean = np.mean([len(tool[name]) for tool in split]) or 1.0
            for row, tool in enumerate(split):
                share = weight / (1 - b + b * len(tool[name]) / mean)
                for term in tool[name]:
                    rows.append(row)
                    columns.append(self.index.setdefault(term, len(self.index)))
                    values.append(share)
            field = sparse.csr_matrix((values, (rows, columns)), (len(tools), len(self.index)))
            weighted.resize(len(tools), len(self.index))
            weighted = weighted + field
        count = np.bincount(weighted.indices, minlength=len(self.index))
        self.idf = np.log(1 + (len(tools) - count + 0.5) / (count + 0.5))
        weighted.data = weighted.data / (K1 + weighted.data) * self.idf[weighted.indices]
        self.matrix = weighted.tocsr()

    def counts(self, query: str) -> dict[int, int]:
        """The query's known terms by column, each counted up to a bound."""
        found: dict[int, int] = {}
        for term in terms(query):
            column = self.index.get(term)
            if column is not None:
                found[column] = min(found.get(column, 0) + 1, MAX_REPEATS)
        return found

    def measure(self, query: str) -> float:
        """The idf of the query's rarest terms: what a full match of them would weigh.

        Over the idf of all terms a long request would score low however well a tool fits.
        """
        counts = self.counts(query)
        if not counts:
            return 1.0
        weights = np.repeat(self.idf[list(counts)], list(counts.values()))
        return float(np.sort(weights)[-TELLING:].sum())

    def scores(self, query: str) -> np.ndarray:
        """Scores for every tool: BM25F over `measure`."""
        vector = np.zeros(len(self.index))
        counts = self.counts(query)
        for term in set(terms(query)):
            count = counts.get(self.index.get(term, -1), 1)
            for synonym in self.synonyms.get(term, ()):
                column = self.index.get(synonym)
                if column is not None:
                    vector[column] = max(vector[column], SYNONYM * count)
        for column, count in counts.items():
            vector[column] = count
        return self.matrix @ vector / self.measure(query)


def read_synonyms(path: Path | None) -> dict[str, set[str]]:
    """Synonyms by stem, from lines of words; of a Rust source, those of its `GROUPS`."""
    found: dict[str, set[str]] = {}
    text = path.read_text() if path else ""
    if path and path.suffix == ".rs":
        text = text.split('GROUPS: &str = "', 1)[1].split('"', 1)[0]
    for line in text.splitlines():
        stems = {stem(word) for word in line.split() if word.isalpha()}
        for one in stems:
            found.setdefault(one, set()).update(stems - {one})
    return found
