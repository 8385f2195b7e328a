/**
 * Texts per second of the default embedding model. `node bench/embeddings.ts GRAPH TEXTS` also writes the graph and the
 * texts, for `bench/embeddings.py`, which runs the same graph with onnxruntime in Python.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bertGraph } from "../packages/sentence-embeddings/src/bert-graph.ts";
import { SafetensorsIndex } from "../packages/sentence-embeddings/src/safetensors-index.ts";
import { SentenceEncoder } from "../packages/sentence-embeddings/src/sentence-encoder.ts";

const FOLDER = join(process.env.PARLANCE_MODELS_DIR ?? ".parlance/models", "moderation-minilm");
const THREADS = 2;
const ROUNDS = 6;
const WORDS = "the minutes of our meeting will follow tomorrow and the budget for spring was put off again".split(" ");
const TEXTS = Array.from({ length: 256 }, (_, index) =>
  Array.from({ length: 10 + (index % 41) }, (_, word) => WORDS[(index * 7 + word * 3) % WORDS.length]).join(" "),
);

const weights = join(FOLDER, "model.safetensors");
const [, , graphFile, textsFile] = process.argv;
if (graphFile !== undefined && textsFile !== undefined) {
  await writeFile(graphFile, bertGraph(new SafetensorsIndex(await readFile(weights)), "model.safetensors", 12));
  await writeFile(textsFile, JSON.stringify(TEXTS));
}
const encoder = await SentenceEncoder.load({
  weights,
  tokenizer: join(FOLDER, "tokenizer.json"),
  tokenizerConfig: join(FOLDER, "tokenizer_config.json"),
  heads: 12,
  maxTokens: 256,
  threads: THREADS,
});
const rates: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const begin = performance.now();
  await encoder.embed(TEXTS, { longInput: "refuse", signal: new AbortController().signal });
  // The first round warms up.
  if (round > 0) rates.push((1000 * TEXTS.length) / (performance.now() - begin));
}
rates.sort((a, b) => a - b);
console.log(`median ${rates[Math.floor(rates.length / 2)]?.toFixed(0)} texts/s, best ${rates.at(-1)?.toFixed(0)}`);
await encoder.close();
