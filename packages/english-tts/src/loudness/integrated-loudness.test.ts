import { describe, expect, test } from "vitest";
import { integratedLoudness } from "./integrated-loudness.ts";

function sine(seconds: number, { decibels, sampleRate }: { decibels: number; sampleRate: number }): Float32Array {
  const amplitude = 10 ** (decibels / 20);
  const step = (2 * Math.PI * 997) / sampleRate;
  return Float32Array.from({ length: seconds * sampleRate }, (_, index) => amplitude * Math.sin(index * step));
}

/** BS.1770-4: a sine of 997 Hz at full scale in one channel is -3.01 LUFS. EBU Tech 3341 tests with ±0.1. */
describe.each([16_000, 22_050, 24_000, 48_000])("at %d Hz", (sampleRate) => {
  test.each([0, -23, -40])("a sine of %d dBFS", (decibels) => {
    expect(integratedLoudness(sine(3, { decibels, sampleRate }), sampleRate)).toBeCloseTo(decibels - 3.01, 1);
  });
});

test("leaves out pauses and quiet parts", () => {
  const parts = [sine(5, { decibels: -20, sampleRate: 24_000 }), sine(5, { decibels: -60, sampleRate: 24_000 })];
  const mixed = Float32Array.from([...parts, new Float32Array(240_000)].flatMap((part) => [...part]));
  expect(integratedLoudness(mixed, 24_000)).toBeCloseTo(-23.01, 0);
});

test.each([
  ["silence", new Float32Array(48_000)],
  ["less than 400 ms", sine(0.3, { decibels: -20, sampleRate: 24_000 })],
])("does not measure %s", (_case, samples) => {
  expect(integratedLoudness(samples, 24_000)).toBeUndefined();
});
