/** Voices are the level of a constant signal: low, and high. */

import { expect, test } from "vitest";
import { SAMPLE_RATE } from "./audio-format.ts";
import { joinSamples, speechOf } from "./speech-of.ts";
import { splitAtVoiceChanges } from "./split-at-voice-changes.ts";
import type { SpeechSegment } from "./vad-segmenter.ts";

const LOW = 0.1;
const HIGH = 0.5;
const level = (value: number, seconds: number) => new Float32Array(seconds * SAMPLE_RATE).fill(value);

/** A direction in the plane by the mean level. */
async function embed(speech: Float32Array): Promise<Float32Array> {
  const mean = speech.reduce((sum, sample) => sum + sample, 0) / speech.length;
  const angle = ((mean - LOW) / (HIGH - LOW)) * (Math.PI / 2);
  return Float32Array.of(Math.cos(angle), Math.sin(angle));
}

function segment(startSeconds: number, ...parts: Float32Array[]): SpeechSegment {
  const samples = joinSamples(parts);
  const endSeconds = startSeconds + samples.length / SAMPLE_RATE;
  return { samples, startSeconds, endSeconds, speech: [{ startSeconds, endSeconds }] };
}

async function split(...segments: SpeechSegment[]): Promise<SpeechSegment[]> {
  const stream = async function* () {
    yield* segments;
  };
  return Array.fromAsync(splitAtVoiceChanges(stream(), embed));
}

test("cuts at the quietest point near each change of the voice", async () => {
  const pause = level(0, 0.1);
  const pieces = await split(segment(10, level(LOW, 4), pause, level(HIGH, 4), pause, level(LOW, 3)));
  expect(pieces).toHaveLength(3);
  expect(pieces[0]?.endSeconds).toBeCloseTo(14.05, 1);
  expect(pieces[1]?.startSeconds).toBe(pieces[0]?.endSeconds);
  expect(pieces[2]?.startSeconds).toBeCloseTo(18.15, 1);
  expect(pieces[2]?.endSeconds).toBeCloseTo(21.2, 5);
  expect(pieces.map(({ samples }) => samples.length).reduce((a, b) => a + b)).toBe(Math.round(11.2 * SAMPLE_RATE));
  for (const piece of pieces) expect(speechOf(piece)).toHaveLength(piece.samples.length);
});

test("leaves segments of one voice and short ones alone", async () => {
  const one = segment(0, level(LOW, 8));
  const short = segment(9, level(LOW, 1), level(HIGH, 1));
  expect(await split(one, short)).toEqual([one, short]);
});
