/** Estimates the completion tokens of requests without `max_tokens`, from earlier answers. */

import { LRUCache } from "lru-cache";
import type { Claim } from "./quota.ts";

type Asked = Pick<Claim, "model" | "choices">;

const MAX_MODELS = 10_000;
const FIRST_ESTIMATE = 512;
/** Weight by which each shorter answer lowers the estimate. */
const DECAY = 0.02;

export class CompletionEstimates {
  readonly #tokens = new LRUCache<string, number>({ max: MAX_MODELS });

  /** Close to the longest recent answer, times `choices`; 0 without a model. */
  estimate({ model, choices = 1 }: Asked): number {
    return model === undefined ? 0 : Math.ceil(choices * (this.#tokens.get(model) ?? FIRST_ESTIMATE));
  }

  /** `completionTokens` of all choices together. */
  learn({ model, choices = 1 }: Asked, completionTokens: number): void {
    if (model === undefined || completionTokens === 0) return;
    const each = completionTokens / choices;
    const before = this.#tokens.get(model) ?? each;
    this.#tokens.set(model, Math.max(each, before + (each - before) * DECAY));
  }
}
