import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VOCABULARY, WIDTH, writeEncoder } from "../test/small-encoder.ts";
import { ModelFileError, TextTooLongError, UnknownTokenError } from "./errors.ts";
import { SentenceEncoder, type SentenceInput } from "./sentence-encoder.ts";

const MAX_TOKENS = 6;
const options = { heads: 2, maxTokens: MAX_TOKENS, threads: 1 };
const signal = new AbortController().signal;
let folder: string;
let encoder: SentenceEncoder;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sentence-encoder-"));
  encoder = await SentenceEncoder.load({ ...(await writeEncoder(folder)), ...options });
});
afterAll(async () => {
  await encoder.close();
  await rm(folder, { recursive: true });
});

async function embed(inputs: SentenceInput[], longInput: "refuse" | "average" = "refuse") {
  const { values, tokens } = await encoder.embed(inputs, { longInput, signal });
  const vectors = inputs.map((_, index) => [...values.subarray(index * WIDTH, (index + 1) * WIDTH)]);
  return { vectors, tokens };
}

function expectClose(actual: readonly number[] | undefined, expected: readonly number[] | undefined): void {
  expect(actual).toHaveLength(WIDTH);
  for (const [index, value] of (expected ?? []).entries()) expect(actual?.[index]).toBeCloseTo(value, 5);
}

const dot = (a: readonly number[] = [], b: readonly number[] = []) =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

test("returns one vector of length 1 per input, and counts special tokens", async () => {
  const { vectors, tokens } = await embed(["the cat", "dog", ""]);
  expect(encoder.dimensions).toBe(WIDTH);
  for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 5);
  expect(tokens).toBe(4 + 3 + 2);
  expect(dot(vectors[0], vectors[1])).toBeLessThan(0.999);
});

test("keeps the order of inputs of different lengths, and padding changes nothing", async () => {
  const inputs = ["the cat sat .", "dog", "the cats", "cat"];
  const { vectors } = await embed(inputs);
  for (const [index, input] of inputs.entries()) expectClose(vectors[index], (await embed([input])).vectors[0]);
});

test("runs many inputs in batches, each in a turn that the caller gives", async () => {
  const words = Array.from({ length: 300 }, (_, index) => (index % 2 === 0 ? "cat" : "dog"));
  let turns = 0;
  const takeTurn = <Result>(batch: () => Promise<Result>) => {
    turns += 1;
    return batch();
  };
  const { values, tokens } = await encoder.embed(words, { longInput: "refuse", signal, takeTurn });
  expect([tokens, turns]).toEqual([900, 2]);
  const vectorOf = (index: number) => [...values.subarray(index * WIDTH, (index + 1) * WIDTH)];
  expectClose(vectorOf(298), vectorOf(0));
  expectClose(vectorOf(299), vectorOf(1));
  expect(dot(vectorOf(0), vectorOf(1))).toBeLessThan(0.9999);
});

test("treats token IDs like their text, with and without special tokens", async () => {
  const ids = [VOCABULARY.the, VOCABULARY.cat];
  const { vectors, tokens } = await embed(["the cat", ids, [VOCABULARY["[CLS]"], ...ids, VOCABULARY["[SEP]"]]]);
  expectClose(vectors[1], vectors[0]);
  expectClose(vectors[2], vectors[0]);
  expect(tokens).toBe(12);
  await expect(embed(["dog", [VOCABULARY.the, 99]])).rejects.toThrow(UnknownTokenError);
  await expect(embed(["dog", [VOCABULARY.the, 99]])).rejects.toMatchObject({ input: 1, position: 1, id: 99 });
});

test("rejects a text above the window, or averages its windows by their tokens", async () => {
  const text = "the cat sat . dog";
  await expect(embed(["dog", text])).rejects.toThrow(TextTooLongError);
  await expect(embed(["dog", text])).rejects.toMatchObject({ input: 1, tokens: 7, maxTokens: MAX_TOKENS });
  const { vectors, tokens } = await embed([text], "average");
  const { vectors: parts } = await embed(["the cat sat .", "dog"]);
  const mean = Array.from({ length: WIDTH }, (_, index) => 4 * (parts[0]?.[index] ?? 0) + (parts[1]?.[index] ?? 0));
  const length = Math.hypot(...mean);
  expectClose(
    vectors[0],
    mean.map((value) => value / length),
  );
  expect(tokens).toBe(6 + 3);
});

test("stops before the first batch once the signal has aborted", async () => {
  const { values, tokens } = await encoder.embed(["cat"], { longInput: "refuse", signal: AbortSignal.abort() });
  expect(tokens).toBe(0);
  expect([...values]).toEqual(Array(WIDTH).fill(0));
});

test("rejects weights that lack a tensor", async () => {
  const files = await writeEncoder(folder);
  const header = Buffer.from(JSON.stringify({ other: { dtype: "F32", shape: [1], data_offsets: [0, 4] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const weights = join(folder, "other.safetensors");
  await writeFile(weights, Buffer.concat([length, header, Buffer.alloc(4)]));
  await expect(SentenceEncoder.load({ ...files, weights, ...options })).rejects.toThrow(ModelFileError);
});
