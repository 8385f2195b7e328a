/**
 * Evaluates a request whose text must be the same with other requests beside it: one with a seed or temperature 0.
 *
 * ggml computes flash attention on a CPU in three ways that round differently (`ggml_compute_forward_flash_attn_ext_f16`
 * in ggml-cpu/ops.cpp): in tiles, where a sequence has 64 or more tokens in the evaluated batch; one token after the
 * other; and, for a token that is evaluated without any other, by splitting the keys among the threads. Only the first
 * two do not depend on the number of threads or on other sequences, so prompts of more than 64 tokens are always
 * evaluated in tiles, and no token is evaluated alone once its keys would be split.
 */

import type { LlamaContextSequence } from "node-llama-cpp";
import { MIN_REPEATABLE_TOKENS } from "./prefill-scheduler.ts";

/** Keys are split from 512 on (`use_split_kv_path`), and llama.cpp pads their number to a multiple of 256. */
const MAX_UNSPLIT_TOKENS = 256;

export interface RepeatableOptions {
  /** Whether attention rounds as described above. */
  splitsKeys: boolean;
  /** Limit of tokens in a batch. */
  batchSize: number;
  promptTokens: number;
}

export class RepeatableEvaluation {
  readonly #options: RepeatableOptions;

  constructor(options: RepeatableOptions) {
    this.#options = options;
  }

  /** Limit of the next slice of a choice's prompt. */
  maxSlice(promptLeft: number, choice: number): number {
    const { batchSize, promptTokens } = this.#options;
    const usesTiles = allowsTiles(batchSize) && promptTokens > MIN_REPEATABLE_TOKENS;
    if (!usesTiles) return Math.min(promptLeft, MIN_REPEATABLE_TOKENS - 1);
    // A choice that copies the first one's prompt evaluates only the last token. One that waited for a slot has nothing
    // to copy, and does the same.
    return choice > 0 && promptLeft > 1 ? promptLeft - 1 : promptLeft;
  }

  /** Whether the last of the next `tokens` rounds differently when llama.cpp evaluates it alone. */
  dependsOnNeighbors({ nextTokenIndex, needsCheckpoints }: LlamaContextSequence, tokens: number): boolean {
    // A padding cannot be erased from a state that cannot be truncated.
    return this.#options.splitsKeys && !needsCheckpoints && nextTokenIndex + tokens > MAX_UNSPLIT_TOKENS;
  }
}

/** Whether every slice of a long prompt can have 64 or more tokens. */
export function allowsTiles(batchSize: number): boolean {
  return batchSize >= 2 * MIN_REPEATABLE_TOKENS;
}
