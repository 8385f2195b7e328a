import { expect, test } from "vitest";
import { SAMPLE_RATE } from "./audio-format.ts";
import { mergeSegments } from "./merge-segments.ts";
import type { SpeechSegment } from "./vad-segmenter.ts";

const segment = (startSeconds: number, endSeconds: number): SpeechSegment => ({
  startSeconds,
  endSeconds,
  speech: [{ startSeconds, endSeconds }],
  samples: new Float32Array((endSeconds - startSeconds) * SAMPLE_RATE).fill(startSeconds + 1),
});

async function merge(...segments: SpeechSegment[]): Promise<SpeechSegment[]> {
  const all = (async function* () {
    yield* segments;
  })();
  return Array.fromAsync(mergeSegments(all, 10));
}

test("merges segments while they fit, with silence for the pauses between them", async () => {
  const [first, second, ...more] = await merge(segment(1, 3), segment(4, 6), segment(7, 12));
  expect([first?.startSeconds, first?.endSeconds]).toEqual([1, 6]);
  expect(first?.samples.length).toBe(5 * SAMPLE_RATE);
  expect([0.5, 2.5, 4].map((seconds) => first?.samples[seconds * SAMPLE_RATE])).toEqual([2, 0, 5]);
  expect([second?.startSeconds, second?.endSeconds]).toEqual([7, 12]);
  expect(more).toEqual([]);
});

test("starts a window after a long pause and leaves an oversized segment unchanged", async () => {
  expect((await merge(segment(0, 1), segment(5, 6))).map(({ startSeconds }) => startSeconds)).toEqual([0, 5]);
  expect((await merge(segment(0, 14), segment(14, 15))).map(({ endSeconds }) => endSeconds)).toEqual([14, 15]);
  expect(await merge()).toEqual([]);
});
