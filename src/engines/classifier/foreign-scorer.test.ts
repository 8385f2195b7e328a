/** The scorer of other languages with a small encoder of random weights and a head that reads single features. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SentenceEncoder } from "@parlance-inference/sentence-embeddings/sentence-encoder";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packedModel, WIDTH } from "../../../packages/sentence-embeddings/test/small-packed-model.ts";
import { readForeignHead } from "./foreign-head.ts";
import { ForeignScorer } from "./foreign-scorer.ts";
import { sigmoid } from "./pool-windows.ts";

const never = () => new AbortController().signal;
/** Two categories: three times the first feature, and a constant. */
const WEIGHTS = new Float32Array(2 * WIDTH);
WEIGHTS[0] = 3;
let folder: string;
let scorer: ForeignScorer;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "foreign-scorer-"));
  path = join(folder, "weights.bin");
  await writeFile(path, packedModel());
  const weights = Buffer.from(WEIGHTS.buffer).toString("base64");
  scorer = await ForeignScorer.open(path, { languages: ["zh"], layers: [1], weights, bias: [0.5, -2] }, 1);
});
afterAll(async () => {
  await scorer?.close();
  await rm(folder, { recursive: true });
});

const score = (texts: string[], signal = never()) => scorer.score({ texts, project: "p", signal });

test("applies the head to the features of each text", async () => {
  const encoder = await SentenceEncoder.loadPacked({ weights: path, threads: 1, pooledLayers: [1] });
  const { values } = await encoder.embed(["query: 猫", "query: the cat"], { longInput: "average", signal: never() });
  await encoder.close();
  const scores = await score(["猫", "the cat"]);
  expect(scores.map(({ length }) => length)).toEqual([1, 1]);
  for (const [index, [window]] of scores.entries()) {
    expect(window?.[0]).toBeCloseTo(sigmoid(0.5 + 3 * (values[index * WIDTH] ?? 0)), 4);
    expect(window?.[1]).toBeCloseTo(sigmoid(-2), 5);
  }
});

test("reads a text despite invisible characters, and cuts a long one into windows", async () => {
  const [plain, hidden, long] = await score(["猫", "\u200b猫", "猫の話。".repeat(300)]);
  expect(hidden?.[0]?.[0]).toBeCloseTo(plain?.[0]?.[0] ?? 2, 5);
  expect(long?.length).toBeGreaterThan(2);
});

test("returns no windows once the caller leaves", async () => {
  expect(await score(["猫"], AbortSignal.abort())).toEqual([[]]);
});

test("the head of the package has a weight for each feature and category", async () => {
  const { weights, bias, layers, languages } = await readForeignHead();
  expect(bias).toHaveLength(12);
  expect(Buffer.from(weights, "base64")).toHaveLength(4 * 384 * layers.length * bias.length);
  expect(languages).toContain("de");
});
