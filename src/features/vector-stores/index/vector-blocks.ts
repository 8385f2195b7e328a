/**
 * Vectors of one store in memory, as 8-bit integers with a scale for each vector. A search in few vectors compares all of
 * them; in many, it compares one bit of each dimension first, and then the nearest by their integers (decision 0072).
 */

import { DISTANCES_WASM } from "./distances-wasm.ts";
import { withRoom } from "./growing-arrays.ts";
import { type ScoredEntry, TopList } from "./top-list.ts";

interface Distances {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  hamming(query: number, vectors: number, size: number, count: number, output: number): void;
  dot(query: number, vector: number, size: number): number;
  dots(query: number, vectors: number, size: number, count: number, output: number): void;
}

/** The types of Node lack the constructors. */
declare const WebAssembly: {
  Module: new (binary: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/** Vectors of a block, which follow one another in memory. */
const BLOCK = 4096;
const PAGE_BYTES = 65_536;
/** Up to this many vectors, comparing all takes less than 5 ms. */
const MAX_EXACT = 50_000;
/** Share of the vectors that are compared by their integers after all were compared by bits, and their minimum. */
const CANDIDATE_SHARE = 1 / 50;
const MIN_CANDIDATES = 4_000;
const MAX_SAMPLES = 20_000;
/** The center of the bits is computed again when the store has grown by this factor. */
const GROWTH = 4;

let compiled: object | undefined;

export class VectorBlocks {
  readonly #dimensions: number;
  /** Bytes of a vector in integers, and in bits. */
  readonly #bytes: number;
  readonly #bitBytes: number;
  readonly #wasm: Distances;
  readonly #query: number;
  readonly #bitQuery: number;
  readonly #output: number;
  /** Addresses of the blocks: integers, then bits. */
  readonly #blocks: number[] = [];
  #free: number;
  #scales = new Float32Array(BLOCK);
  #count = 0;
  #center: Float32Array | undefined;
  #centeredCount = 0;
  #bitCount = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#bytes = Math.ceil(dimensions / 16) * 16;
    this.#bitBytes = Math.ceil(dimensions / 128) * 16;
    compiled ??= new WebAssembly.Module(Buffer.from(DISTANCES_WASM, "base64"));
    this.#wasm = new WebAssembly.Instance(compiled).exports as Distances;
    this.#query = 0;
    this.#bitQuery = this.#bytes;
    this.#output = this.#bitQuery + this.#bitBytes;
    this.#free = this.#output + BLOCK * 4;
  }

  get count(): number {
    return this.#count;
  }

  get memoryBytes(): number {
    return this.#wasm.memory.buffer.byteLength + this.#scales.byteLength;
  }

  /** Adds a vector of integers, each of which stands for itself times `scale`. Returns its number. */
  add(integers: Int8Array, scale: number): number {
    const entry = this.#count;
    if (entry % BLOCK === 0) this.#addBlock();
    this.#integersOf(entry).set(integers);
    this.#scales = withRoom(this.#scales, entry);
    this.#scales[entry] = scale;
    this.#count += 1;
    return entry;
  }

  /** Prepares to compare with this vector of length 1, for the next `search` and `similarity`. Returns its scale. */
  setQuery(vector: Float32Array): number {
    const { integers, scale } = quantize(vector);
    new Int8Array(this.#wasm.memory.buffer, this.#query, this.#bytes).fill(0).set(integers);
    return scale;
  }

  /** Cosine of a vector and the query. */
  similarity(entry: number, queryScale: number): number {
    const dot = this.#wasm.dot(this.#query, this.#addressOf(entry), this.#bytes);
    return dot * (this.#scales[entry] ?? 0) * queryScale;
  }

  /** Returns at most `max` vectors that `isAllowed`, the most similar first, with their cosines. */
  search(
    vector: Float32Array,
    queryScale: number,
    max: number,
    isAllowed: (entry: number) => boolean,
    isExact = this.#count <= MAX_EXACT,
  ): ScoredEntry[] {
    const top = new TopList(max);
    if (isExact) this.#compareAll(top, queryScale, isAllowed);
    else {
      for (const entry of this.#nearestByBits(
        vector,
        Math.max(MIN_CANDIDATES, this.#count * CANDIDATE_SHARE),
        isAllowed,
      ))
        top.add(entry, this.similarity(entry, queryScale));
    }
    return top.toSorted();
  }

  #compareAll(top: TopList, queryScale: number, isAllowed: (entry: number) => boolean): void {
    for (let first = 0; first < this.#count; first += BLOCK) {
      const count = Math.min(BLOCK, this.#count - first);
      this.#wasm.dots(this.#query, this.#addressOf(first), this.#bytes, count, this.#output);
      const dots = new Int32Array(this.#wasm.memory.buffer, this.#output, count);
      for (let index = 0; index < count; index += 1) {
        const entry = first + index;
        const score = (dots[index] ?? 0) * (this.#scales[entry] ?? 0) * queryScale;
        if (score > top.threshold && isAllowed(entry)) top.add(entry, score);
      }
    }
  }

  /** Returns about `max` vectors, those with the fewest different bits. */
  #nearestByBits(vector: Float32Array, max: number, isAllowed: (entry: number) => boolean): number[] {
    this.#computeBits();
    this.#writeBits(this.#bitQuery, (dimension) => vector[dimension] ?? 0);
    const distances = new Uint16Array(this.#count);
    const histogram = new Uint32Array(this.#dimensions + 2);
    for (let first = 0; first < this.#count; first += BLOCK) {
      const count = Math.min(BLOCK, this.#count - first);
      this.#wasm.hamming(this.#bitQuery, this.#bitAddressOf(first), this.#bitBytes, count, this.#output);
      distances.set(new Uint16Array(this.#wasm.memory.buffer, this.#output, count), first);
    }
    const NOT_ALLOWED = this.#dimensions + 1;
    for (let entry = 0; entry < this.#count; entry += 1) {
      if (!isAllowed(entry)) distances[entry] = NOT_ALLOWED;
      const distance = distances[entry] ?? NOT_ALLOWED;
      histogram[distance] = (histogram[distance] ?? 0) + 1;
    }
    let limit = 0;
    let sum = histogram[0] ?? 0;
    while (sum < max && limit < this.#dimensions) {
      limit += 1;
      sum += histogram[limit] ?? 0;
    }
    const nearest: number[] = [];
    for (let entry = 0; entry < this.#count; entry += 1) {
      if ((distances[entry] ?? NOT_ALLOWED) <= limit) nearest.push(entry);
    }
    return nearest;
  }

  /** Computes missing bits: whether a dimension is above the center of the store. */
  #computeBits(): void {
    if (this.#center === undefined || this.#count > this.#centeredCount * GROWTH) {
      this.#center = this.#computeCenter();
      this.#centeredCount = this.#count;
      this.#bitCount = 0;
    }
    const center = this.#center;
    for (; this.#bitCount < this.#count; this.#bitCount += 1) {
      const integers = this.#integersOf(this.#bitCount);
      const scale = this.#scales[this.#bitCount] ?? 0;
      this.#writeBits(this.#bitAddressOf(this.#bitCount), (dimension) => (integers[dimension] ?? 0) * scale, center);
    }
  }

  #computeCenter(): Float32Array {
    const center = new Float32Array(this.#dimensions);
    const step = Math.max(1, Math.floor(this.#count / MAX_SAMPLES));
    let samples = 0;
    for (let entry = 0; entry < this.#count; entry += step) {
      const integers = this.#integersOf(entry);
      const scale = this.#scales[entry] ?? 0;
      for (let dimension = 0; dimension < this.#dimensions; dimension += 1)
        center[dimension] = (center[dimension] ?? 0) + (integers[dimension] ?? 0) * scale;
      samples += 1;
    }
    return center.map((sum) => sum / samples);
  }

  #writeBits(address: number, numberAt: (dimension: number) => number, center = this.#center): void {
    const bits = new Uint8Array(this.#wasm.memory.buffer, address, this.#bitBytes).fill(0);
    for (let dimension = 0; dimension < this.#dimensions; dimension += 1) {
      if (numberAt(dimension) > (center?.[dimension] ?? 0))
        bits[dimension >> 3] = (bits[dimension >> 3] ?? 0) | (1 << (dimension & 7));
    }
  }

  #addBlock(): void {
    const end = this.#free + BLOCK * (this.#bytes + this.#bitBytes);
    const missing = end - this.#wasm.memory.buffer.byteLength;
    if (missing > 0) this.#wasm.memory.grow(Math.ceil(missing / PAGE_BYTES));
    this.#blocks.push(this.#free);
    this.#free = end;
  }

  #integersOf(entry: number): Int8Array {
    return new Int8Array(this.#wasm.memory.buffer, this.#addressOf(entry), this.#dimensions);
  }

  #addressOf(entry: number): number {
    return (this.#blocks[Math.floor(entry / BLOCK)] ?? 0) + (entry % BLOCK) * this.#bytes;
  }

  #bitAddressOf(entry: number): number {
    return (this.#blocks[Math.floor(entry / BLOCK)] ?? 0) + BLOCK * this.#bytes + (entry % BLOCK) * this.#bitBytes;
  }
}

/** Rounds a vector, scaled to the length 1, to integers of 8 bits. */
export function quantize(vector: Float32Array): { integers: Int8Array; scale: number } {
  let squares = 0;
  let largest = 0;
  for (const value of vector) {
    squares += value * value;
    largest = Math.max(largest, Math.abs(value));
  }
  const length = Math.sqrt(squares) || 1;
  const step = largest / 127 || 1;
  return { integers: Int8Array.from(vector, (value) => Math.round(value / step)), scale: step / length };
}
