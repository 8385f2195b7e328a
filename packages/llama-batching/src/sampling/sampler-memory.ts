import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** sizeof(llama_token_data). */
const BYTES_PER_CANDIDATE = 12;
const MAX_GARBAGE_BYTES = 64 * 2 ** 20;

/**
 * Bounds the memory of disposed samplers. The binding frees a sampler's candidate list, one entry for each token of the
 * vocabulary, only on garbage collection, and V8 does not see its size: 700 MB after 5,000 short requests.
 */
export class SamplerMemory {
  readonly #bytesPerSampler: number;
  readonly #collect: () => void;
  #garbageBytes = 0;

  constructor(vocabularySize: number, collect: () => void = exposeCollector()) {
    this.#bytesPerSampler = vocabularySize * BYTES_PER_CANDIDATE;
    this.#collect = collect;
  }

  /** Counts disposed samplers and the other native memory that they held, and collects beyond 64 MiB. */
  release(samplers: number, otherBytes = 0): void {
    this.#garbageBytes += samplers * this.#bytesPerSampler + otherBytes;
    if (this.#garbageBytes < MAX_GARBAGE_BYTES) return;
    this.#garbageBytes = 0;
    this.#collect();
  }
}

function exposeCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}
