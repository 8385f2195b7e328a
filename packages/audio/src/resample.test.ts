import { expect, test } from "vitest";
import { Resampler } from "./resample.ts";

const sine = (rate: number, seconds: number) =>
  Float32Array.from({ length: rate * seconds }, (_, index) => Math.sin((2 * Math.PI * 440 * index) / rate));

async function through(rate: number, parts: readonly [samples: Float32Array, rate: number][]): Promise<Float32Array> {
  const resampler = new Resampler(rate);
  const pieces: Float32Array[] = [];
  for (const [samples, from] of parts) pieces.push(await resampler.resample(samples, from));
  pieces.push(await resampler.finish());
  resampler.close();
  return Float32Array.from(pieces.flatMap((piece) => [...piece]));
}

test("keeps length and content of each part when the rate changes", async () => {
  const out = await through(16_000, [
    [sine(48_000, 0.5), 48_000],
    [sine(8_000, 0.25), 8_000],
    [sine(44_100, 1), 44_100],
  ]);
  expect(out.length).toBe(28_000);
  const expected = [...sine(16_000, 0.5), ...sine(16_000, 0.25), ...sine(16_000, 1)];
  const farthest = out.reduce((most, sample, index) => Math.max(most, Math.abs(sample - (expected[index] ?? 0))), 0);
  // The filter rings at most this much where a part begins or ends.
  expect(farthest).toBeLessThan(0.5);
  // The filter held the last milliseconds of the first part.
  const held = out
    .slice(7_800, 7_990)
    .reduce((most, sample, index) => Math.max(most, Math.abs(sample - (expected[7_800 + index] ?? 0))), 0);
  expect(held).toBeLessThan(0.05);
});

test("converts rates above the limit of the library", async () => {
  const out = await through(16_000, [[sine(768_000, 0.25), 768_000]]);
  expect(out.length).toBe(4_000);
  const expected = sine(16_000, 0.25);
  const middle = [...out.slice(200, 3_800)].map((sample, index) => Math.abs(sample - (expected[index + 200] ?? 0)));
  expect(Math.max(...middle)).toBeLessThan(0.05);
});
