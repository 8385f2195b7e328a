/** Scores texts as the service does, with the heads for other languages: `node score.ts MODEL TEXTS.json SCORES.json`. */

import { readFile, writeFile } from "node:fs/promises";
import { Classifier } from "../../src/engines/classifier/classifier.ts";

const BATCH = 64;
const [model = "", textsPath = "", outputPath = ""] = process.argv.slice(2);
const file = (name: string) => `${model}/${name}`;
const classifier = await Classifier.open({
  files: {
    weights: file("model.safetensors"),
    tokenizer: file("tokenizer.json"),
    tokenizerConfig: file("tokenizer_config.json"),
    foreign: model.endsWith("moderation-omni") ? file("e5-small-q4.bin") : undefined,
    images: undefined,
  },
  thresholds: {},
  threads: 1,
  maxCharacters: 10_000_000,
});
const texts: string[] = JSON.parse(await readFile(textsPath, "utf8"));
const until = new AbortController().signal;
const scores: Readonly<Record<string, number>>[] = [];
const before = process.cpuUsage();
for (let start = 0; start < texts.length; start += BATCH) {
  const inputs = texts.slice(start, start + BATCH).map((text) => ({ text, images: [] }));
  scores.push(...(await classifier.moderate(inputs, until)).map((verdict) => verdict.scores));
}
const { user, system } = process.cpuUsage(before);
await writeFile(outputPath, JSON.stringify(scores));
await classifier.close();
console.error(`${texts.length} texts, ${((user + system) / 1000 / texts.length).toFixed(1)} ms of CPU time each`);
console.error(`${Math.round(process.memoryUsage.rss() / 1e6)} MB of memory`);
