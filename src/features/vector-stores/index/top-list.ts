/** Entries with the highest scores so far: a binary heap whose root is the lowest of them. */

export interface ScoredEntry {
  entry: number;
  score: number;
}

export class TopList {
  readonly #entries: Uint32Array;
  readonly #scores: Float64Array;
  readonly #max: number;
  #length = 0;

  constructor(max: number) {
    this.#max = max;
    this.#entries = new Uint32Array(max);
    this.#scores = new Float64Array(max);
  }

  /** Score that a further entry has to exceed. */
  get threshold(): number {
    return this.#length < this.#max ? Number.NEGATIVE_INFINITY : (this.#scores[0] ?? 0);
  }

  add(entry: number, score: number): void {
    if (score <= this.threshold) return;
    if (this.#length < this.#max) this.#siftUp(this.#length++, entry, score);
    else this.#siftDown(entry, score);
  }

  /** Highest score first. */
  toSorted(): ScoredEntry[] {
    const entries = Array.from({ length: this.#length }, (_, index) => ({
      entry: this.#entries[index] ?? 0,
      score: this.#scores[index] ?? 0,
    }));
    return entries.sort((a, b) => b.score - a.score || a.entry - b.entry);
  }

  #siftUp(at: number, entry: number, score: number): void {
    let index = at;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if ((this.#scores[parent] ?? 0) <= score) break;
      this.#move(parent, index);
      index = parent;
    }
    this.#set(index, entry, score);
  }

  #siftDown(entry: number, score: number): void {
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.#length) break;
      if (child + 1 < this.#length && (this.#scores[child + 1] ?? 0) < (this.#scores[child] ?? 0)) child += 1;
      if ((this.#scores[child] ?? 0) >= score) break;
      this.#move(child, index);
      index = child;
    }
    this.#set(index, entry, score);
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#entries[from] ?? 0, this.#scores[from] ?? 0);
  }

  #set(index: number, entry: number, score: number): void {
    this.#entries[index] = entry;
    this.#scores[index] = score;
  }
}
