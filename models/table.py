"""The table's file, and how a text is embedded with it.

Format, little endian: the magic `GFTABLE1`; u32 dimensions, rows and bytes of vocabulary; the
vocabulary, one entry a line, sorted by its bytes; the rows' scales as f32; the rows as int8.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse
from words import words

MAGIC = b"GFTABLE1"
MAX_WORDS = 64  # of a text; what follows is not read


@dataclass
class Vocabulary:
    """The table's entries: whole words, `##` pieces that continue a word, and bigrams."""

    entries: list[str]
    index: dict[str, int] = field(init=False)
    longest: int = field(init=False)

    def __post_init__(self) -> None:
        self.index = {entry: row for row, entry in enumerate(self.entries)}
        self.longest = max(len(entry) for entry in self.entries if " " not in entry)

    def rows_of_word(self, word: str) -> list[int]:
        """The word's own row, or its greedy longest pieces; a letter without one is skipped."""
        row = self.index.get(word)
        if row is not None:
            return [row]
        rows, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self.longest), start, -1):
                row = self.index.get(prefix + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                start += 1
        return rows

    def rows(self, text: str) -> list[int]:
        """Rows of a text's words and bigrams, each once."""
        found = words(text)[:MAX_WORDS]
        rows = [row for word in found for row in self.rows_of_word(word)]
        rows += [self.index[pair] for pair in map(" ".join, zip(found, found[1:], strict=False))
                 if pair in self.index]
        return list(dict.fromkeys(rows))


def bags(vocabulary: Vocabulary, texts: Iterable[str]) -> sparse.csr_matrix:
    """Texts x rows, 1 where a text has a row."""
    indices, starts = [], [0]
    for text in texts:
        indices.extend(vocabulary.rows(text))
        starts.append(len(indices))
    data = np.ones(len(indices), np.float32)
    return sparse.csr_matrix((data, np.array(indices, np.int32), np.array(starts, np.int64)),
                             shape=(len(starts) - 1, len(vocabulary.entries)))


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows at unit length; a row of zeros stays."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@dataclass
class Table:
    """A vocabulary with a vector for each entry, its pooling weight in its length."""

    vocabulary: Vocabulary
    rows: np.ndarray

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors of texts: the sum of their rows."""
        return unit(bags(self.vocabulary, texts) @ self.rows)

    def write(self, path: Path) -> None:
        """Writes the file, rows rounded to int8."""
        scale = np.abs(self.rows).max(axis=1).clip(1e-9) / 127
        quantised = np.rint(self.rows / scale[:, None]).astype(np.int8)
        text = "".join(entry + "\n" for entry in self.vocabulary.entries).encode()
        head = struct.pack("<III", self.rows.shape[1], self.rows.shape[0], len(text))
        path.write_bytes(MAGIC + head + text + scale.astype("<f4").tobytes() + quantised.tobytes())


def read(path: Path) -> Table:
    """Reads a table's file."""
    data = path.read_bytes()
    if data[:8] != MAGIC:
        raise ValueError(f"{path} is no embedding table")
    dimensions, count, length = struct.unpack("<III", data[8:20])
    entries = data[20:20 + length].decode().split("\n")[:-1]
    scale = np.frombuffer(data, "<f4", count, 20 + length)
    rows = np.frombuffer(data, np.int8, count * dimensions, 20 + length + 4 * count)
    return Table(Vocabulary(entries),
                 rows.reshape(count, dimensions).astype(np.float32) * scale[:, None])
