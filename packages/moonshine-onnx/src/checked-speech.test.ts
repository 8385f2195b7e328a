import type { SpeechSegment } from "@parlance-inference/speech-segmentation/vad-segmenter";
import { expect, test } from "vitest";
import { checked } from "./checked-speech.ts";

const RATE = 16_000;

function segment(startSeconds: number, seconds: number): SpeechSegment {
  const samples = new Float32Array(seconds * RATE).fill(startSeconds);
  return { samples, startSeconds, endSeconds: startSeconds + seconds, speech: [] };
}

async function* segments(...all: SpeechSegment[]) {
  yield* all;
}

test("checks the first six seconds of speech before it yields them", async () => {
  const steps: string[] = [];
  const check = async (speech: Float32Array) => void steps.push(`check ${speech.length / RATE} ${speech[4 * RATE]}`);
  for await (const { startSeconds } of checked(segments(segment(1, 4), segment(7, 4), segment(12, 4)), check)) {
    steps.push(`segment ${startSeconds}`);
  }
  expect(steps).toEqual(["check 6 7", "segment 1", "segment 7", "segment 12"]);
});

test("checks a short recording when it has ended", async () => {
  const lengths: number[] = [];
  const kept = await Array.fromAsync(
    checked(segments(segment(0, 2)), async (speech) => void lengths.push(speech.length)),
  );
  expect(lengths).toEqual([2 * RATE]);
  expect(kept).toHaveLength(1);
});

test("does not check a recording without speech", async () => {
  const check = async () => Promise.reject(new Error("was called"));
  expect(await Array.fromAsync(checked(segments(), check))).toEqual([]);
});

test("ends with what the check throws", async () => {
  const check = async () => Promise.reject(new Error("is not English"));
  await expect(Array.fromAsync(checked(segments(segment(0, 9)), check))).rejects.toThrow("is not English");
});
