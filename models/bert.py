"""A BERT-like sentence encoder in PyTorch, small enough to read: texts in, unit vectors out.

Its weights have the names that Sentence Transformers gives them, so all-MiniLM-L6-v2 loads as it is.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import BertWordPieceTokenizer
from torch import nn
from torch.nn import functional

POSITIONS = 128  # a tool is read to 64 tokens, a request to 48
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


@dataclass
class Shape:
    """What an encoder's weights are sized by."""

    pieces: int = 30522
    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536


class Layer(nn.Module):
    """One layer of attention and one of perceptrons, each added to what came in and normalised."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.key, self.value, self.joined = (
            nn.Linear(shape.width, shape.width) for _ in range(4))
        self.wide = nn.Linear(shape.width, shape.inner)
        self.back = nn.Linear(shape.inner, shape.width)
        self.attended = nn.LayerNorm(shape.width, eps=1e-12)
        self.done = nn.LayerNorm(shape.width, eps=1e-12)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        rows, length, width = states.shape
        apart = (rows, length, self.heads, width // self.heads)
        query, key, value = (part(states).view(apart).transpose(1, 2)
                             for part in (self.query, self.key, self.value))
        near = query @ key.transpose(2, 3) / math.sqrt(width / self.heads) + mask
        seen = near.softmax(-1) @ value
        seen = self.joined(seen.transpose(1, 2).reshape(rows, length, width))
        states = self.attended(states + seen)
        return self.done(states + self.back(functional.gelu(self.wide(states))))


class Encoder(nn.Module):
    """Token numbers to the mean of the last states, at unit length."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.pieces = nn.Embedding(shape.pieces, shape.width)
        self.positions = nn.Embedding(POSITIONS, shape.width)
        self.begun = nn.LayerNorm(shape.width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states = self.begun(self.pieces(ids) + self.positions.weight[:ids.shape[1]])
        seen = ((1 - mask[:, None, None, :]) * -1e4).to(states.dtype)
        for layer in self.layers:
            states = layer(states, seen)
        states = states.float() * mask[:, :, None]
        return functional.normalize(states.sum(1) / mask.sum(1, keepdim=True), dim=-1)

    def save(self, folder: Path, pieces: list[str]) -> None:
        """Writes weights, shape and vocabulary into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.state_dict(), folder / "weights.safetensors")
        (folder / "shape.json").write_text(json.dumps(asdict(self.shape)))
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces))

    @staticmethod
    def load(folder: Path) -> "tuple[Encoder, list[str]]":
        """What `save` wrote."""
        encoder = Encoder(Shape(**json.loads((folder / "shape.json").read_text())))
        encoder.load_state_dict(load_file(folder / "weights.safetensors"))
        return encoder, (folder / "vocab.txt").read_text().splitlines()


def published(folder: Path) -> tuple[Encoder, list[str]]:
    """all-MiniLM-L6-v2 as its package has it; the type of the first segment joins the positions."""
    weights = load_file(folder / "model.safetensors")
    encoder = Encoder(Shape())
    own = {"pieces.weight": weights["embeddings.word_embeddings.weight"],
           "positions.weight": weights["embeddings.position_embeddings.weight"][:POSITIONS]
           + weights["embeddings.token_type_embeddings.weight"][0],
           "begun.weight": weights["embeddings.LayerNorm.weight"],
           "begun.bias": weights["embeddings.LayerNorm.bias"]}
    names = {"attention.self.query": "query", "attention.self.key": "key",
             "attention.self.value": "value", "attention.output.dense": "joined",
             "attention.output.LayerNorm": "attended", "intermediate.dense": "wide",
             "output.dense": "back", "output.LayerNorm": "done"}
    for layer in range(encoder.shape.layers):
        for theirs, ours in names.items():
            for kind in ("weight", "bias"):
                own[f"layers.{layer}.{ours}.{kind}"] = \
                    weights[f"encoder.layer.{layer}.{theirs}.{kind}"]
    encoder.load_state_dict(own)
    return encoder, (folder / "vocab.txt").read_text().splitlines()


class Pieces:
    """Texts to padded token numbers, by uncased WordPiece."""

    def __init__(self, pieces: list[str]) -> None:
        self.tokenizer = BertWordPieceTokenizer(
            {piece: number for number, piece in enumerate(pieces)}, lowercase=True)

    def __call__(self, texts: list[str], tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
        self.tokenizer.enable_truncation(tokens)
        rows = [row.ids for row in self.tokenizer.encode_batch(texts)]
        length = max(map(len, rows))
        ids = torch.zeros(len(rows), length, dtype=torch.long)
        mask = torch.zeros(len(rows), length)
        for at, row in enumerate(rows):
            ids[at, :len(row)] = torch.tensor(row)
            mask[at, :len(row)] = 1
        return ids, mask


def halved(encoder: Encoder, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The same as calling the encoder, computed in bfloat16, which is several times as fast."""
    weights = {name: weight.bfloat16() for name, weight in encoder.named_parameters()}
    return torch.func.functional_call(encoder, weights, (ids, mask))


def together(encoder: Encoder, pieces: "Pieces", texts: list[str], tokens: int,
             size: int = 48) -> torch.Tensor:
    """`halved` of texts, those of like length together, so that little is padding."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    parts = [halved(encoder, *pieces([texts[at] for at in order[start:start + size]], tokens))
             for start in range(0, len(order), size)]
    place = torch.empty(len(texts), dtype=torch.long)
    place[order] = torch.arange(len(texts))
    return torch.cat(parts)[place]


@torch.no_grad()
def vectors(encoder: Encoder, pieces: Pieces, texts: list[str], tokens: int,
            size: int = 128) -> torch.Tensor:
    """Unit vectors of many texts, those of like length together."""
    encoder.eval()
    return together(encoder, pieces, texts, tokens, size)
