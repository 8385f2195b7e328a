/** The cutting alone, with a detector that takes loud windows for speech in the place of Silero. */

import { expect, test } from "vitest";
import { cutAtPauses, type Piece, SAMPLE_RATE } from "./cut-at-pauses.ts";
import type { Vad } from "./voice-activity.ts";

const LOUD = 0.1;
const SILENCE_SAMPLES = 0.45 * SAMPLE_RATE;

class LoudnessVad implements Vad {
  #heard = 0;
  #start: number | undefined;
  #lastLoud = 0;
  #segments: { start: number; samples: Float32Array }[] = [];

  acceptWaveform(samples: Float32Array): void {
    if (samples.some((sample) => Math.abs(sample) > LOUD)) {
      this.#start ??= this.#heard;
      this.#lastLoud = this.#heard + samples.length;
    } else if (this.#start !== undefined && this.#heard - this.#lastLoud > SILENCE_SAMPLES) {
      this.flush();
    }
    this.#heard += samples.length;
  }

  isEmpty(): boolean {
    return this.#segments.length === 0;
  }

  isDetected(): boolean {
    return this.#start !== undefined;
  }

  front() {
    const [first] = this.#segments;
    if (first === undefined) throw new Error("There is none");
    return first;
  }

  pop(): void {
    this.#segments.shift();
  }

  flush(): void {
    if (this.#start === undefined) return;
    this.#segments.push({ start: this.#start, samples: new Float32Array(this.#lastLoud - this.#start) });
    this.#start = undefined;
  }

  reset(): void {
    this.#segments = [];
  }
}

/** Loud but for the pauses; each sample holds its position, so that a loss shows. */
async function* recording(seconds: number, pauses: readonly [number, number][] = [], step = 7919) {
  const total = seconds * SAMPLE_RATE;
  for (let start = 0; start < total; start += step) {
    yield Float32Array.from({ length: Math.min(step, total - start) }, (_, index) => {
      const at = (start + index) / SAMPLE_RATE;
      const isQuiet = pauses.some(([from, to]) => at >= from && at < to);
      return isQuiet ? 0.001 : 0.2 + (0.7 * (start + index)) / total;
    });
  }
}

async function cut(samples: AsyncIterable<Float32Array>): Promise<{ pieces: Piece[]; heard: number }> {
  let heard = 0;
  const pieces: Piece[] = [];
  const told = (count: number) => {
    heard = count;
  };
  for await (const piece of cutAtPauses(samples, new LoudnessVad(), told)) pieces.push(piece);
  return { pieces, heard };
}

function expectInOrder(pieces: readonly Piece[], seconds: number): void {
  let last = 0;
  for (const { samples, startSeconds, endSeconds } of pieces) {
    expect(startSeconds).toBeGreaterThanOrEqual(last);
    expect(endSeconds).toBeGreaterThan(startSeconds);
    expect(samples.length).toBe(Math.round((endSeconds - startSeconds) * SAMPLE_RATE));
    last = endSeconds;
  }
  expect(last).toBeLessThanOrEqual(seconds);
}

test("cuts at pauses and keeps what is around them", async () => {
  const { pieces, heard } = await cut(
    recording(20, [
      [4, 5],
      [9, 12],
    ]),
  );
  expect(heard).toBe(20 * SAMPLE_RATE);
  expectInOrder(pieces, 20);
  expect(pieces.map(({ startSeconds, endSeconds }) => [Math.round(startSeconds), Math.round(endSeconds)])).toEqual([
    [0, 4],
    [5, 9],
    [12, 20],
  ]);
  for (const piece of pieces.slice(1)) expect(piece.samples[0]).toBeLessThan(LOUD);
});

test("speech without a pause is cut at its quietest points, and joined the pieces are the whole", async () => {
  const { pieces } = await cut(
    recording(100, [
      [20, 20.1],
      [38, 38.1],
    ]),
  );
  expectInOrder(pieces, 100);
  expect(pieces[0]?.endSeconds).toBeCloseTo(20.05, 1);
  expect(pieces[1]?.endSeconds).toBeCloseTo(38.05, 1);
  for (const { startSeconds, endSeconds } of pieces) expect(endSeconds - startSeconds).toBeLessThan(24.5);
  const [first] = pieces;
  expect(first?.startSeconds).toBe(0);
  for (let index = 1; index < pieces.length; index += 1) {
    expect(pieces[index]?.startSeconds).toBe(pieces[index - 1]?.endSeconds);
  }
  expect(pieces.at(-1)?.endSeconds).toBe(100);
});

test("a long silence costs nothing and gives nothing", async () => {
  const { pieces, heard } = await cut(recording(300, [[0, 290]]));
  expect(heard).toBe(300 * SAMPLE_RATE);
  expect(pieces).toHaveLength(1);
  expect(pieces[0]?.startSeconds).toBeCloseTo(289.8, 1);
  expect(pieces[0]?.samples.at(-1)).toBeCloseTo(0.9, 2);
});

test("of speech without end, only its last part is kept", async () => {
  const before = process.memoryUsage().arrayBuffers;
  let keptBytes = Number.POSITIVE_INFINITY;
  for await (const { endSeconds } of cutAtPauses(recording(2400), new LoudnessVad(), () => {})) {
    if (endSeconds < 2300) continue;
    keptBytes = process.memoryUsage().arrayBuffers - before;
    break;
  }
  expect(keptBytes / (SAMPLE_RATE * Float32Array.BYTES_PER_ELEMENT)).toBeLessThan(1200);
});

test("what ends within a window is heard to its end", async () => {
  const { pieces, heard } = await cut(recording(1, [], 100));
  expect(heard).toBe(SAMPLE_RATE);
  expect(pieces.at(-1)?.endSeconds).toBe(1);
  expect((await cut(recording(0))).pieces).toEqual([]);
});
