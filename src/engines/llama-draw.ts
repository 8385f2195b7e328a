/** How llama.cpp is told to draw, by its binding and by its server alike. */

import { randomInt } from "node:crypto";

/** Tokens less likely than this many others are never drawn: sorting a whole vocabulary doubles the time of a token. */
const TOP_K = 256;

/** A caller's `top_k`, as the 32-bit number that llama.cpp reads it into: more would come out as few. */
export function toLlamaTopK(topK: number | undefined): number {
  return Math.min(topK ?? TOP_K, 2 ** 31 - 1);
}

/** llama.cpp takes the largest 32-bit number for "draw one". */
const SEEDS = 2 ** 32 - 1;

/** A caller's seed, of up to 64 bits and either sign, as llama.cpp takes it; one at random when there is none. */
export function toLlamaSeed(seed: number | undefined, choice = 0): number {
  return seed === undefined ? randomInt(SEEDS) : (((seed + choice) % SEEDS) + SEEDS) % SEEDS;
}
