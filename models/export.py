"""Writes an encoder as an int8 ONNX file with its vocabulary.

    python export.py --encoder FOLDER --out FOLDER [--golden cosines.json]

Weights have seven bits and a scale for each column: processors without VNNI add two products in 16 bits, which eight
bits would overflow. The pieces' rows have four bits and a scale each, two numbers in a byte. Activations are quantised
as they come. The network reads one text at a time, so it needs no mask. `--golden` writes cosines that onnxruntime
computes, for the Rust side's test.
"""

import argparse
import itertools
import json
import math
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from bert import POSITIONS, Encoder, Pieces

LEVELS = 63  # seven bits, signed
ROW_LEVELS = 7  # four bits, signed


class Graph:
    """An ONNX graph that grows; each method adds nodes and gives the name of what they make."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: object) -> str | list[str]:
        names = [f"n{len(self.nodes)}_{at}" for at in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def scalar(self, value: float) -> str:
        return self.constant(np.float32(value))

    def product(self, left: tuple[str, str, str], weight: torch.Tensor, bias: torch.Tensor | None) -> str:
        """`left`, quantised, times a weight (outputs x inputs), plus a bias."""
        numbers = weight.detach().float().numpy().T
        scale = np.abs(numbers).max(0) / LEVELS + 1e-12
        rounded = np.clip(np.rint(numbers / scale), -LEVELS, LEVELS).astype(np.int8)
        values, size, zero = left
        whole = self.add("MatMulInteger", values, self.constant(rounded), zero)
        both = self.add("Mul", size, self.constant(scale.astype(np.float32)))
        out = self.add("Mul", self.add("Cast", whole, to=TensorProto.FLOAT), both)
        return out if bias is None else self.add("Add", out, self.constant(bias.detach().float().numpy()))

    def quantised(self, states: str) -> tuple[str, str, str]:
        values, size, zero = self.add("DynamicQuantizeLinear", states, outputs=3)
        return values, size, zero

    def rows(self, weight: torch.Tensor) -> str:
        """The rows of the pieces: the first half of a row in the low bits of its bytes, the second in the high ones."""
        numbers = weight.detach().float().numpy()
        scale = np.abs(numbers).max(1, keepdims=True) / ROW_LEVELS + 1e-12
        whole = np.clip(np.rint(numbers / scale), -ROW_LEVELS, ROW_LEVELS).astype(np.int64) + 8
        low, high = np.split(whole, 2, axis=1)
        packed = self.constant((low + 16 * high).astype(np.uint8))
        both = self.add("Cast", self.add("Gather", packed, "input_ids"), to=TensorProto.FLOAT)
        upper = self.add("Floor", self.add("Mul", both, self.scalar(1 / 16)))
        lower = self.add("Sub", both, self.add("Mul", upper, self.scalar(16)))
        row = self.add("Sub", self.add("Concat", lower, upper, axis=-1), self.scalar(8))
        sizes = self.constant(scale.astype(np.float32))
        return self.add("Mul", row, self.add("Gather", sizes, "input_ids"))

    def normalised(self, states: str, norm: torch.nn.LayerNorm) -> str:
        weight, bias = (self.constant(part.detach().float().numpy()) for part in (norm.weight, norm.bias))
        return self.add("LayerNormalization", states, weight, bias, axis=-1, epsilon=norm.eps)


def network(encoder: Encoder) -> onnx.ModelProto:
    """The whole network, from token numbers to the last state of each token."""
    graph, shape = Graph(), encoder.shape
    states = graph.rows(encoder.pieces.weight)
    length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.constant(np.array([1], np.int64)))
    places = graph.constant(encoder.positions.weight.detach().float().numpy()[:POSITIONS])
    first = graph.constant(np.array([0], np.int64))
    places = graph.add("Slice", places, first, length, first)
    states = graph.normalised(graph.add("Add", states, places), encoder.begun)
    apart = graph.constant(np.array([0, 0, shape.heads, shape.width // shape.heads], np.int64))
    joined = graph.constant(np.array([0, 0, shape.width], np.int64))
    size = graph.scalar(1 / math.sqrt(shape.width / shape.heads))
    for layer in encoder.layers:
        given = graph.quantised(states)
        query, key, value = (
            graph.add("Transpose", graph.add("Reshape", graph.product(given, part.weight, part.bias), apart),
                      perm=order)
            for part, order in ((layer.query, [0, 2, 1, 3]), (layer.key, [0, 2, 3, 1]), (layer.value, [0, 2, 1, 3])))
        near = graph.add("Softmax", graph.add("Mul", graph.add("MatMul", query, key), size), axis=-1)
        seen = graph.add("Transpose", graph.add("MatMul", near, value), perm=[0, 2, 1, 3])
        seen = graph.quantised(graph.add("Reshape", seen, joined))
        seen = graph.product(seen, layer.joined.weight, layer.joined.bias)
        states = graph.normalised(graph.add("Add", states, seen), layer.attended)
        wide = graph.product(graph.quantised(states), layer.wide.weight, layer.wide.bias)
        bent = graph.add("Erf", graph.add("Div", wide, graph.scalar(math.sqrt(2))))
        bent = graph.add("Mul", wide, graph.add("Add", bent, graph.scalar(1)))
        wide = graph.add("Mul", bent, graph.scalar(0.5))
        back = graph.product(graph.quantised(wide), layer.back.weight, layer.back.bias)
        states = graph.normalised(graph.add("Add", states, back), layer.done)
    graph.nodes.append(helper.make_node("Identity", [states], ["last_hidden_state"]))
    asked = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
    given = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", shape.width])
    whole = helper.make_graph(graph.nodes, "encoder", [asked], [given], graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


TEXTS = [
    "send an e-mail to a colleague", "mail send message: Sends the message to its recipients.",
    "remind me to water the plants every Sunday", "which pods restarted last night?",
    "kubernetes list pods: Lists the pods of a namespace.", "convert 100 USD to euros",
    "Ça coûte combien, le vélo électrique?", "a", "東京 weather", "delete_branch refs/heads/main v2.1",
]


def cosines(folder: Path, vocabulary: list[str]) -> list[tuple[str, str, float]]:
    """Each two of the texts, as onnxruntime has them, each text by itself."""
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    pieces, vectors = Pieces(vocabulary), []
    for text in TEXTS:
        ids, _ = pieces([text], POSITIONS)
        mean = session.run(None, {"input_ids": ids.numpy()})[0][0].mean(0)
        vectors.append(mean / np.linalg.norm(mean))
    pairs = itertools.combinations(range(len(TEXTS)), 2)
    return [(TEXTS[a], TEXTS[b], round(float(vectors[a] @ vectors[b]), 4)) for a, b in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--golden", type=Path)
    arguments = parser.parse_args()
    encoder, vocabulary = Encoder.load(arguments.encoder)
    arguments.out.mkdir(parents=True, exist_ok=True)
    onnx.save(network(encoder), arguments.out / "model.onnx")
    (arguments.out / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary))
    print((arguments.out / "model.onnx").stat().st_size, "bytes")
    if arguments.golden:
        lines = (json.dumps(pair, ensure_ascii=False) for pair in cosines(arguments.out, vocabulary))
        arguments.golden.write_text("[\n  " + ",\n  ".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
