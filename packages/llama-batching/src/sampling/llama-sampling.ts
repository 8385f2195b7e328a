/** Sampling parameters as llama.cpp expects them, in its binding and in its server. */

import { randomInt } from "node:crypto";

/** Default limit of candidates: sorting the entire vocabulary doubles the time of a token. */
const TOP_K = 256;

/** `top_k` within the 32-bit range, beyond which it would overflow to a small number. */
export function toLlamaTopK(topK: number | undefined): number {
  return Math.min(topK ?? TOP_K, 2 ** 31 - 1);
}

/** The largest 32-bit number means a random seed in llama.cpp. */
const SEEDS = 2 ** 32 - 1;

/** A seed of up to 64 bits and either sign, reduced to llama.cpp's range; random when undefined. */
export function toLlamaSeed(seed: number | undefined, choice = 0): number {
  return seed === undefined ? randomInt(SEEDS) : (((seed + choice) % SEEDS) + SEEDS) % SEEDS;
}
