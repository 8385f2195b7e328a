/** What a caller may use: reserved before the work, settled after it. */

import type { Caller } from "../accounts/caller.ts";
import type { LimitStanding } from "../faults.ts";
import type { Price } from "../usage/cost.ts";

/** The most that a request can cost. */
export interface Claim {
  caller: Caller;
  /** The catalog id asked for, an alias resolved; undefined for what needs no model. */
  model: string | undefined;
  /** The catalog's entry for it: the same, or the wildcard that covers it. */
  catalogId: string | undefined;
  /** Asked for only where there is a limit, since it reads the whole prompt. */
  most(): Most;
  operation: "chat" | "moderation" | "speech" | "transcription" | undefined;
  /** Of each model that may come to answer. */
  prices: readonly Price[];
  /** Answers asked for at once; left out: one. */
  choices?: number;
  /** Work for a request that is counted already: it takes tokens and money, and is no request of its own. */
  isWithinRequest?: boolean;
}

export interface Most {
  /** At least as many as the prompt can have. */
  promptTokens: number;
  /** Undefined when the request sets no bound. */
  completionTokens: number | undefined;
  /** Of an upload. */
  audioBytes: number;
  /** To be spoken. */
  characters: number;
}

/** What it did cost. */
export interface Used {
  promptTokens: number;
  completionTokens: number;
  /** Null: no price was known. */
  costNanoDollars: number | null;
}

export interface Reservation {
  /** Where the caller stands now, this request included. */
  standing: LimitStanding;
  /** Called exactly once, however the request ends; gives back what was not used. */
  settle(used: Used): void;
}

/** Of what has no limit. */
export const UNLIMITED: Reservation = { standing: {}, settle: () => {} };

export interface Quota {
  /** Throws a Fault when the claim does not fit. */
  reserve(claim: Claim): Reservation | Promise<Reservation>;
}
