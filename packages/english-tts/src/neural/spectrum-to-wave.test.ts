import { beforeAll, expect, test } from "vitest";
import { FourierTransform } from "./fourier-transform.ts";
import { HIBARI_SAMPLE_RATE, type SpectralParts, synthesizeWave, WINDOW } from "./spectrum-to-wave.ts";

const BINS = WINDOW / 2 + 1;
const FRAMES = 80;
const SILENT = -100;

let transform: FourierTransform;
beforeAll(async () => {
  transform = await FourierTransform.open(WINDOW);
});

function parts(overrides: Partial<SpectralParts>): SpectralParts {
  const filled = (value: number) => new Float32Array(BINS * FRAMES).fill(value);
  return {
    harmonicLevel: filled(SILENT),
    harmonicPhase: filled(0),
    noiseLevel: filled(SILENT),
    residualLevel: filled(SILENT),
    residualPhase: filled(0),
    pitch: new Float32Array(FRAMES).fill(0),
    ...overrides,
  };
}

const wave = (overrides: Partial<SpectralParts>, signal = new AbortController().signal) =>
  synthesizeWave(parts(overrides), transform, signal);
const rms = (samples: Float32Array) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

test("inverts the transform", async () => {
  const signal = Float32Array.from({ length: WINDOW }, (_, index) => Math.sin(index / 7) + index / WINDOW);
  transform.signal.set(signal);
  transform.toSpectrum();
  transform.toSignal();
  const back = transform.signal.map((sample) => sample / WINDOW);
  expect(Math.max(...signal.map((sample, index) => Math.abs(sample - (back[index] ?? 0))))).toBeLessThan(1e-4);
});

test("makes silence from empty spectra", async () => {
  const silence = await wave({});
  expect(silence).toHaveLength(FRAMES * 300);
  expect(rms(silence)).toBeLessThan(1e-6);
});

test("repeats a voiced sound with its pitch", async () => {
  const hertz = 200;
  const voiced = await wave({
    harmonicLevel: new Float32Array(BINS * FRAMES).fill(0),
    pitch: new Float32Array(FRAMES).fill(hertz),
  });
  const period = HIBARI_SAMPLE_RATE / hertz;
  const middle = voiced.subarray(6000, 12_000);
  const later = voiced.subarray(6000 + period, 12_000 + period);
  const between = voiced.subarray(6000 + period / 2, 12_000 + period / 2);
  const difference = (other: Float32Array) => rms(middle.map((sample, index) => sample - (other[index] ?? 0)));
  expect(rms(middle)).toBeGreaterThan(0.001);
  expect(difference(later)).toBeLessThan(0.05 * difference(between));
});

test("scales noise with its level", async () => {
  const level = async (value: number) => rms(await wave({ noiseLevel: new Float32Array(BINS * FRAMES).fill(value) }));
  expect((await level(1)) / (await level(0))).toBeCloseTo(Math.E, 0);
});

test("returns at once when aborted", async () => {
  expect(rms(await wave({ noiseLevel: new Float32Array(BINS * FRAMES).fill(0) }, AbortSignal.abort()))).toBe(0);
});
