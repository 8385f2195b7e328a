/** How long a model's answers are, learned from those before, for requests that set no bound themselves. */

import { LRUCache } from "lru-cache";
import type { Claim } from "./quota.ts";

type Asked = Pick<Claim, "model" | "choices">;

const MAX_MODELS = 10_000;
const FIRST_ESTIMATE = 512;
/** By which the longest answer is forgotten with each shorter one. */
const FORGETTING = 0.02;

export class CompletionEstimates {
  readonly #tokens = new LRUCache<string, number>({ max: MAX_MODELS });

  /** Near the longest answer of late, for each that is asked for; 0 without a model. */
  estimate({ model, choices = 1 }: Asked): number {
    return model === undefined ? 0 : Math.ceil(choices * (this.#tokens.get(model) ?? FIRST_ESTIMATE));
  }

  /** `completionTokens` are of all answers that were asked for together. */
  learn({ model, choices = 1 }: Asked, completionTokens: number): void {
    if (model === undefined || completionTokens === 0) return;
    const each = completionTokens / choices;
    const before = this.#tokens.get(model) ?? each;
    this.#tokens.set(model, Math.max(each, before + (each - before) * FORGETTING));
  }
}
