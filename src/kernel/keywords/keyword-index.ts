/** Chunks by their terms, ranked with BM25 (Robertson and Zaragoza, 2009). */

import { withRoom } from "./growing-arrays.ts";

const K1 = 1.2;
const B = 0.75;
/** Bits of a posting for the number of occurrences; the others are the entry. */
const COUNT_BITS = 6;
const MAX_COUNT = 2 ** COUNT_BITS - 1;
const MAX_ENTRIES = 2 ** (32 - COUNT_BITS);
/** A term of more entries distinguishes few of them. */
const MAX_SHARE = 0.5;
const MIN_COMMON = 100;

interface Postings {
  packed: Uint32Array;
  length: number;
}

export interface KeywordScores {
  /** BM25 by entry, divided by `maximum`; 0 without a term. */
  scores: Float32Array;
  /** Entries with a term. */
  entries: readonly number[];
}

export class KeywordIndex {
  /** A single posting stands for itself, since half of all terms have one. */
  readonly #terms = new Map<number, number | Postings>();
  #lengths = new Uint16Array(16);
  #totalLength = 0;
  #count = 0;
  #memoryBytes = 0;

  get memoryBytes(): number {
    return this.#memoryBytes + this.#lengths.byteLength;
  }

  /** Adds an entry, whose number is one more than that of the last. `length`: occurrences of all terms. */
  add(terms: Uint32Array, counts: Uint8Array, length: number): void {
    const entry = this.#count;
    if (entry >= MAX_ENTRIES) throw new Error(`the index has more than ${MAX_ENTRIES} entries`);
    this.#count += 1;
    this.#lengths = withRoom(this.#lengths, entry);
    this.#lengths[entry] = Math.min(length, 65_535);
    this.#totalLength += length;
    for (const [index, term] of terms.entries()) {
      this.#addPosting(term, entry * 2 ** COUNT_BITS + Math.min(counts[index] ?? 1, MAX_COUNT));
    }
  }

  /** Scores all entries that have one of the terms. */
  score(terms: Iterable<number>): KeywordScores {
    const scores = new Float32Array(this.#count);
    const entries: number[] = [];
    const averageLength = this.#totalLength / Math.max(1, this.#count);
    let maximum = 0;
    for (const term of new Set(terms)) {
      const postings = this.#postingsOf(term);
      const frequency = postings.length;
      const idf = Math.log(1 + (this.#count - frequency + 0.5) / (frequency + 0.5));
      maximum += idf * (K1 + 1);
      if (frequency > Math.max(MIN_COMMON, this.#count * MAX_SHARE)) continue;
      for (let index = 0; index < frequency; index += 1) {
        const posting = postings.packed[index] ?? 0;
        const entry = posting >>> COUNT_BITS;
        const count = posting & MAX_COUNT;
        const norm = K1 * (1 - B + (B * (this.#lengths[entry] ?? 0)) / averageLength);
        const before = scores[entry] ?? 0;
        if (before === 0) entries.push(entry);
        scores[entry] = before + (idf * count * (K1 + 1)) / (count + norm);
      }
    }
    for (const entry of entries) scores[entry] = (scores[entry] ?? 0) / maximum;
    return { scores, entries };
  }

  #postingsOf(term: number): Postings {
    const postings = this.#terms.get(term);
    if (postings === undefined) return { packed: new Uint32Array(), length: 0 };
    return typeof postings === "number" ? { packed: Uint32Array.of(postings), length: 1 } : postings;
  }

  #addPosting(term: number, posting: number): void {
    const postings = this.#terms.get(term);
    if (postings === undefined) {
      this.#terms.set(term, posting);
      this.#memoryBytes += 16;
    } else if (typeof postings === "number") {
      const packed = Uint32Array.of(postings, posting, 0, 0);
      this.#terms.set(term, { packed, length: 2 });
      this.#memoryBytes += 128;
    } else {
      const before = postings.packed.length;
      postings.packed = withRoom(postings.packed, postings.length);
      postings.packed[postings.length] = posting;
      postings.length += 1;
      this.#memoryBytes += 4 * (postings.packed.length - before);
    }
  }
}
