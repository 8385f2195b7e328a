/**
 * Vectors and terms of consecutive chunks as bytes: version, dimensions and number of chunks, then for each chunk the
 * scale, the integers, the number of term occurrences, and the terms with their counts. Numbers are little-endian.
 */

import { countTerms, termsOf } from "../../../kernel/keywords/terms.ts";
import { quantize } from "./vector-blocks.ts";

const VERSION = 1;
const HEADER_BYTES = 5;

export interface SegmentEntry {
  scale: number;
  integers: Int8Array;
  terms: Uint32Array;
  counts: Uint8Array;
  /** Occurrences of all terms. */
  length: number;
}

/** Encodes chunks; their vectors follow one another in `vectors`. */
export function encodeSegment(texts: readonly string[], vectors: Float32Array, dimensions: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(VERSION, 0);
  header.writeUInt16LE(dimensions, 1);
  header.writeUInt16LE(texts.length, 3);
  const parts: Uint8Array[] = [header];
  for (const [index, text] of texts.entries()) {
    const { integers, scale } = quantize(vectors.subarray(index * dimensions, (index + 1) * dimensions));
    const occurrences = termsOf(text);
    const { terms, counts } = countTerms(occurrences);
    const head = Buffer.alloc(4 + dimensions + 8 + terms.length * 4);
    head.writeFloatLE(scale, 0);
    head.set(new Uint8Array(integers.buffer), 4);
    head.writeUInt32LE(occurrences.length, 4 + dimensions);
    head.writeUInt32LE(terms.length, 8 + dimensions);
    for (const [place, term] of terms.entries()) head.writeUInt32LE(term, 12 + dimensions + place * 4);
    parts.push(head, counts);
  }
  return Buffer.concat(parts);
}

/** Throws for bytes of another version. */
export function* decodeSegment(bytes: Uint8Array): Generator<SegmentEntry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint8(0) !== VERSION) throw new Error(`a segment of version ${view.getUint8(0)} cannot be read`);
  const dimensions = view.getUint16(1, true);
  let at = HEADER_BYTES;
  for (let remaining = view.getUint16(3, true); remaining > 0; remaining -= 1) {
    const scale = view.getFloat32(at, true);
    const integers = new Int8Array(bytes.buffer, bytes.byteOffset + at + 4, dimensions);
    at += 4 + dimensions;
    const length = view.getUint32(at, true);
    const terms = new Uint32Array(view.getUint32(at + 4, true));
    at += 8;
    for (let index = 0; index < terms.length; index += 1) terms[index] = view.getUint32(at + index * 4, true);
    at += terms.length * 4;
    const counts = bytes.subarray(at, at + terms.length);
    at += terms.length;
    yield { scale, integers, terms, counts: new Uint8Array(counts), length };
  }
}

/** Length of the vectors of a segment. */
export function dimensionsOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint16(1, true);
}
