/** What can be found in one vector store: its chunks by vectors and by terms, and the attributes of their files. */

import { withRoom } from "../../../kernel/keywords/growing-arrays.ts";
import { KeywordIndex } from "../../../kernel/keywords/keyword-index.ts";
import { type AttributeFilter, type Attributes, passesFilter } from "../../../wire/openai/attribute-filters.ts";
import { decodeSegment, dimensionsOf } from "./segment-format.ts";
import { TopList } from "./top-list.ts";
import { VectorBlocks } from "./vector-blocks.ts";

export interface IndexQuery {
  vector: Float32Array;
  terms: readonly number[];
  filter: AttributeFilter | undefined;
  max: number;
  weights: { embedding: number; text: number };
}

export interface IndexMatch {
  /** ID of the addition of the file. */
  addition: string;
  /** Segment, and the chunk in it. */
  position: number;
  chunk: number;
  /** 0 to 1. */
  score: number;
}

interface IndexedFile {
  addition: string;
  attributes: Attributes;
  isRemoved: boolean;
}

/** Chunks that vectors and terms each contribute to the ranking. */
const MIN_CANDIDATES = 100;
/** Removed chunks occupy memory and count in term frequencies. */
const MAX_REMOVED_SHARE = 0.3;
const CHUNK_BITS = 8;

export class StoreIndex {
  #vectors: VectorBlocks | undefined;
  readonly #keywords = new KeywordIndex();
  readonly #files: IndexedFile[] = [];
  readonly #numbers = new Map<string, number>();
  #fileOf = new Uint32Array(16);
  /** Segment and chunk of each entry. */
  #places = new Uint32Array(16);
  #removedCount = 0;
  readonly #entryCounts: number[] = [];

  get memoryBytes(): number {
    const vectors = this.#vectors?.memoryBytes ?? 0;
    return vectors + this.#keywords.memoryBytes + this.#fileOf.byteLength + this.#places.byteLength;
  }

  /** Whether so much was removed that the index should be built again. */
  get isSparse(): boolean {
    return this.#removedCount > (this.#vectors?.count ?? 0) * MAX_REMOVED_SHARE;
  }

  addSegment(addition: string, position: number, bytes: Uint8Array): void {
    const file = this.#numberOf(addition);
    this.#vectors ??= new VectorBlocks(dimensionsOf(bytes));
    let chunk = 0;
    for (const { integers, scale, terms, counts, length } of decodeSegment(bytes)) {
      const entry = this.#vectors.add(integers, scale);
      this.#keywords.add(terms, counts, length);
      this.#fileOf = withRoom(this.#fileOf, entry);
      this.#places = withRoom(this.#places, entry);
      this.#fileOf[entry] = file;
      this.#places[entry] = position * 2 ** CHUNK_BITS + chunk;
      this.#entryCounts[file] = (this.#entryCounts[file] ?? 0) + 1;
      chunk += 1;
    }
  }

  setAttributes(addition: string, attributes: Attributes): void {
    const file = this.#files[this.#numberOf(addition)];
    if (file !== undefined) file.attributes = attributes;
  }

  removeFile(addition: string): void {
    const number = this.#numbers.get(addition);
    const file = number === undefined ? undefined : this.#files[number];
    if (number === undefined || file === undefined || file.isRemoved) return;
    file.isRemoved = true;
    this.#removedCount += this.#entryCounts[number] ?? 0;
    this.#numbers.delete(addition);
  }

  /** Returns the best matches, best first. Throws a RangeError when the vector has another length than the store's. */
  search({ vector, terms, filter, max, weights }: IndexQuery): IndexMatch[] {
    const vectors = this.#vectors;
    if (vectors === undefined) return [];
    const passing = this.#files.map(
      ({ attributes, isRemoved }) => !isRemoved && (filter === undefined || passesFilter(attributes, filter)),
    );
    const isAllowed = (entry: number) => passing[this.#fileOf[entry] ?? 0] === true;
    const queryScale = vectors.setQuery(vector);
    const candidates = Math.max(MIN_CANDIDATES, 2 * max);
    const { scores, entries } = this.#keywords.score(weights.text > 0 ? terms : []);
    const byTerms = new TopList(candidates);
    for (const entry of entries) {
      const score = scores[entry] ?? 0;
      if (score > byTerms.threshold && isAllowed(entry)) byTerms.add(entry, score);
    }
    const cosines = new Map<number, number>();
    if (weights.embedding > 0) {
      for (const { entry, score } of vectors.search(vector, queryScale, candidates, isAllowed))
        cosines.set(entry, score);
    }
    for (const { entry } of byTerms.toSorted()) {
      if (!cosines.has(entry)) cosines.set(entry, vectors.similarity(entry, queryScale));
    }
    const top = new TopList(max);
    const total = weights.embedding + weights.text;
    for (const [entry, cosine] of cosines) {
      const similarity = Math.min(1, Math.max(0, cosine));
      top.add(entry, (weights.embedding * similarity + weights.text * (scores[entry] ?? 0)) / total);
    }
    return top.toSorted().map(({ entry, score }) => this.#toMatch(entry, score));
  }

  #toMatch(entry: number, score: number): IndexMatch {
    const place = this.#places[entry] ?? 0;
    const file = this.#files[this.#fileOf[entry] ?? 0];
    return {
      addition: file?.addition ?? "",
      position: place >>> CHUNK_BITS,
      chunk: place & (2 ** CHUNK_BITS - 1),
      score,
    };
  }

  #numberOf(addition: string): number {
    const existing = this.#numbers.get(addition);
    if (existing !== undefined) return existing;
    const number = this.#files.push({ addition, attributes: {}, isRemoved: false }) - 1;
    this.#numbers.set(addition, number);
    return number;
  }
}
