import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PIECES, packedModel, WIDTH } from "../test/small-packed-model.ts";
import { ModelFileError, TextTooLongError } from "./errors.ts";
import { type BlockMatrix, readPackedModel } from "./packed-model.ts";
import { SentenceEncoder } from "./sentence-encoder.ts";

const signal = new AbortController().signal;
const file = packedModel();
let folder: string;
let encoder: SentenceEncoder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "packed-model-"));
  const weights = join(folder, "model.bin");
  await writeFile(weights, file);
  encoder = await SentenceEncoder.loadPacked({ weights, threads: 1 });
});
afterAll(async () => {
  await encoder.close();
  await rm(folder, { recursive: true });
});

test("unpacks the same values for the network as for the embeddings of words", () => {
  const model = readPackedModel(file);
  const matrix = model.matrix("emb.word", PIECES.length, WIDTH);
  const row = new Float32Array(WIDTH);
  for (const id of PIECES.keys()) {
    model.readWord(id, row, 0);
    for (const [column, value] of row.entries()) expect(valueAt(matrix, id, column)).toBe(value);
  }
});

test("computes what the network computes with float weights", async () => {
  const { values, tokens } = await encoder.embed(["the cats"], { longInput: "refuse", signal });
  expect(tokens).toBe(5);
  const expected = referenceEmbedding([0, 5, 6, 9, 2]);
  for (const [column, value] of expected.entries()) expect(values[column]).toBeCloseTo(value, 4);
});

test("refuses a text above the window, or averages it", async () => {
  const text = "the cat the cat the cat the cat";
  await expect(encoder.embed([text], { longInput: "refuse", signal })).rejects.toThrow(TextTooLongError);
  const { values, tokens } = await encoder.embed([text, "the"], { longInput: "average", signal });
  expect(tokens).toBe(8 + 4 + 3);
  expect(Math.hypot(...values.subarray(0, WIDTH))).toBeCloseTo(1, 5);
});

test.each([
  ["is empty", new Uint8Array(), "cut off"],
  ["is of another format", Buffer.from("GGUF and more"), "not a packed"],
  ["ends within the header", file.subarray(0, 30), "cut off"],
  ["ends within the vocabulary", file.subarray(0, 120), "cut off"],
  ["ends within the tensors", file.subarray(0, file.length - 10), "is missing"],
])("rejects a file that %s", (_what, bytes, message) => {
  const read = () => readPackedModel(bytes).floats("l0.oln.b", WIDTH);
  expect(read).toThrow(ModelFileError);
  expect(read).toThrow(message);
});

function valueAt({ columns, values, scales }: BlockMatrix, row: number, column: number): number {
  const index = row * columns + column;
  const pair = values[index >> 1] ?? 0;
  return ((index % 2 === 0 ? pair & 15 : pair >> 4) - 8) * (scales[index >> 5] ?? 0);
}

/** The forward pass of BERT, written out. */
function referenceEmbedding(ids: readonly number[]): number[] {
  const model = readPackedModel(file);
  const floats = (name: string, count: number) => [...model.floats(name, count)];
  const linear = (name: string, input: number[][], rows: number, columns: number) => {
    const matrix = model.matrix(`${name}.w`, rows, columns);
    const bias = floats(`${name}.b`, rows);
    return input.map((x) =>
      bias.map((b, row) => x.reduce((sum, value, column) => sum + value * valueAt(matrix, row, column), b)),
    );
  };
  const normalize = (name: string, input: number[][]) => {
    const [weight, bias] = [floats(`${name}.w`, WIDTH), floats(`${name}.b`, WIDTH)];
    return input.map((x) => {
      const mean = x.reduce((sum, value) => sum + value, 0) / WIDTH;
      const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / WIDTH;
      return x.map((value, i) => ((value - mean) / Math.sqrt(variance + 1e-12)) * (weight[i] ?? 0) + (bias[i] ?? 0));
    });
  };
  const add = (a: number[][], b: number[][]) => a.map((x, t) => x.map((value, i) => value + (b[t]?.[i] ?? 0)));
  const [positions, types] = [floats("emb.pos", 8 * WIDTH), floats("emb.type", 2 * WIDTH)];
  const word = new Float32Array(WIDTH);
  let hidden = normalize(
    "emb.ln",
    ids.map((id, t) => {
      model.readWord(id, word, 0);
      return [...word].map((value, i) => value + (positions[t * WIDTH + i] ?? 0) + (types[i] ?? 0));
    }),
  );
  const [q, k, v] = ["q", "k", "v"].map((name) => linear(`l0.${name}`, hidden, WIDTH, WIDTH)) as [
    number[][],
    number[][],
    number[][],
  ];
  const size = WIDTH / 2;
  const attended = q.map((query) =>
    [0, 1].flatMap((head) => {
      const part = (x: number[]) => x.slice(head * size, (head + 1) * size);
      const scores = k.map(
        (key) => part(query).reduce((sum, value, i) => sum + value * (part(key)[i] ?? 0), 0) / Math.sqrt(size),
      );
      const exponentials = scores.map((score) => Math.exp(score - Math.max(...scores)));
      const total = exponentials.reduce((sum, value) => sum + value, 0);
      return Array.from({ length: size }, (_, i) =>
        v.reduce((sum, value, t) => sum + ((exponentials[t] ?? 0) / total) * (part(value)[i] ?? 0), 0),
      );
    }),
  );
  hidden = normalize("l0.aln", add(hidden, linear("l0.ao", attended, WIDTH, WIDTH)));
  const wide = linear("l0.fi", hidden, 64, WIDTH).map((x) => x.map(gelu));
  hidden = normalize("l0.oln", add(hidden, linear("l0.fo", wide, WIDTH, 64)));
  const mean = Array.from({ length: WIDTH }, (_, i) => hidden.reduce((sum, x) => sum + (x[i] ?? 0), 0));
  return mean.map((value) => value / Math.hypot(...mean));
}

/** With the error function of Abramowitz and Stegun, 7.1.26, exact to 1.5e-7. */
function gelu(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const error = Math.sign(x) * (1 - polynomial * Math.exp(-z * z));
  return 0.5 * x * (1 + error);
}
