/**
 * Codes of one bit per dimension: whether a vector is above the center of the store. A query is not rounded to bits: each
 * bit adds or subtracts the query's value times the mean distance from the center, as in RaBitQ (arXiv:2405.12497), so that
 * fewer vectors have to be compared by their integers. Tables for 4 bits make these sums lookups, 16 vectors at once
 * (arXiv:1704.07355).
 */

/** Vectors whose codes alternate in memory, byte by byte. */
export const GROUP = 16;
/** Two tables of 16 entries for each byte of a code. */
const TABLE_ENTRIES = 16;
const TABLE_BITS = 4;
/** Two entries have to fit into a byte, and the sum of all into 16 bits. */
const MAX_ENTRY = 127;
const MAX_SUM = 65_535;
const MAX_SAMPLES = 20_000;

export interface Center {
  means: Float32Array;
  /** Mean distances from the means. */
  deviations: Float32Array;
}

export interface ScaledVector {
  integers: Int8Array;
  scale: number;
}

export function codeBytesOf(dimensions: number): number {
  return Math.ceil(dimensions / 8);
}

export function tableBytesOf(dimensions: number): number {
  return codeBytesOf(dimensions) * 2 * TABLE_ENTRIES;
}

/** Computes the center from a sample of the vectors. */
export function computeCenter(dimensions: number, count: number, vectorAt: (entry: number) => ScaledVector): Center {
  const step = Math.max(1, Math.floor(count / MAX_SAMPLES));
  const samples = Math.ceil(count / step);
  const average = (read: (value: number, dimension: number) => number) => {
    const sums = new Float32Array(dimensions);
    for (let entry = 0; entry < count; entry += step) {
      const { integers, scale } = vectorAt(entry);
      for (let dimension = 0; dimension < dimensions; dimension += 1)
        sums[dimension] = (sums[dimension] ?? 0) + read((integers[dimension] ?? 0) * scale, dimension);
    }
    return sums.map((sum) => sum / samples);
  };
  const means = average((value) => value);
  return { means, deviations: average((value, dimension) => Math.abs(value - (means[dimension] ?? 0))) };
}

/** Writes the code of the vector at `lane` of a group. */
export function writeCode(group: Uint8Array, lane: number, { integers, scale }: ScaledVector, { means }: Center): void {
  for (let dimension = 0; dimension < integers.length; dimension += 8) {
    let byte = 0;
    for (let bit = 0; bit < 8 && dimension + bit < integers.length; bit += 1) {
      if ((integers[dimension + bit] ?? 0) * scale > (means[dimension + bit] ?? 0)) byte |= 1 << bit;
    }
    group[(dimension >> 3) * GROUP + lane] = byte;
  }
}

/** Writes the tables of a query: higher sums of a code's entries stand for more similar vectors. */
export function writeTables(tables: Uint8Array, query: Float32Array, { deviations }: Center): void {
  const count = tables.length / TABLE_ENTRIES;
  const sums = new Float32Array(tables.length);
  let range = 0;
  for (let table = 0; table < count; table += 1) {
    const entries = sums.subarray(table * TABLE_ENTRIES, (table + 1) * TABLE_ENTRIES);
    let half = 0;
    for (let bit = 0; bit < TABLE_BITS; bit += 1) {
      const dimension = table * TABLE_BITS + bit;
      const weight = (query[dimension] ?? 0) * (deviations[dimension] ?? 0);
      half += Math.abs(weight);
      for (const [entry, sum] of entries.entries()) entries[entry] = sum + ((entry >> bit) & 1 ? weight : -weight);
    }
    for (const [entry, sum] of entries.entries()) entries[entry] = sum + half;
    range = Math.max(range, 2 * half);
  }
  const factor = Math.min(MAX_ENTRY, Math.floor(MAX_SUM / count)) / (range || 1);
  for (const [at, sum] of sums.entries()) tables[at] = Math.min(MAX_ENTRY, Math.round(sum * factor));
}
