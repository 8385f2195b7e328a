/**
 * Vectors of one store in memory, as 8-bit integers with a scale for each vector. A search in few vectors compares all of
 * them; in many, it compares codes of one bit per dimension first, and then the nearest by their integers (decision 0072).
 */

import { withRoom } from "../../../kernel/keywords/growing-arrays.ts";
import {
  type Center,
  codeBytesOf,
  computeCenter,
  GROUP,
  type ScaledVector,
  tableBytesOf,
  writeCode,
  writeTables,
} from "./bit-codes.ts";
import { DISTANCES_WASM } from "./distances-wasm.ts";
import { type ScoredEntry, TopList } from "./top-list.ts";

interface Distances {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  scan(tables: number, codes: number, size: number, groups: number, output: number): void;
  dot(query: number, vector: number, size: number): number;
  dots(query: number, vectors: number, size: number, count: number, output: number): void;
}

/** The types of Node lack the constructors. */
declare const WebAssembly: {
  Module: new (binary: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/** Vectors of a block, which follow one another in memory: a multiple of GROUP. */
const BLOCK = 4096;
const PAGE_BYTES = 65_536;
/** Up to this many vectors, comparing all takes less than 5 ms. */
const MAX_EXACT = 50_000;
/** Share of the vectors that are compared by their integers after all were compared by codes, and their minimum. */
const CANDIDATE_SHARE = 1 / 50;
const MIN_CANDIDATES = 4_000;
/** Sums of codes have 16 bits. */
const SUMS = 65_536;
/** The center of the codes is computed again when the store has grown by this factor. */
const GROWTH = 4;

let compiled: object | undefined;

export class VectorBlocks {
  readonly #dimensions: number;
  /** Bytes of a vector in integers, and of its code. */
  readonly #bytes: number;
  readonly #codeBytes: number;
  readonly #wasm: Distances;
  readonly #query: number;
  readonly #tables: number;
  readonly #output: number;
  /** Addresses of the blocks: integers, then codes. */
  readonly #blocks: number[] = [];
  #free: number;
  #scales = new Float32Array(BLOCK);
  #count = 0;
  #center: Center | undefined;
  #centeredCount = 0;
  #codeCount = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#bytes = Math.ceil(dimensions / 16) * 16;
    this.#codeBytes = codeBytesOf(dimensions);
    compiled ??= new WebAssembly.Module(Buffer.from(DISTANCES_WASM, "base64"));
    this.#wasm = new WebAssembly.Instance(compiled).exports as Distances;
    this.#query = 0;
    this.#tables = this.#bytes;
    this.#output = this.#tables + tableBytesOf(dimensions);
    this.#free = this.#output + BLOCK * 4;
    this.#reserve(this.#free);
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
      const candidates = Math.max(MIN_CANDIDATES, this.#count * CANDIDATE_SHARE);
      for (const entry of this.#nearestByCodes(vector, candidates, isAllowed))
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

  /** Returns about `max` vectors, those with the highest sums. */
  #nearestByCodes(vector: Float32Array, max: number, isAllowed: (entry: number) => boolean): number[] {
    const { memory } = this.#wasm;
    writeTables(
      new Uint8Array(memory.buffer, this.#tables, tableBytesOf(this.#dimensions)),
      vector,
      this.#computeCodes(),
    );
    const sums = new Uint16Array(this.#count);
    const histogram = new Uint32Array(SUMS);
    for (let first = 0; first < this.#count; first += BLOCK) {
      const count = Math.min(BLOCK, this.#count - first);
      const groups = Math.ceil(count / GROUP);
      this.#wasm.scan(this.#tables, this.#groupAddressOf(first), this.#codeBytes, groups, this.#output);
      sums.set(new Uint16Array(memory.buffer, this.#output, count), first);
    }
    for (let entry = 0; entry < this.#count; entry += 1) {
      if (!isAllowed(entry)) sums[entry] = 0;
      const sum = sums[entry] ?? 0;
      histogram[sum] = (histogram[sum] ?? 0) + 1;
    }
    let limit = SUMS - 1;
    for (let count = histogram[limit] ?? 0; count < max && limit > 1; count += histogram[limit] ?? 0) limit -= 1;
    const nearest: number[] = [];
    for (let entry = 0; entry < this.#count; entry += 1) {
      if ((sums[entry] ?? 0) >= limit) nearest.push(entry);
    }
    return nearest;
  }

  /** Computes missing codes. */
  #computeCodes(): Center {
    if (this.#center === undefined || this.#count > this.#centeredCount * GROWTH) {
      this.#center = computeCenter(this.#dimensions, this.#count, (entry) => this.#vectorAt(entry));
      this.#centeredCount = this.#count;
      this.#codeCount = 0;
    }
    const groupBytes = GROUP * this.#codeBytes;
    for (; this.#codeCount < this.#count; this.#codeCount += 1) {
      const group = new Uint8Array(this.#wasm.memory.buffer, this.#groupAddressOf(this.#codeCount), groupBytes);
      writeCode(group, this.#codeCount % GROUP, this.#vectorAt(this.#codeCount), this.#center);
    }
    return this.#center;
  }

  #addBlock(): void {
    const end = this.#free + BLOCK * (this.#bytes + this.#codeBytes);
    this.#reserve(end);
    this.#blocks.push(this.#free);
    this.#free = end;
  }

  #reserve(end: number): void {
    const missing = end - this.#wasm.memory.buffer.byteLength;
    if (missing > 0) this.#wasm.memory.grow(Math.ceil(missing / PAGE_BYTES));
  }

  #vectorAt(entry: number): ScaledVector {
    return { integers: this.#integersOf(entry), scale: this.#scales[entry] ?? 0 };
  }

  #integersOf(entry: number): Int8Array {
    return new Int8Array(this.#wasm.memory.buffer, this.#addressOf(entry), this.#dimensions);
  }

  #addressOf(entry: number): number {
    return (this.#blocks[Math.floor(entry / BLOCK)] ?? 0) + (entry % BLOCK) * this.#bytes;
  }

  /** Address of the group of codes that has this vector's. */
  #groupAddressOf(entry: number): number {
    const block = this.#blocks[Math.floor(entry / BLOCK)] ?? 0;
    return block + BLOCK * this.#bytes + Math.floor((entry % BLOCK) / GROUP) * GROUP * this.#codeBytes;
  }
}

/** Rounds a vector, scaled to the length 1, to integers of 8 bits. */
export function quantize(vector: Float32Array): ScaledVector {
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
