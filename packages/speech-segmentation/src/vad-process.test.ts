import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SileroVad } from "./silero-vad.ts";
import { VadProcess } from "./vad-process.ts";

const FILE = join(
  process.env.PARLANCE_MODELS_DIR ?? join(import.meta.dirname, "../../../.parlance/models"),
  "moonshine-base-en/vad.onnx",
);
const vad = new VadProcess(FILE);
afterAll(() => vad.close());

function windows(count: number): Float32Array[] {
  return Array.from({ length: count }, (_, number) =>
    Float32Array.from({ length: 512 }, (_, index) => 0.5 * Math.sin((number * 512 + index) ** 1.3 / 50)),
  );
}

test("scores several recordings as the detector in this process does", async () => {
  const expected: number[] = [];
  const here = (await SileroVad.load(FILE)).stream();
  for (const window of windows(5)) expected.push(await here.probability(window));
  const score = async () => {
    const stream = vad.stream();
    const scores: number[] = [];
    for (const window of windows(5)) scores.push(await stream.probability(window));
    stream.close();
    return scores;
  };
  expect(await Promise.all([score(), score()])).toEqual([expected, expected]);
});

test("rejects the windows of a process that ends, and starts another for the next", async () => {
  const stream = vad.stream();
  // A process that is idle answers sooner than it could be ended.
  vad.close();
  const scored = stream.probability(new Float32Array(512));
  await expect(scored).rejects.toThrow("has ended");
  expect(await stream.probability(new Float32Array(512))).toBeLessThan(0.5);
});

test("rejects windows of a recording that has ended", async () => {
  const stream = vad.stream();
  await stream.probability(new Float32Array(512));
  stream.close();
  await expect(stream.probability(new Float32Array(512))).rejects.toThrow("has ended");
});

test("rejects windows when the file is not a model", async () => {
  const other = new VadProcess(import.meta.filename);
  await expect(other.stream().probability(new Float32Array(512))).rejects.toThrow();
  other.close();
});
