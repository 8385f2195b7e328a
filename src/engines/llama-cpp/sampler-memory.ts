import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** llama.cpp's record of one candidate for the next token. */
const BYTES_PER_CANDIDATE = 12;
const MOST_GARBAGE_BYTES = 64 * 2 ** 20;

/**
 * Keeps the garbage of samplers within bounds. The binding frees a sampler's list of candidates, one for each token of
 * the vocabulary, only when the garbage collector comes to it, and that takes it for a small object: 700 MB of them were
 * measured after 5,000 short requests.
 */
export class SamplerMemory {
  readonly #bytesPerSampler: number;
  readonly #collect: () => void;
  #garbageBytes = 0;

  constructor(vocabularySize: number, collect: () => void = exposeCollector()) {
    this.#bytesPerSampler = vocabularySize * BYTES_PER_CANDIDATE;
    this.#collect = collect;
  }

  /** To be told of samplers that are not needed any more, and of what else of the binding's memory was theirs. */
  abandon(samplers: number, otherBytes = 0): void {
    this.#garbageBytes += samplers * this.#bytesPerSampler + otherBytes;
    if (this.#garbageBytes < MOST_GARBAGE_BYTES) return;
    this.#garbageBytes = 0;
    this.#collect();
  }
}

function exposeCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}
