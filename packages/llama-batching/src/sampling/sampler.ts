/** One sampler of node-llama-cpp, with its options. */

import type { Token } from "node-llama-cpp";
import type { NativeSampler } from "../evaluation/native-bindings.ts";
import type { GrammarState } from "./grammar-state.ts";

/** Options of one sampler. Applied in order: biases, penalties, top-k, top-p, min-p, temperature. */
export interface SamplerOptions {
  /** 0 is greedy and ignores top-k, top-p, min-p and seed. */
  temperature: number;
  /** 0: the entire vocabulary. */
  topK: number;
  topP: number;
  minP: number;
  seed: number;
  tokenBiasKeys?: Uint32Array;
  tokenBiasValues?: Float32Array;
  repeatPenalty?: number;
  repeatPenaltyFrequencyPenalty?: number;
  repeatPenaltyPresencePenalty?: number;
  /** Number of most recent tokens that count. */
  repeatPenaltyMaxTokens?: number;
  /** Tokens sampled so far; the sampler adds its own. */
  repeatPenaltyTokens?: Uint32Array;
}

export class Sampler {
  readonly native: NativeSampler;
  readonly #config: SamplerOptions;

  constructor(native: NativeSampler, config: SamplerOptions, bannedAtFirst: readonly Token[]) {
    this.native = native;
    this.#config = config;
    native.applyConfig(bannedAtFirst.length === 0 ? config : withBan(config, bannedAtFirst));
  }

  /** Allows the tokens that were banned at first. `sampled` is what this sampler returned so far. */
  liftBan(sampled: readonly Token[]): void {
    this.native.applyConfig(this.#configAfter(sampled));
  }

  /** Constrains the following tokens to the grammar. `sampled` is what this sampler returned so far. */
  constrain(grammar: GrammarState, sampled: readonly Token[]): void {
    this.native.applyConfig({ ...this.#configAfter(sampled), grammarEvaluationState: grammar.native });
  }

  #configAfter(sampled: readonly Token[]): SamplerOptions {
    const { repeatPenaltyTokens } = this.#config;
    return repeatPenaltyTokens === undefined
      ? this.#config
      : { ...this.#config, repeatPenaltyTokens: Uint32Array.from(sampled) };
  }

  dispose(): void {
    this.native.dispose();
  }
}

function withBan(config: SamplerOptions, banned: readonly Token[]): SamplerOptions {
  const { tokenBiasKeys = [], tokenBiasValues = [] } = config;
  return {
    ...config,
    tokenBiasKeys: Uint32Array.from([...tokenBiasKeys, ...banned]),
    tokenBiasValues: Float32Array.from([...tokenBiasValues, ...banned.map(() => Number.NEGATIVE_INFINITY)]),
  };
}
