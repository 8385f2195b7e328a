import { expect, test } from "vitest";
import { integratedLoudness } from "./integrated-loudness.ts";
import { TARGET_LUFS } from "./level-loudness.ts";
import { VoiceLevel } from "./voice-level.ts";

const RATE = 16_000;

function tone(seconds: number, amplitude: number): Float32Array {
  return Float32Array.from({ length: seconds * RATE }, (_, index) => amplitude * Math.sin(index / 3));
}

test.each([0.005, 0.4])("brings an unknown voice of amplitude %d to the target", (amplitude) => {
  const leveled = new VoiceLevel(RATE).level(tone(2, amplitude));
  expect(integratedLoudness(leveled, RATE)).toBeCloseTo(TARGET_LUFS, 0);
});

test("keeps the gain once twenty seconds were measured", () => {
  const level = new VoiceLevel(RATE);
  const first = level.level(tone(20, 0.01));
  expect(level.level(tone(1, 0.02))[100]).toBeCloseTo((first[100] ?? 0) * 2, 6);
});

test("makes up for what the limiter takes from high peaks", () => {
  const peaks = tone(5, 0.1).map((sample, index) => (index % 400 === 0 ? 0.9 : sample));
  expect(integratedLoudness(new VoiceLevel(RATE).level(peaks), RATE)).toBeCloseTo(TARGET_LUFS, 0);
});

test("returns what is too short to measure as it is, and measures it with what follows", () => {
  const level = new VoiceLevel(RATE);
  const short = tone(0.1, 0.01);
  expect(level.level(short)).toEqual(short);
  expect(integratedLoudness(level.level(tone(3, 0.01)), RATE)).toBeCloseTo(TARGET_LUFS, 0);
});
