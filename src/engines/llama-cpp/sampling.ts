import { randomInt } from "node:crypto";
import type { SequenceEvaluateOptions } from "node-llama-cpp";
import type { ChatRequest } from "../chat-model.ts";

/** Tokens less likely than this many others are never drawn: sorting a whole vocabulary doubles the time of a token. */
const TOP_K = 256;
/** llama.cpp takes the largest 32-bit number for "draw one". */
const SEEDS = 2 ** 32 - 1;

export function samplingOf({ temperature, topP, seed }: ChatRequest): SequenceEvaluateOptions {
  return {
    temperature,
    topP,
    topK: TOP_K,
    minP: 0,
    seed: seed === undefined ? randomInt(SEEDS) : ((seed % SEEDS) + SEEDS) % SEEDS,
    yieldEogToken: true,
    contextShift: { strategy: neverShift },
  };
}

/** The window is kept by counting; to forget the beginning instead would be a silent cut. */
function neverShift(): never {
  throw new Error("The context window is full");
}
