"""all-MiniLM-L6-v2 in JAX with low-rank corrections: the base is frozen; the corrections of the upper layers and the head are trained."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

LAYERS, WIDTH, HEADS, INNER = 6, 384, 12, 1536
LINEAR = {"attention.self.query": (WIDTH, WIDTH), "attention.self.key": (WIDTH, WIDTH), "attention.self.value": (WIDTH, WIDTH),
          "attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (WIDTH, INNER), "output.dense": (INNER, WIDTH)}


def load_base(folder: Path) -> dict[str, np.ndarray]:
    return {k: np.asarray(v, np.float32) for k, v in load_file(folder / "model.safetensors").items() if "pooler" not in k and "position_ids" not in k}


def load_tokenizer(folder: Path, longest: int) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return tokenizer


def norm(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12) * weight + bias


# The layers below are those of the network that the training starts from.
FIRST_LAYER = 4


def linear(base, learnt, layer, name, x):
    # The gradient of a stack of matrices times a matrix takes far longer than that of two matrices.
    flat = x.reshape(-1, x.shape[-1])
    out = flat @ base[f"encoder.layer.{layer}.{name}.weight"].T + base[f"encoder.layer.{layer}.{name}.bias"]
    down = learnt.get(f"{layer}.{name}.down")
    if down is not None:
        out = out + (flat @ down) @ learnt[f"{layer}.{name}.up"]
    return out.reshape(*x.shape[:-1], -1)


def drop(x, key, number, rate=0.1):
    if key is None:
        return x
    return x * jax.random.bernoulli(jax.random.fold_in(key, number), 1 - rate, x.shape) / (1 - rate)


def block(base, learnt, layer, x, mask, key=None):
    batch, length, _ = x.shape
    away = (1.0 - mask)[:, None, None, :] * -1e9
    q, k, v = (linear(base, learnt, layer, f"attention.self.{n}", x).reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3) for n in ("query", "key", "value"))
    weights = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS) + away, -1)
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
    p = f"encoder.layer.{layer}."
    x = norm(x + drop(linear(base, learnt, layer, "attention.output.dense", mixed), key, 2 * layer), base[p + "attention.output.LayerNorm.weight"], base[p + "attention.output.LayerNorm.bias"])
    inner = jax.nn.gelu(linear(base, learnt, layer, "intermediate.dense", x), approximate=False)
    return norm(x + drop(linear(base, learnt, layer, "output.dense", inner), key, 2 * layer + 1), base[p + "output.LayerNorm.weight"], base[p + "output.LayerNorm.bias"])


def pooled(base, learnt, x, mask, key=None):
    """[batch, 384] from the input of `FIRST_LAYER`: the normalized mean over tokens without padding."""
    for layer in range(FIRST_LAYER, LAYERS):
        x = block(base, learnt, layer, x, mask, key)
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)


SCALE = 8.0


def logits(base, learnt, x, mask, key=None):
    return SCALE * pooled(base, learnt, x, mask, key) @ learnt["head.weight"] + learnt["head.bias"]
