/** Estimates the completion tokens of requests without `max_tokens`, from earlier answers. */

import type { Caller } from "../../contracts/caller.ts";
import type { QuotaClaim } from "../../inference/quota.ts";
import { growingCache } from "../../kernel/growing-cache.ts";

type EstimatedClaim = Pick<QuotaClaim, "caller" | "model" | "choices">;

const MAX_ENTRIES = 10_000;
const FIRST_ESTIMATE = 512;
/** Weight by which each shorter answer lowers the estimate. */
const DECAY = 0.02;

export class CompletionEstimates {
  /** By project and model: the answers of one tenant must not raise what another one has to reserve. */
  readonly #tokens = growingCache<number>(MAX_ENTRIES);

  /** Close to the longest recent answer, times `choices`; 0 without a model. */
  estimate({ caller, model, choices = 1 }: EstimatedClaim): number {
    return model === undefined ? 0 : Math.ceil(choices * (this.#tokens.get(keyOf(caller, model)) ?? FIRST_ESTIMATE));
  }

  /** `completionTokens` of all choices together. */
  learn({ caller, model, choices = 1 }: EstimatedClaim, completionTokens: number): void {
    if (model === undefined || completionTokens === 0) return;
    const each = completionTokens / choices;
    const key = keyOf(caller, model);
    const before = this.#tokens.get(key) ?? each;
    this.#tokens.set(key, Math.max(each, before + (each - before) * DECAY));
  }
}

function keyOf({ organizationId, projectId }: Caller, model: string): string {
  return `${projectId ?? organizationId} ${model}`;
}
