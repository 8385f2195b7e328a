/** What a caller may use: reserved before the work, settled after it. */

import type { Caller } from "../accounts/caller.ts";

/** The most that a request can cost. */
export interface Claim {
  caller: Caller;
  model: string;
}

/** What it did cost. */
export interface Used {
  promptTokens: number;
  completionTokens: number;
}

export interface Reservation {
  /** Called exactly once, however the request ends; gives back what was not used. */
  settle(used: Used): void;
}

export interface Quota {
  /** Throws a Fault when the claim does not fit. */
  reserve(claim: Claim): Promise<Reservation>;
}

/** For an installation without limits. */
export const unlimited: Quota = {
  reserve: async () => ({ settle: () => {} }),
};
