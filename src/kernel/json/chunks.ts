/** Bytes in several buffers, which need not be copied into one. */

export function byteLength(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

/** Returns views of the bytes from `start` to `end`. */
export function sliceChunks(chunks: readonly Uint8Array[], start: number, end: number): Uint8Array[] {
  const slices: Uint8Array[] = [];
  let at = 0;
  for (const chunk of chunks) {
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, chunk.length)];
    if (from < to) slices.push(chunk.subarray(from, to));
    at += chunk.length;
  }
  return slices;
}

/** Returns the UTF-8 text of the bytes from `start` to `end`. */
export function chunksText(chunks: readonly Uint8Array[], start: number, end: number): string {
  return joinChunks(sliceChunks(chunks, start, end)).toString();
}

/** Returns the only chunk without a copy. */
export function joinChunks(chunks: readonly Uint8Array[]): Buffer {
  const [first] = chunks;
  if (chunks.length !== 1 || first === undefined) return Buffer.concat(chunks);
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
}

/** Copies neighbors that are smaller than `minBytes` into one. */
export function mergeSmallChunks(chunks: readonly Uint8Array[], minBytes: number): Uint8Array[] {
  const merged: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (chunk.length < minBytes) {
      small.push(chunk);
      continue;
    }
    if (small.length > 0) merged.push(joinChunks(small));
    small = [];
    merged.push(chunk);
  }
  return small.length > 0 ? [...merged, joinChunks(small)] : merged;
}
