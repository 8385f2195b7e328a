/** Pieces of speech put together into windows, for models that take as long for a word as for half a minute. */

import { type Piece, SAMPLE_RATE } from "./cut-at-pauses.ts";

/** The pauses between are silence; a longer one begins a window anew. */
const LONGEST_PAUSE_SECONDS = 2;

export async function* packPieces(pieces: AsyncIterable<Piece>, mostSeconds: number): AsyncGenerator<Piece> {
  let packed: Piece[] = [];
  for await (const piece of pieces) {
    const [first] = packed;
    const pause = piece.startSeconds - (packed.at(-1)?.endSeconds ?? 0);
    const isFull = first !== undefined && piece.endSeconds - first.startSeconds > mostSeconds;
    if (first !== undefined && (isFull || pause > LONGEST_PAUSE_SECONDS)) {
      yield joined(packed);
      packed = [];
    }
    packed.push(piece);
  }
  if (packed.length > 0) yield joined(packed);
}

function joined(pieces: readonly Piece[]): Piece {
  const startSeconds = pieces[0]?.startSeconds ?? 0;
  const endSeconds = pieces.at(-1)?.endSeconds ?? 0;
  const at = (seconds: number) => Math.round((seconds - startSeconds) * SAMPLE_RATE);
  const samples = new Float32Array(
    Math.max(0, ...pieces.map((piece) => at(piece.startSeconds) + piece.samples.length)),
  );
  for (const piece of pieces) samples.set(piece.samples, at(piece.startSeconds));
  return { samples, startSeconds, endSeconds };
}
