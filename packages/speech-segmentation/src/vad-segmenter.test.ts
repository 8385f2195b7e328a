/** Segmentation with a detector that takes loud windows for speech, in place of Silero. */

import { expect, test } from "vitest";
import { SAMPLE_RATE } from "./audio-format.ts";
import type { VadStream } from "./silero-vad.ts";
import { type SpeechSegment, segmentSpeech } from "./vad-segmenter.ts";

const LOUD = 0.1;
const loudnessVad: VadStream = {
  probability: async (window) => (window.some((sample) => Math.abs(sample) > LOUD) ? 1 : 0),
};

/** Loud except in the pauses. Each sample encodes its position, which reveals lost samples. */
async function* recording(seconds: number, pauses: readonly [number, number][] = [], step = 7919) {
  const total = seconds * SAMPLE_RATE;
  for (let start = 0; start < total; start += step) {
    const samples = new Float32Array(Math.min(step, total - start));
    for (let index = 0; index < samples.length; index += 1) samples[index] = 0.2 + (0.7 * (start + index)) / total;
    for (const [from, to] of pauses) {
      const first = Math.max(0, Math.ceil(from * SAMPLE_RATE) - start);
      samples.fill(0.001, first, Math.max(first, Math.ceil(to * SAMPLE_RATE) - start));
    }
    yield samples;
  }
}

async function cut(samples: AsyncIterable<Float32Array>): Promise<{ segments: SpeechSegment[]; samplesRead: number }> {
  let samplesRead = 0;
  const segments: SpeechSegment[] = [];
  const onProgress = (count: number) => {
    samplesRead = count;
  };
  for await (const segment of segmentSpeech(samples, loudnessVad, onProgress)) segments.push(segment);
  return { segments, samplesRead };
}

function expectInOrder(segments: readonly SpeechSegment[], seconds: number): void {
  let last = 0;
  for (const { samples, startSeconds, endSeconds } of segments) {
    expect(startSeconds).toBeGreaterThanOrEqual(last);
    expect(endSeconds).toBeGreaterThan(startSeconds);
    expect(samples.length).toBe(Math.round((endSeconds - startSeconds) * SAMPLE_RATE));
    last = endSeconds;
  }
  expect(last).toBeLessThanOrEqual(seconds);
}

test("cuts at pauses and keeps padding around speech", async () => {
  const { segments, samplesRead } = await cut(
    recording(20, [
      [4, 5],
      [9, 12],
    ]),
  );
  expect(samplesRead).toBe(20 * SAMPLE_RATE);
  expectInOrder(segments, 20);
  expect(segments.map(({ startSeconds, endSeconds }) => [Math.round(startSeconds), Math.round(endSeconds)])).toEqual([
    [0, 4],
    [5, 9],
    [12, 20],
  ]);
  for (const segment of segments.slice(1)) expect(segment.samples[0]).toBeLessThan(LOUD);
});

test("cuts continuous speech at its quietest points without losing samples", async () => {
  const { segments } = await cut(
    recording(100, [
      [20, 20.1],
      [38, 38.1],
    ]),
  );
  expectInOrder(segments, 100);
  expect(segments[0]?.endSeconds).toBeCloseTo(20.05, 1);
  expect(segments[1]?.endSeconds).toBeCloseTo(38.05, 1);
  for (const { startSeconds, endSeconds } of segments) expect(endSeconds - startSeconds).toBeLessThan(24.5);
  const [first] = segments;
  expect(first?.startSeconds).toBe(0);
  for (let index = 1; index < segments.length; index += 1) {
    expect(segments[index]?.startSeconds).toBe(segments[index - 1]?.endSeconds);
  }
  expect(segments.at(-1)?.endSeconds).toBe(100);
});

test("yields nothing for a long silence", async () => {
  const { segments, samplesRead } = await cut(recording(300, [[0, 290]]));
  expect(samplesRead).toBe(300 * SAMPLE_RATE);
  expect(segments).toHaveLength(1);
  expect(segments[0]?.startSeconds).toBeCloseTo(289.6, 1);
  expect(segments[0]?.samples.at(-1)).toBeCloseTo(0.9, 2);
});

test("limits the buffer during endless speech", async () => {
  const before = process.memoryUsage().arrayBuffers;
  let keptBytes = Number.POSITIVE_INFINITY;
  for await (const { endSeconds } of segmentSpeech(recording(2400), loudnessVad, () => {})) {
    if (endSeconds < 2300) continue;
    keptBytes = process.memoryUsage().arrayBuffers - before;
    break;
  }
  expect(keptBytes / (SAMPLE_RATE * Float32Array.BYTES_PER_ELEMENT)).toBeLessThan(1200);
});

test("reads a recording to its end when it ends within a window", async () => {
  const { segments, samplesRead } = await cut(recording(1, [], 100));
  expect(samplesRead).toBe(SAMPLE_RATE);
  expect(segments.at(-1)?.endSeconds).toBe(1);
  expect((await cut(recording(0))).segments).toEqual([]);
});
