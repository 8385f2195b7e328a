import { expect, test } from "vitest";
import { levelLoudness, TARGET_LUFS } from "./level-loudness.ts";

test("amplifies by the distance to the target", () => {
  const [sample] = levelLoudness(Float32Array.of(0.1), TARGET_LUFS - 6.0206);
  expect(sample).toBeCloseTo(0.2, 4);
});

test("limits peaks below full scale, in order and without a jump", () => {
  const ramp = Float32Array.from({ length: 1001 }, (_, index) => (index - 500) / 100);
  const limited = levelLoudness(ramp, TARGET_LUFS);
  for (const [index, sample] of limited.entries()) {
    expect(Math.abs(sample)).toBeLessThanOrEqual(1);
    const step = sample - (limited[index - 1] ?? sample);
    expect(step).toBeGreaterThanOrEqual(0);
    expect(step).toBeLessThan(0.0101);
  }
});
