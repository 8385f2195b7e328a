/** Writes the features of texts for foreign.py: `node embed.ts ENCODER TEXTS.json FEATURES.f32 LAYER…`. */

import { readFile, writeFile } from "node:fs/promises";
import { SentenceEncoder } from "../../packages/sentence-embeddings/src/sentence-encoder.ts";

const [encoderPath = "", textsPath = "", outputPath = "", ...layers] = process.argv.slice(2);
const encoder = await SentenceEncoder.loadPacked({
  weights: encoderPath,
  threads: 1,
  pooledLayers: layers.map(Number),
});
const texts: string[] = JSON.parse(await readFile(textsPath, "utf8"));
const inputs = texts.map((text) => `query: ${text}`);
const { values } = await encoder.embed(inputs, { longInput: "average", signal: new AbortController().signal });
await writeFile(outputPath, values);
await encoder.close();
