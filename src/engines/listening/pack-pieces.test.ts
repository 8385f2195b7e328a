import { expect, test } from "vitest";
import { type Piece, SAMPLE_RATE } from "./cut-at-pauses.ts";
import { packPieces } from "./pack-pieces.ts";

const piece = (startSeconds: number, endSeconds: number): Piece => ({
  startSeconds,
  endSeconds,
  samples: new Float32Array((endSeconds - startSeconds) * SAMPLE_RATE).fill(startSeconds + 1),
});

async function pack(...pieces: Piece[]): Promise<Piece[]> {
  const all = (async function* () {
    yield* pieces;
  })();
  return Array.fromAsync(packPieces(all, 10));
}

test("pieces go together as long as they fit, with silence for what is between", async () => {
  const [first, second, ...more] = await pack(piece(1, 3), piece(4, 6), piece(7, 12));
  expect([first?.startSeconds, first?.endSeconds]).toEqual([1, 6]);
  expect(first?.samples.length).toBe(5 * SAMPLE_RATE);
  expect([0.5, 2.5, 4].map((seconds) => first?.samples[seconds * SAMPLE_RATE])).toEqual([2, 0, 5]);
  expect([second?.startSeconds, second?.endSeconds]).toEqual([7, 12]);
  expect(more).toEqual([]);
});

test("a long pause begins anew, a piece that is too long stays alone, and nothing gives nothing", async () => {
  expect((await pack(piece(0, 1), piece(5, 6))).map(({ startSeconds }) => startSeconds)).toEqual([0, 5]);
  expect((await pack(piece(0, 14), piece(14, 15))).map(({ endSeconds }) => endSeconds)).toEqual([14, 15]);
  expect(await pack()).toEqual([]);
});
