/** How long a model's answers are, learned from those before, for requests that set no bound themselves. */

import { LRUCache } from "lru-cache";

const MAX_MODELS = 10_000;
const FIRST_ESTIMATE = 512;
/** By which the longest answer is forgotten with each shorter one. */
const FORGETTING = 0.02;

export class CompletionEstimates {
  readonly #tokens = new LRUCache<string, number>({ max: MAX_MODELS });

  /** Near the longest answer of late; 0 without a model. */
  estimate(model: string | undefined): number {
    return model === undefined ? 0 : Math.ceil(this.#tokens.get(model) ?? FIRST_ESTIMATE);
  }

  learn(model: string | undefined, completionTokens: number): void {
    if (model === undefined || completionTokens === 0) return;
    const before = this.#tokens.get(model) ?? completionTokens;
    this.#tokens.set(model, Math.max(completionTokens, before + (completionTokens - before) * FORGETTING));
  }
}
