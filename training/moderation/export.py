"""Exports the served graph. It is small because the base's weights stay in the package's safetensors file."""

import json
import struct
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import encoder
from labels import LEARNT
from word_pieces import COLUMN, FACTOR, SHARE, SIZE, VOCABULARY, WordPieces

WEIGHTS_FILE = "model.safetensors"


class Graph:
    """Collects nodes and initializers; every method returns the name of its output."""

    def __init__(self, model: Path, learnt: dict[str, np.ndarray]):
        raw = (model / WEIGHTS_FILE).open("rb")
        (length,) = struct.unpack("<Q", raw.read(8))
        self.header, self.start = json.loads(raw.read(length)), 8 + length
        self.learnt, self.nodes, self.initialisers, self.names = learnt, [], [], set()

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes) -> str:
        out = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], domain=domain, **attributes))
        return out

    def constant(self, value, name: str = "c") -> str:
        name = f"{name}{len(self.initialisers)}"
        self.initialisers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def base(self, name: str) -> str:
        """Reference to a weight of the base by its offset in the safetensors file."""
        if name not in self.names:
            self.names.add(name)
            entry = self.header[name]
            assert entry["dtype"] == "F32"
            begin, end = entry["data_offsets"]
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=entry["shape"], data_location=TensorProto.EXTERNAL)
            for key, value in (("location", WEIGHTS_FILE), ("offset", self.start + begin), ("length", end - begin)):
                tensor.external_data.add(key=key, value=str(value))
            self.initialisers.append(tensor)
        return name

    def linear(self, layer: int, name: str, x: str) -> str:
        path = f"encoder.layer.{layer}.{name}"
        weight = self.node("Transpose", self.base(f"{path}.weight"), perm=[1, 0])
        if f"{layer}.{name}.down" in self.learnt:
            down, up = (self.node("Cast", self.constant(self.learnt[f"{layer}.{name}.{end}"].astype(np.float16)), to=TensorProto.FLOAT) for end in ("down", "up"))
            # Constants only: the runtime folds them once while it loads.
            weight = self.node("Add", weight, self.node("MatMul", down, up))
        return self.node("Add", self.node("MatMul", x, weight), self.base(f"{path}.bias"))

    def norm(self, x: str, path: str) -> str:
        return self.node("LayerNormalization", x, self.base(f"{path}.weight"), self.base(f"{path}.bias"), axis=-1, epsilon=1e-12)

    def word_pieces(self, pieces: WordPieces, tokens: str) -> str:
        """[batch, 1]: log odds of the linear model. `tokens`: how many, [batch, 1]."""
        # Other names than those of the network's constants, by which `blend.from_graph` finds these.
        def constant(value) -> str:
            return self.constant(value, "pieces")

        def total(indices: str, mask: str) -> str:
            weights = self.node("Cast", self.node("Gather", table, indices), to=TensorProto.FLOAT)
            return self.node("ReduceSum", self.node("Mul", weights, mask), constant(np.array([1], np.int64)), keepdims=1)

        def cut(x: str, start: int, end: int) -> str:
            return self.node("Slice", x, *(constant(np.array([n], np.int64)) for n in (start, end, 1)))

        table, last = constant(pieces.weights), np.iinfo(np.int64).max
        mask = self.node("Cast", "mask", to=TensorProto.FLOAT)
        pairs = self.node("Add", self.node("Mul", cut("ids", 0, -1), constant(np.int64(FACTOR))), cut("ids", 1, last))
        hashed = self.node("Add", self.node("Mod", pairs, constant(np.int64(SIZE - VOCABULARY))), constant(np.int64(VOCABULARY)))
        both = self.node("Add", total("ids", mask), total(hashed, cut(mask, 1, last)))
        scaled = self.node("Mul", self.node("Div", both, self.node("Sqrt", tokens)), constant(np.float32(pieces.scale)))
        return self.node("Add", scaled, constant(np.float32(pieces.bias)))


def write_graph(model: Path, learnt: dict[str, np.ndarray], out: Path, calibration: dict[str, np.ndarray], pieces: WordPieces) -> None:
    g = Graph(model, learnt)
    length = g.node("Gather", g.node("Shape", "ids"), g.constant(np.array([1], np.int64)))
    positions = g.node("Slice", g.base("embeddings.position_embeddings.weight"), g.constant(np.array([0], np.int64)), length, g.constant(np.array([0], np.int64)))
    kind = g.node("Gather", g.base("embeddings.token_type_embeddings.weight"), g.constant(np.array(0, np.int64)))
    x = g.node("Add", g.node("Add", g.node("Gather", g.base("embeddings.word_embeddings.weight"), "ids"), positions), kind)
    x = g.norm(x, "embeddings.LayerNorm")
    mask = g.node("Cast", "mask", to=TensorProto.FLOAT)
    padding = g.node("Cast", "mask", to=TensorProto.INT32)
    for layer in range(encoder.LAYERS):
        q, k, v = (g.linear(layer, f"attention.self.{n}", x) for n in ("query", "key", "value"))
        mixed = g.node("MultiHeadAttention", q, k, v, "", padding, domain="com.microsoft", num_heads=encoder.HEADS)
        p = f"encoder.layer.{layer}."
        x = g.norm(g.node("Add", x, g.linear(layer, "attention.output.dense", mixed)), p + "attention.output.LayerNorm")
        inner = g.node("Gelu", g.linear(layer, "intermediate.dense", x))
        x = g.norm(g.node("Add", x, g.linear(layer, "output.dense", inner)), p + "output.LayerNorm")
    weights = g.node("Unsqueeze", mask, g.constant(np.array([2], np.int64)))
    total = g.node("ReduceSum", g.node("Mul", x, weights), g.constant(np.array([1], np.int64)), keepdims=0)
    tokens = g.node("ReduceSum", mask, g.constant(np.array([1], np.int64)), keepdims=1)
    mean = g.node("Div", total, tokens)
    mean = g.node("LpNormalization", mean, axis=-1, p=2)
    # The calibration and the shares are linear in each logit, so they are merged into the head.
    share = np.where(np.arange(len(LEARNT)) == COLUMN, SHARE, 0.0)
    slope = calibration["slope"] * (1 - share)
    head = g.constant((learnt["head.weight"] * encoder.SCALE * slope).astype(np.float32))
    bias = g.constant((learnt["head.bias"] * slope + calibration["offset"]).astype(np.float32))
    added = g.node("Mul", g.word_pieces(pieces, tokens), g.constant((share * calibration["slope"]).astype(np.float32), "pieces"))
    result = g.node("Sigmoid", g.node("Add", g.node("Add", g.node("MatMul", mean, head), bias), added))
    g.nodes.append(helper.make_node("Identity", [result], ["scores"]))
    graph = helper.make_graph(
        g.nodes, "moderation",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in ("ids", "mask")],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", "categories"])], g.initialisers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    out.write_bytes(made.SerializeToString())
