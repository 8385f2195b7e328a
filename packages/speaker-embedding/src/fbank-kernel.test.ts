import { expect, test } from "vitest";
import { FFT_BINS, FRAME_SAMPLES, MEL_BANDS, melWeights, spectrumKernel } from "./fbank-kernel.ts";

const kernel = spectrumKernel();

function powers(frame: Float32Array): number[] {
  const row = (index: number) => {
    const weights = kernel.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES);
    return weights.reduce((sum, weight, sample) => sum + weight * (frame[sample] ?? 0), 0);
  };
  return Array.from({ length: FFT_BINS }, (_, bin) => row(bin) ** 2 + row(FFT_BINS + bin) ** 2);
}

test("finds the frequency of a tone", () => {
  const tone = Float32Array.from({ length: FRAME_SAMPLES }, (_, index) =>
    Math.sin((2 * Math.PI * 1000 * index) / 16_000),
  );
  const power = powers(tone);
  // 31.25 Hz per bin.
  expect(power.indexOf(Math.max(...power))).toBe(32);
});

test("removes a constant offset", () => {
  expect(Math.max(...powers(new Float32Array(FRAME_SAMPLES).fill(0.5)))).toBeLessThan(1e-6);
});

test("covers each bin above 20 Hz by bands that add up to 1, except at the ends", () => {
  const weights = melWeights();
  const total = (bin: number) =>
    Array.from({ length: MEL_BANDS }, (_, band) => weights[band * FFT_BINS + bin] ?? 0).reduce((a, b) => a + b);
  for (const bin of [10, 50, 100, 200, 240]) expect(total(bin)).toBeCloseTo(1, 5);
  expect(total(0)).toBe(0);
});
