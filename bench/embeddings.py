"""onnxruntime in Python with the weights of bench/embeddings.ts, as sentence-transformers runs them: sorted by length,
32 texts to a batch. Needs: pip install onnxruntime tokenizers. Run: python bench/embeddings.py GRAPH FOLDER TEXTS"""

import json
import statistics
import sys
import time

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

graph, folder, texts = sys.argv[1:]
texts = json.load(open(texts))
tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
tokenizer.enable_truncation(256)
tokenizer.enable_padding()
# The graph has to lie beside a copy of model.safetensors; onnxruntime follows no links out of the folder.
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 2
session = onnxruntime.InferenceSession(graph, options)


def embed(texts):
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    rows = [None] * len(texts)
    for start in range(0, len(order), 32):
        batch = order[start : start + 32]
        encoded = tokenizer.encode_batch([texts[index] for index in batch])
        ids = np.array([each.ids for each in encoded], np.int32)
        mask = np.array([each.attention_mask for each in encoded], np.int32)
        for index, row in zip(batch, session.run(None, {"ids": ids, "mask": mask})[0]):
            rows[index] = row
    return rows


rates = []
for _ in range(6):
    began = time.perf_counter()
    embed(texts)
    rates.append(len(texts) / (time.perf_counter() - began))
print(f"median {statistics.median(rates[1:]):.0f} texts/s, best {max(rates):.0f}")
